// Does the cache hold what the server had at the same version? For tests, and for those who want to be sure.
// Upstream: client-go@v0.30.3:tools/cache/reflector_data_consistency_detector.go
// Differs: reports instead of a panic, and can be asked at any time.
import type { Clock, KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import { isExpiredOrGone, resourceVersionOf, sleep } from '@kube-rx/apimachinery';
import { ReflectorError, WaitError } from '../errors.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { listPages } from '../rest/pager.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { ReadonlyStore } from '../store/store.ts';
import type { Fault } from './informer-status.ts';

// As upstream.
const RETRY_MS = 1_000;

/** One object on which cache and server differ; a version that is absent means that the side has no such object. */
export interface Inconsistency {
  readonly key: string;
  readonly cached?: string | undefined;
  readonly server?: string | undefined;
}

export interface AuditSource<T extends KubernetesObject> {
  readonly store: ReadonlyStore<T, string>;
  readonly lastSyncResourceVersion: string;
  readonly hasSynced: boolean;
}

/**
 * Lists exactly the version that the cache has reached and compares. Empty when both agree. Rejects when the informer has not synced,
 * and with the StatusError of a version that the server no longer has (410): ask again then.
 */
export async function auditCache<T extends KubernetesObject>(
  source: AuditSource<T>,
  listerWatcher: ListerWatcher<T>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Inconsistency[]> {
  if (!source.hasSynced) throw new WaitError('NOT_SYNCED', 'a cache that has not synced cannot be compared');
  // Both in one turn: the version is that of the snapshot.
  const version = source.lastSyncResourceVersion;
  const cached = versionsOf(source.store.list());
  return compare(cached, listerWatcher, version, options.signal ?? new AbortController().signal);
}

export interface VerifyContext<T extends KubernetesObject> {
  readonly name: string;
  readonly listerWatcher: ListerWatcher<T>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Compares a streamed list with an exact LIST of its version, tried until it can be read, and reports what differs. Says nothing when the
 * server no longer has that version, or after an abort.
 */
export function verifyStreamedList<T extends KubernetesObject>(
  items: readonly T[],
  version: string,
  context: VerifyContext<T>,
  report: (fault: Fault) => void,
): void {
  const streamed = versionsOf(items);
  const { name, listerWatcher, clock, signal } = context;
  const attempt = async (): Promise<void> => {
    try {
      const found = await compare(streamed, listerWatcher, version, signal);
      if (found.length === 0 || signal.aborted) return;
      const keys = found.slice(0, 5).map(({ key, cached, server }) => `${key} is ${cached} and not ${server}`);
      const error = new ReflectorError('INCONSISTENT', name, `${found.length} objects differ: ${keys.join(', ')}`);
      report({ kind: 'inconsistent', verb: 'watch-list', at: clock.now(), resourceVersion: version, error });
    } catch (error) {
      if (isExpiredOrGone(error)) return;
      await sleep(clock, RETRY_MS, { signal, unref: true });
      await attempt();
    }
  };
  // What is left to reject is the abort.
  attempt().catch(() => {});
}

async function compare<T extends KubernetesObject>(
  cached: ReadonlyMap<string, string>,
  listerWatcher: ListerWatcher<T>,
  version: string,
  signal: AbortSignal,
): Promise<Inconsistency[]> {
  const exact: ListOptions = { resourceVersion: version, resourceVersionMatch: 'Exact' };
  const list = await listPages(
    (page, each) => listerWatcher.list(page, each),
    exact,
    { signal },
    {
      fullListIfExpired: false,
    },
  );
  const server = versionsOf(list.items);
  const found: Inconsistency[] = [];
  for (const [key, each] of cached) {
    if (server.get(key) !== each) found.push({ key, cached: each, server: server.get(key) });
  }
  for (const [key, each] of server) if (!cached.has(key)) found.push({ key, server: each });
  return found;
}

function versionsOf(objects: readonly KubernetesObject[]): Map<string, string> {
  return new Map(objects.map((object) => [metaNamespaceKeyFunc(object), resourceVersionOf(object)]));
}
