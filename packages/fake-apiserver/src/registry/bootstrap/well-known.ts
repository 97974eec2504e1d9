// The objects every cluster has before anyone writes to it.
// Upstream: kubernetes@v1.30.3:pkg/controlplane/controller/{systemnamespaces,kubernetesservice}, pkg/registry/{rbac,scheduling}/rest
import { isAlreadyExists } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { isKeyNotFound } from '../../storage/errors.ts';
import type { Draft } from '../draft.ts';
import type { RequestContext } from '../rest.ts';
import type { Store } from '../store.ts';
import { bootstrapClusterRoleBindings, bootstrapClusterRoles } from './cluster-roles.ts';

export interface WellKnownObjects {
  /** `GROUP/VERSION/RESOURCE` */
  readonly path: string;
  readonly namespace: string;
  readonly objects: readonly Draft[];
}

const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];

const PRIORITY_CLASSES: readonly Draft[] = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

const kubernetesService = (clusterIP: string): Draft => ({
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP,
    ipFamilyPolicy: 'SingleStack',
    sessionAffinity: 'None',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
  },
});

/** In the order in which they must be made. `serviceIp` is the address of the service `kubernetes`. */
export function wellKnownObjects(serviceIp: string): readonly WellKnownObjects[] {
  return [
    { path: '/v1/namespaces', namespace: '', objects: NAMESPACES.map((name) => ({ metadata: { name } })) },
    { path: '/v1/services', namespace: 'default', objects: [kubernetesService(serviceIp)] },
    { path: 'scheduling.k8s.io/v1/priorityclasses', namespace: '', objects: PRIORITY_CLASSES },
    { path: 'rbac.authorization.k8s.io/v1/clusterroles', namespace: '', objects: bootstrapClusterRoles() },
    {
      path: 'rbac.authorization.k8s.io/v1/clusterrolebindings',
      namespace: '',
      objects: bootstrapClusterRoleBindings(),
    },
  ];
}

/** Makes what is missing; what is there stays as it is. `own` notes the server as the owner of what it makes. */
export async function makeWellKnownObjects(
  stores: (path: string) => Store,
  ctx: RequestContext,
  serviceIp: string,
  own: (store: Store, object: ApiObject) => ApiObject = (_store, object) => object,
): Promise<void> {
  for (const { path, namespace, objects } of wellKnownObjects(serviceIp)) {
    const store = stores(path);
    for (const object of objects) {
      // Looked up first: to create what is there can fail for another reason, a service address that is taken, say.
      if (await isStored(store, namespace, (object['metadata'] as { readonly name: string }).name)) continue;
      try {
        const whole = own(store, store.applyDefaults(object as unknown as ApiObject));
        await store.create(ctx, whole, { namespace, dryRun: false });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
  }
}

async function isStored(store: Store, namespace: string, name: string): Promise<boolean> {
  try {
    await store.core.storage.get(store.keyOf(namespace, name));
    return true;
  } catch (error) {
    if (isKeyNotFound(error)) return false;
    throw error;
  }
}
