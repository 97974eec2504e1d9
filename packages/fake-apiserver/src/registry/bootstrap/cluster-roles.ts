// The roles and bindings a cluster is born with, as far as people and clients use them.
// Upstream: kubernetes@v1.30.3:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go
// Differs: roles of the cluster's own components are left out; admin, edit and view carry the rules of the roles they aggregate,
// as no controller adds them later.
import type { Draft } from '../draft.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const READ_WRITE = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const GROUP = 'rbac.authorization.k8s.io';
const AGGREGATE = `${GROUP}/aggregate-to-`;

const rule = (verbs: readonly string[], group: string, resources: string): Draft => ({
  apiGroups: [group],
  resources: resources.split(' ').sort(),
  verbs,
});

const paths = (...nonResourceURLs: string[]): Draft => ({
  nonResourceURLs: [...nonResourceURLs].sort(),
  verbs: ['get'],
});

const HEALTH = ['/healthz', '/livez', '/readyz'];

const TO_ADMIN: readonly Draft[] = [
  rule(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
  rule(READ_WRITE, GROUP, 'roles rolebindings'),
];

const APPS_WRITE =
  'statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback replicasets replicasets/scale';
const EXTENSIONS_WRITE =
  'daemonsets deployments deployments/scale deployments/rollback ingresses replicasets replicasets/scale replicationcontrollers/scale networkpolicies';

const TO_EDIT: readonly Draft[] = [
  rule(READ, '', 'pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy'),
  rule(['impersonate'], '', 'serviceaccounts'),
  rule(WRITE, '', 'pods pods/attach pods/proxy pods/exec pods/portforward'),
  rule(['create'], '', 'pods/eviction'),
  rule(
    WRITE,
    '',
    'replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy persistentvolumeclaims configmaps secrets events',
  ),
  rule(['create'], '', 'serviceaccounts/token'),
  rule(WRITE, 'apps', APPS_WRITE),
  rule(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
  rule(WRITE, 'batch', 'jobs cronjobs'),
  rule(WRITE, 'extensions', EXTENSIONS_WRITE),
  rule(WRITE, 'policy', 'poddisruptionbudgets'),
  rule(WRITE, 'networking.k8s.io', 'networkpolicies ingresses'),
  rule(READ_WRITE, 'coordination.k8s.io', 'leases'),
];

const TO_VIEW: readonly Draft[] = [
  rule(
    READ,
    '',
    'pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints persistentvolumeclaims persistentvolumeclaims/status configmaps',
  ),
  rule(
    READ,
    '',
    'limitranges resourcequotas bindings events pods/status resourcequotas/status namespaces/status replicationcontrollers/status pods/log',
  ),
  rule(READ, '', 'namespaces'),
  rule(READ, 'discovery.k8s.io', 'endpointslices'),
  rule(
    READ,
    'apps',
    'controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale',
  ),
  rule(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  rule(READ, 'batch', 'jobs cronjobs cronjobs/status jobs/status'),
  rule(
    READ,
    'extensions',
    'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status replicasets replicasets/scale replicasets/status replicationcontrollers/scale networkpolicies',
  ),
  rule(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  rule(READ, 'networking.k8s.io', 'networkpolicies ingresses ingresses/status'),
];

interface RoleSpec {
  readonly rules: readonly Draft[];
  /** The role it is part of. */
  readonly partOf?: string;
  readonly aggregates?: string;
}

const ROLES: Readonly<Record<string, RoleSpec>> = {
  'cluster-admin': {
    rules: [rule(['*'], '*', '*'), { nonResourceURLs: ['*'], verbs: ['*'] }],
  },
  'system:discovery': {
    rules: [paths(...HEALTH, '/version', '/version/', '/openapi', '/openapi/*', '/api', '/api/*', '/apis', '/apis/*')],
  },
  'system:monitoring': {
    rules: [paths('/metrics', '/metrics/slis', ...HEALTH, ...HEALTH.map((path) => `${path}/*`))],
  },
  'system:basic-user': {
    rules: [
      rule(['create'], 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      rule(['create'], 'authentication.k8s.io', 'selfsubjectreviews'),
    ],
  },
  'system:public-info-viewer': { rules: [paths(...HEALTH, '/version', '/version/')] },
  'system:auth-delegator': {
    rules: [
      rule(['create'], 'authentication.k8s.io', 'tokenreviews'),
      rule(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
    ],
  },
  'system:aggregate-to-admin': { rules: TO_ADMIN, partOf: 'admin' },
  'system:aggregate-to-edit': { rules: TO_EDIT, partOf: 'edit' },
  'system:aggregate-to-view': { rules: TO_VIEW, partOf: 'view' },
  admin: { rules: [...TO_ADMIN, ...TO_EDIT, ...TO_VIEW], aggregates: 'admin' },
  edit: { rules: [...TO_EDIT, ...TO_VIEW], partOf: 'admin', aggregates: 'edit' },
  view: { rules: TO_VIEW, partOf: 'edit', aggregates: 'view' },
};

const BINDINGS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:monitoring': ['system:monitoring'],
  'system:discovery': ['system:authenticated'],
  'system:basic-user': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
};

const meta = (name: string, labels: Readonly<Record<string, string>> = {}): Draft => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

export function bootstrapClusterRoles(): readonly Draft[] {
  return Object.entries(ROLES).map(([name, { rules, partOf, aggregates }]) => ({
    metadata: meta(name, partOf === undefined ? {} : { [`${AGGREGATE}${partOf}`]: 'true' }),
    ...(aggregates === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${AGGREGATE}${aggregates}`]: 'true' } }] } }),
    rules,
  }));
}

export function bootstrapClusterRoleBindings(): readonly Draft[] {
  return Object.entries(BINDINGS).map(([name, groups]) => ({
    metadata: meta(name),
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ apiGroup: GROUP, kind: 'Group', name: group })),
  }));
}
