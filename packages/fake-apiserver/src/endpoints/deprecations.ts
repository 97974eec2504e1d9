// API versions that are on their way out, and what is said to those who still use them.
// Upstream: apiserver@v0.30.3:pkg/endpoints/deprecation/deprecation.go#WarningMessage
import { formatGroupVersion } from '@kube-rx/apimachinery';
import type { ResourceInfo } from '../registry/rest.ts';

interface Deprecation {
  readonly since: string;
  readonly removed: string;
  readonly replacement: string;
}

const DEPRECATED: ReadonlyMap<string, Deprecation> = new Map([
  [
    'flowcontrol.apiserver.k8s.io/v1beta3',
    { since: 'v1.29', removed: 'v1.32', replacement: 'flowcontrol.apiserver.k8s.io/v1' },
  ],
]);

/** The warning of every answer about a resource of such a version. */
export function deprecationWarning(info: ResourceInfo): string | undefined {
  const { group, version, kind, custom } = info;
  const name = formatGroupVersion({ group, version });
  const found = custom ? undefined : DEPRECATED.get(name);
  if (found === undefined) return undefined;
  const { since, removed, replacement } = found;
  return `${name} ${kind} is deprecated in ${since}+, unavailable in ${removed}+; use ${replacement} ${kind}`;
}
