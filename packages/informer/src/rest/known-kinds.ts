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

const LISTED =
  'ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod ' +
  'PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount APIGroup';
const OTHERS =
  'APIResourceList APIVersions Binding CreateOptions DeleteOptions GetOptions List ListOptions NodeProxyOptions ' +
  'PatchOptions PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions PodStatusResult ' +
  'RangeAllocation SerializedReference ServiceProxyOptions UpdateOptions WatchEvent';
const CORE_KINDS: ReadonlySet<string> = new Set([
  ...LISTED.split(' ').flatMap((kind) => [kind, `${kind}List`]),
  ...OTHERS.split(' '),
]);

/** Kinds of the core group exactly, those of other groups by their group and version; Status belongs to all of them. */
export function isKnownKind(apiVersion: string, kind: string): boolean {
  if (kind === 'Status') return apiVersion.split('/').length <= 2;
  return apiVersion === 'v1' ? CORE_KINDS.has(kind) : GROUP_VERSIONS.has(apiVersion);
}
