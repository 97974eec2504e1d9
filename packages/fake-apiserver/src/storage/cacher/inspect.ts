// The state of a cache as plain data, for people and tests that want to know why a watch was refused or cut off.
// Differs: a real server shows none of this.
import { formatResourceVersion } from '../api-object-versioner.ts';
import type { CacherCore } from './cacher-core.ts';

export interface WatcherInspection {
  /** '' for all. */
  readonly namespace: string;
  readonly name: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Events that wait for the reader, and how many may. */
  readonly queued: number;
  readonly capacity: number;
  /** The dispatcher is waiting for it. */
  readonly blocked: boolean;
  readonly allowWatchBookmarks: boolean;
  /** '' before the first. */
  readonly lastBookmark: string;
  readonly deadlineMs: number | undefined;
}

export interface CacherInspection {
  readonly resource: string;
  readonly state: 'pending' | 'ready' | 'stopped';
  readonly objects: number;
  readonly ring: {
    readonly start: number;
    readonly end: number;
    readonly size: number;
    readonly capacity: number;
  };
  /** A watch from an older version than this gets 410; it is the number in brackets of that answer. '' before the first list. */
  readonly oldestResourceVersion: string;
  readonly listResourceVersion: string;
  readonly resourceVersion: string;
  /** Up to where the dispatcher has come. */
  readonly dispatchedResourceVersion: string;
  /** Changes that wait for the dispatcher. */
  readonly incoming: number;
  /** What the dispatcher may wait for slow watchers at present. */
  readonly budgetMs: number;
  readonly lastBookmark: { readonly resourceVersion: string; readonly atMs: number } | undefined;
  readonly watchers: readonly WatcherInspection[];
}

export function inspectCacher(core: CacherCore, resource: string): CacherInspection {
  const { cache, dispatcher, ready, watchers } = core;
  const { history, oldestServed } = cache;
  const round = dispatcher.lastRound;
  return {
    resource,
    state: ready.state,
    objects: cache.size,
    ring: { start: history.start, end: history.end, size: history.size, capacity: history.capacity },
    oldestResourceVersion: oldestServed === undefined ? '' : formatResourceVersion(oldestServed),
    listResourceVersion: formatResourceVersion(cache.listRevision),
    resourceVersion: formatResourceVersion(cache.revision),
    dispatchedResourceVersion: formatResourceVersion(dispatcher.lastProcessed),
    incoming: dispatcher.incoming,
    budgetMs: dispatcher.budgetMs,
    lastBookmark:
      round === undefined ? undefined : { resourceVersion: formatResourceVersion(round.revision), atMs: round.atMs },
    watchers: [...watchers].map((watcher) => ({
      namespace: watcher.scope.namespace,
      name: watcher.scope.name,
      labelSelector: watcher.predicate.label.toString(),
      fieldSelector: watcher.predicate.field.toString(),
      queued: watcher.queued,
      capacity: watcher.capacity,
      blocked: watcher.blocked,
      allowWatchBookmarks: watcher.predicate.allowWatchBookmarks,
      lastBookmark: watcher.lastBookmark === 0 ? '' : formatResourceVersion(watcher.lastBookmark),
      deadlineMs: watcher.deadlineMs,
    })),
  };
}
