// What a list asks for: resource version and limit, by what was seen before. Pure.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#relistResourceVersion, list
import type { ReflectorState } from './reflector-input.ts';
import type { ReflectorPolicy } from './reflector-policy.ts';

type Seen = Pick<
  ReflectorState,
  'lastSyncResourceVersion' | 'isLastSyncResourceVersionUnavailable' | 'paginatedResult'
>;

/** Version of a LIST; empty asks for the most recent state. */
export function listVersion(seen: Seen, { relistFrom }: ReflectorPolicy): string {
  if (seen.isLastSyncResourceVersionUnavailable || relistFrom === 'most-recent') return '';
  if (seen.lastSyncResourceVersion === '' || relistFrom === 'any') return '0';
  return seen.lastSyncResourceVersion;
}

/** Version of a streaming list. The first one is consistent, which the watch cache can give; the later ones are relists like others. */
export function watchListVersion(seen: Seen, { relistFrom }: ReflectorPolicy): string {
  if (seen.isLastSyncResourceVersionUnavailable || relistFrom === 'most-recent') return '';
  return relistFrom === 'any' && seen.lastSyncResourceVersion !== '' ? '0' : seen.lastSyncResourceVersion;
}

/** With a version named the watch cache answers and ignores a limit; without one a limit spares etcd. 0 means none. */
export function listLimit(seen: Seen, policy: ReflectorPolicy, resourceVersion: string): number {
  if (policy.pageSize !== 0) return policy.pageSize;
  if (seen.paginatedResult) return policy.defaultPageSize;
  if (resourceVersion !== '' && resourceVersion !== '0') return 0;
  return policy.defaultPageSize;
}
