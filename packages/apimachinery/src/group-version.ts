// Names of API groups, versions, kinds and resources.
// Upstream: apimachinery@v0.30.3:pkg/runtime/schema/group_version.go

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}
export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/**
 * Splits an `apiVersion`: `v1` is the core group with an empty name, `apps/v1` is group `apps`.
 * More than one slash gives undefined.
 *
 * Upstream: apimachinery@v0.30.3:pkg/runtime/schema/group_version.go#ParseGroupVersion
 */
export function parseGroupVersion(apiVersion: string): GroupVersion | undefined {
  if (apiVersion === '' || apiVersion === '/') return { group: '', version: '' };
  const parts = apiVersion.split('/');
  if (parts.length === 1) return { group: '', version: parts[0]! };
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! };
  return undefined;
}

/** `{group: 'apps', version: 'v1'}` gives `apps/v1`; the core group gives the version alone. */
export function formatGroupVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `deployments.apps`; a resource of the core group gives its name alone. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}
