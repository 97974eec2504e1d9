// How a watch on the cache begins: where it starts, what it gets first, and when it is too late for that.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#Watch
import { newServiceUnavailable, statusOf } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import { canonicalResourceVersion, formatResourceVersion, parseResourceVersion } from '../api-object-versioner.ts';
import type { StorageListOptions, StorageWatch } from '../interfaces.ts';
import { prepareKey, preparePrefix } from '../keys.ts';
import { CacheWatcher } from './cache-watcher.ts';
import type { CacherCore } from './cacher-core.ts';
import { reinitializing } from './cacher-read.ts';
import { ErrWatcher, ImmediateCloseWatcher } from './stub-watchers.ts';
import type { WatchCacheInterval } from './watch-cache-interval.ts';
import { scopeOf } from './watch-scope.ts';

/** The legacy start without a version, the two ways of the streaming list, or after a version. */
type Start = 'state' | 'state-then-end' | 'now' | 'after';

export async function watchFromCache(
  core: CacherCore,
  path: string,
  options: StorageListOptions,
): Promise<StorageWatch> {
  const { store, profile, clock } = core.options;
  const { resourceVersion = '', recursive = true, deadlineMs, signal } = options;
  const key = recursive ? preparePrefix(path) : prepareKey(path);
  if (
    profile.gates.WatchFromStorageWithoutResourceVersion &&
    resourceVersion === '' &&
    options.sendInitialEvents === undefined
  ) {
    return store.watch(path, options);
  }
  const asked = parseResourceVersion(resourceVersion);
  if (deadlineMs !== undefined && deadlineMs <= clock.now()) throw newServiceUnavailable('context deadline exceeded');
  if (profile.gates.ResilientWatchCacheInitialization && core.ready.state === 'pending') throw reinitializing();
  const generation = core.ready.check();
  const readyGeneration = generation === undefined || signal?.aborted ? await core.ready.wait(signal) : generation;
  const start = startOf(core, options, asked);
  let required: Revision;
  let interval: WatchCacheInterval;
  const scope = scopeOf(core.options.config, key, options.predicate);
  try {
    required = await requiredRevision(core, options, asked);
    if (start === 'state-then-end') {
      const text = resourceVersion === '' ? formatResourceVersion(required) : canonicalResourceVersion(resourceVersion);
      await core.freshness.wait(required, text);
    }
    if (start === 'state' || start === 'state-then-end') interval = core.cache.snapshot(scope, required);
    else interval = core.cache.eventsSince(start === 'now' && required === 0 ? core.cache.revision : required);
  } catch (error) {
    const status = statusOf(error);
    if (status === undefined) throw error;
    return new ErrWatcher(status);
  }
  // From here on nothing may be awaited: interval and live events must meet without a gap.
  if (core.ready.check() !== readyGeneration) return new ImmediateCloseWatcher();
  const triggerValue = triggerOf(core, options);
  const watcher = new CacheWatcher({
    owner: core,
    scope,
    triggerValue,
    predicate: options.predicate,
    interval,
    liveAfter: start === 'after' ? required : core.cache.revision,
    channelSize: suggestedChannelSize(core, triggerValue !== undefined),
    deadlineMs,
    bookmarkAfter: bookmarkAfter(core, options, required),
    signal,
  });
  if (signal?.aborted) watcher.terminate();
  else core.register(watcher);
  return watcher;
}

function startOf(core: CacherCore, options: StorageListOptions, asked: Revision): Start {
  const { sendInitialEvents, resourceVersion = '' } = options;
  const { gates, behaviours } = core.options.profile;
  if (gates.WatchList && sendInitialEvents === true) return 'state-then-end';
  if (gates.WatchList && sendInitialEvents === false && asked === 0) return 'now';
  if (asked > 0) return 'after';
  return resourceVersion === '' && behaviours.emptyResourceVersionWatch === 'from-now' ? 'now' : 'state';
}

/** The version the cache must have reached; without one the watch list asks etcd what the latest is. */
async function requiredRevision(core: CacherCore, options: StorageListOptions, asked: Revision): Promise<Revision> {
  const { sendInitialEvents, resourceVersion = '', signal } = options;
  if (resourceVersion !== '' || sendInitialEvents === undefined || !core.options.profile.gates.WatchList) return asked;
  return core.options.store.currentRevision(signal);
}

function bookmarkAfter(core: CacherCore, options: StorageListOptions, required: Revision): Revision {
  const { sendInitialEvents, predicate } = options;
  if (!core.options.profile.gates.WatchList || sendInitialEvents !== true || !predicate.allowWatchBookmarks) return 0;
  return required > 0 ? required : core.cache.revision;
}

function triggerOf(core: CacherCore, options: StorageListOptions): string | undefined {
  const { triggerField } = core.options.config;
  return triggerField === undefined ? undefined : options.predicate.field.requiresExactMatch(triggerField);
}

const MIN_CHANNEL = 10;

/** A second's worth of the ring, within bounds that depend on how many events a watcher may be offered. */
function suggestedChannelSize(core: CacherCore, triggerUsed: boolean): number {
  const { config, profile } = core.options;
  const max = config.triggerField === undefined ? 100 : triggerUsed ? MIN_CHANNEL : 1000;
  const seconds = Math.max(1, Math.floor(profile.watchCache.eventFreshDurationMs / 1000));
  return Math.min(Math.max(Math.ceil(core.cache.history.capacity / seconds), MIN_CHANNEL), max);
}
