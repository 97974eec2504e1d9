// Where resources lie in storage, for those whose path is not simply their name.
// Upstream: kubernetes@v1.30.3:pkg/kubeapiserver/default_storage_factory_builder.go#SpecialDefaultResourcePrefixes

const ROOT = '/registry';

const SPECIAL: Readonly<Record<string, string>> = {
  '/nodes': 'minions',
  '/services': 'services/specs',
  '/endpoints': 'services/endpoints',
  '/replicationcontrollers': 'controllers',
  'networking.k8s.io/ingresses': 'ingress',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
};

/** Storage path of a built-in resource, without a trailing slash. */
export function storagePrefix(group: string, resource: string): string {
  return `${ROOT}/${SPECIAL[`${group}/${resource}`] ?? resource}`;
}

/** Storage path of a resource defined by a CRD. */
export function customStoragePrefix(group: string, resource: string): string {
  return `${ROOT}/${group}/${resource}`;
}
