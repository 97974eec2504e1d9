// Objects the fuzz starts from: rich enough that a random change of one of their values hits most decoders and validators.

export interface Seed {
  /** Path of the collection. */
  readonly collection: string;
  readonly object: { readonly apiVersion: string; readonly kind: string; readonly metadata: { readonly name: string } };
}

const NAMESPACE = 'fuzz';
const podSpec = {
  restartPolicy: 'Always',
  containers: [
    {
      name: 'c',
      image: 'i:1',
      args: ['a', 'b'],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }],
      resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } },
      livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 3 },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
    },
  ],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
      },
    },
  },
};
const selector = { matchLabels: { app: 'a' } };
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec };
const jobTemplate = { metadata: { labels: { app: 'a' } }, spec: { ...podSpec, restartPolicy: 'Never' } };
const meta = { labels: { app: 'a' }, annotations: { note: 'n' }, finalizers: ['example.com/f'] };

function at(prefix: string, resource: string, kind: string, rest: object, namespaced = true): Seed {
  const apiVersion = prefix.replace(/^\/apis?\//, '');
  const name = `${kind.toLowerCase()}-a`;
  return {
    collection: `${prefix}${namespaced ? `/namespaces/${NAMESPACE}` : ''}/${resource}`,
    object: { apiVersion, kind, metadata: { ...meta, name }, ...rest },
  };
}

export const CRD: Seed = {
  collection: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  object: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.fuzz.example' },
    ...{
      spec: {
        group: 'fuzz.example',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
            additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    'x-kubernetes-validations': [{ rule: '!has(self.n) || self.n < 100', message: 'too many' }],
                    properties: {
                      n: { type: 'integer', minimum: 0, default: 1 },
                      text: { type: 'string', maxLength: 20, pattern: '^[a-z]*$' },
                      list: {
                        type: 'array',
                        'x-kubernetes-list-type': 'map',
                        'x-kubernetes-list-map-keys': ['k'],
                        items: {
                          type: 'object',
                          required: ['k'],
                          properties: { k: { type: 'string' }, v: { 'x-kubernetes-int-or-string': true } },
                        },
                      },
                      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                      map: { type: 'object', additionalProperties: { type: 'string' } },
                      object: {
                        type: 'object',
                        'x-kubernetes-embedded-resource': true,
                        'x-kubernetes-preserve-unknown-fields': true,
                      },
                    },
                  },
                  status: { type: 'object', properties: { n: { type: 'integer' } } },
                },
              },
            },
          },
        ],
      },
    },
  },
};

export const SEEDS: readonly Seed[] = [
  at('/api/v1', 'configmaps', 'ConfigMap', { data: { a: '1', b: '2' }, binaryData: { c: 'AAAA' } }),
  at('/api/v1', 'secrets', 'Secret', { type: 'Opaque', data: { a: 'AAAA' } }),
  at('/api/v1', 'pods', 'Pod', { spec: podSpec }),
  at('/api/v1', 'services', 'Service', {
    spec: { selector: { a: 'b' }, ports: [{ name: 'p', port: 80, targetPort: 'http', protocol: 'TCP' }] },
  }),
  at('/api/v1', 'events', 'Event', {
    involvedObject: { kind: 'Pod', namespace: NAMESPACE, name: 'pod-a' },
    reason: 'R',
    type: 'Normal',
    firstTimestamp: '2024-01-01T00:00:00Z',
  }),
  at('/api/v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  at('/api/v1', 'resourcequotas', 'ResourceQuota', { spec: { hard: { pods: '10' } } }),
  at('/api/v1', 'limitranges', 'LimitRange', { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } }),
  at('/api/v1', 'nodes', 'Node', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }, false),
  at('/apis/apps/v1', 'deployments', 'Deployment', { spec: { replicas: 2, selector, template } }),
  at('/apis/apps/v1', 'statefulsets', 'StatefulSet', {
    spec: {
      replicas: 2,
      serviceName: 's',
      selector,
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  }),
  at('/apis/apps/v1', 'daemonsets', 'DaemonSet', { spec: { selector, template } }),
  at('/apis/batch/v1', 'cronjobs', 'CronJob', {
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  }),
  at('/apis/batch/v1', 'jobs', 'Job', { spec: { completions: 2, parallelism: 1, template: jobTemplate } }),
  at('/apis/networking.k8s.io/v1', 'ingresses', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.example',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
      tls: [{ hosts: ['a.example'], secretName: 's' }],
    },
  }),
  at('/apis/networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', {
    spec: {
      podSelector: {},
      ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80 }] }],
    },
  }),
  at('/apis/autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'deployment-a' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  }),
  at('/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', { spec: { minAvailable: '50%', selector } }),
  at('/apis/coordination.k8s.io/v1', 'leases', 'Lease', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 10, renewTime: '2024-01-01T00:00:00.000000Z' },
  }),
  at('/apis/discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.9'], conditions: { ready: true } }],
    ports: [{ name: 'p', port: 80, protocol: 'TCP' }],
  }),
  at('/apis/rbac.authorization.k8s.io/v1', 'roles', 'Role', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  at(
    '/apis/rbac.authorization.k8s.io/v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
    },
    false,
  ),
  at(
    '/apis/admissionregistration.k8s.io/v1',
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ['x'], apiVersions: ['*'], operations: ['CREATE'], resources: ['y'] }],
        },
        validations: [{ expression: 'object.metadata.name != "x"' }],
      },
    },
    false,
  ),
  at('/apis/storage.k8s.io/v1', 'storageclasses', 'StorageClass', { provisioner: 'example.com/p' }, false),
  at('/apis/fuzz.example/v1', 'things', 'Thing', {
    spec: {
      n: 2,
      text: 'abc',
      list: [{ k: 'a', v: 1 }],
      set: ['a', 'b'],
      free: { x: [1, { y: null }] },
      map: { a: 'b' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
    },
  }),
];

export const NAMESPACE_PATH: string = `/api/v1/namespaces/${NAMESPACE}`;
