// Which kinds a generated client could know.
// Upstream: client-go@v0.30.3:kubernetes/scheme/register.go

const GROUP_VERSIONS: ReadonlySet<string> = new Set(
  (
    'admissionregistration.k8s.io/v1,v1alpha1,v1beta1 apps/v1,v1beta1,v1beta2 authentication.k8s.io/v1,v1alpha1,v1beta1 ' +
    'authorization.k8s.io/v1,v1beta1 autoscaling/v1,v2,v2beta1,v2beta2 batch/v1,v1beta1 ' +
    'certificates.k8s.io/v1,v1alpha1,v1beta1 coordination.k8s.io/v1,v1beta1 discovery.k8s.io/v1,v1beta1 ' +
    'events.k8s.io/v1,v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1,v1beta1,v1beta2,v1beta3 ' +
    'internal.apiserver.k8s.io/v1alpha1 networking.k8s.io/v1,v1alpha1,v1beta1 node.k8s.io/v1,v1alpha1,v1beta1 ' +
    'policy/v1,v1beta1 rbac.authorization.k8s.io/v1,v1alpha1,v1beta1 resource.k8s.io/v1alpha2 ' +
    'scheduling.k8s.io/v1,v1alpha1,v1beta1 storage.k8s.io/v1,v1alpha1,v1beta1 storagemigration.k8s.io/v1alpha1'
  )
    .split(' ')
    .flatMap((entry) => {
      const [group = '', versions = ''] = entry.split('/');
      return versions.split(',').map((version) => `${group}/${version}`);
    }),
);

const withLists = (kinds: string): readonly string[] => kinds.split(' ').flatMap((kind) => [kind, `${kind}List`]);
const CORE_ONLY: ReadonlySet<string> = new Set([
  ...withLists(
    'ComponentStatus ConfigMap Endpoints LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ' +
      'ReplicationController ResourceQuota Secret Service ServiceAccount',
  ),
  ...(
    'Binding List NodeProxyOptions PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions ' +
    'PodStatusResult RangeAllocation SerializedReference ServiceProxyOptions'
  ).split(' '),
]);
const CORE: ReadonlySet<string> = new Set([
  ...CORE_ONLY,
  ...'Event EventList CreateOptions DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions WatchEvent'.split(
    ' ',
  ),
]);
/** Kinds that belong to every version. */
const UNVERSIONED: ReadonlySet<string> = new Set([
  'Status',
  'APIVersions',
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
]);

/** The parts of an apiVersion; undefined when it has too many. No version means that the object has no type. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } | undefined {
  const [first = '', second, ...more] = apiVersion.split('/');
  if (more.length > 0) return undefined;
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}

/** Kinds of the core group exactly, those of other groups nearly so. */
export function isKnownKind(apiVersion: string, kind: string): boolean {
  const parts = parseApiVersion(apiVersion);
  if (parts === undefined) return false;
  if (UNVERSIONED.has(kind)) return true;
  if (parts.group === '') return parts.version === 'v1' && CORE.has(kind);
  return GROUP_VERSIONS.has(apiVersion) && !CORE_ONLY.has(kind);
}
