// The parts of one watch cache and how they are wired; reads and watches use it, see cacher-read.ts and cacher-watch.ts.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#NewCacherFromConfig
import { type Clock, formatGroupResource, type Logger } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { BackingEventType, BackingStore } from '../backing-store.ts';
import { makeBookmark } from '../bookmark.ts';
import type { StorageWatchEvent } from '../interfaces.ts';
import type { Counter, Metrics } from '../metrics.ts';
import type { AttributesFunc } from '../selection-predicate.ts';
import type { ResourceStorageConfig } from '../storage-factory.ts';
import type { StoredObject } from '../stored-object.ts';
import type { BookmarkRound, CacheWatcher, CacheWatcherOwner } from './cache-watcher.ts';
import { CacherLoop } from './cacher-loop.ts';
import { Dispatcher } from './dispatcher.ts';
import { Freshness } from './freshness.ts';
import { IndexedWatchers, type TriggerFunc } from './indexed-watchers.ts';
import { Ready } from './ready.ts';
import { WatchCache } from './watch-cache.ts';
import { ConditionalProgressRequester } from './watch-progress.ts';

export interface CacherOptions {
  readonly config: ResourceStorageConfig;
  /** Belongs to the Cacher: it is closed with it. */
  readonly store: BackingStore & AsyncDisposable;
  readonly profile: Profile;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export class CacherCore implements CacheWatcherOwner {
  readonly options: CacherOptions;
  readonly getAttributes: AttributesFunc;
  readonly ready: Ready = new Ready();
  readonly cache: WatchCache;
  readonly freshness: Freshness;
  readonly watchers: IndexedWatchers;
  readonly dispatcher: Dispatcher;
  readonly loop: CacherLoop;
  readonly listCounters: { readonly total: Counter; readonly fetched: Counter; readonly returned: Counter };
  readonly #progress: ConditionalProgressRequester;
  readonly #initEvents: Counter;
  readonly #received: Counter;
  readonly #terminated: Counter;
  readonly #initializations: Counter;

  constructor(options: CacherOptions) {
    this.options = options;
    const { config, profile, clock, random, metrics, logger } = options;
    this.getAttributes = config.getAttributes;
    const labels = { resource: formatGroupResource(config.groupResource) };
    this.#received = metrics.counter('apiserver_watch_cache_events_received_total', labels);
    this.#initEvents = metrics.counter('apiserver_init_events_total', labels);
    this.#terminated = metrics.counter('apiserver_terminated_watchers_total', labels);
    this.#initializations = metrics.counter('apiserver_watch_cache_initializations_total', labels);
    const listLabels = { resource_prefix: config.resourcePrefix };
    this.listCounters = {
      total: metrics.counter('apiserver_cache_list_total', { ...listLabels, index: '' }),
      fetched: metrics.counter('apiserver_cache_list_fetched_objects_total', { ...listLabels, index: '' }),
      returned: metrics.counter('apiserver_cache_list_returned_objects_total', listLabels),
    };
    this.cache = new WatchCache({
      config,
      constants: profile.watchCache,
      clock,
      metrics,
      labels,
      onEvent: (event) => this.dispatcher.dispatch(event),
      onRevision: (revision) => this.freshness.reached(revision),
    });
    this.watchers = new IndexedWatchers(triggerFunc(config));
    this.dispatcher = new Dispatcher({
      clock,
      random,
      profile,
      watchers: this.watchers,
      makeRound: (revision) => this.#makeRound(revision),
      onBackPressure: (full) => this.loop.setPaused(full),
      onSlow: (watcher) => this.#cutOff(watcher),
      dispatched: metrics.counter('apiserver_watch_cache_events_dispatched_total', labels),
    });
    this.loop = new CacherLoop({
      store: options.store,
      resourcePrefix: config.resourcePrefix,
      getAttributes: config.getAttributes,
      constants: profile.watchCache,
      clock,
      logger,
      onStart: () => this.#terminateAll(),
      onList: (objects, revision) => this.#listed(objects, revision),
      onEvent: (type, object) => this.#changed(type, object),
      onProgress: (revision) => this.#progressed(revision),
      onLost: () => this.ready.set(false),
      currentRevision: () => this.cache.revision,
    });
    this.#progress = new ConditionalProgressRequester(clock, profile.watchCache.progressRequestPeriodMs, () =>
      this.loop.requestProgress(),
    );
    this.freshness = new Freshness({
      clock,
      blockTimeoutMs: profile.watchCache.blockTimeoutMs,
      currentRevision: () => this.cache.revision,
      progress: profile.gates.ConsistentListFromCache ? this.#progress : undefined,
      readWait: metrics.histogram('apiserver_watch_cache_read_wait_seconds', labels),
    });
  }

  async close(): Promise<void> {
    this.ready.stop();
    this.#progress.stop();
    this.#terminateAll();
    this.dispatcher.stop();
    await this.loop.close();
    await this.options.store[Symbol.asyncDispose]();
  }

  register(watcher: CacheWatcher): void {
    this.watchers.add(watcher);
    if (watcher.predicate.allowWatchBookmarks) this.dispatcher.addBookmarkWatcher(watcher);
  }

  forget(watcher: CacheWatcher): void {
    this.watchers.delete(watcher);
    this.dispatcher.unblocked(watcher);
  }

  unblocked(watcher: CacheWatcher): void {
    this.dispatcher.unblocked(watcher);
  }

  initialEventsSent(count: number): void {
    if (count > 0) this.#initEvents.inc(count);
  }

  readerFailed(_watcher: CacheWatcher, error: unknown): void {
    const { logger, config } = this.options;
    logger.error('reader of a watch failed', { resource: formatGroupResource(config.groupResource), error });
  }

  initialEventsEndAt(revision: Revision): StorageWatchEvent | undefined {
    if (this.options.profile.behaviours.initialEventsEndTiming === 'tick') return undefined;
    return this.#makeRound(revision).initialEventsEnd;
  }

  #listed(objects: readonly StoredObject[], revision: Revision): void {
    this.cache.replace(objects, revision);
    this.dispatcher.listed(revision);
    this.ready.set(true);
    this.#initializations.inc();
  }

  #changed(type: BackingEventType, object: StoredObject): void {
    this.#received.inc();
    this.cache.process(type, object);
  }

  #progressed(revision: Revision): void {
    this.cache.advance(revision);
    this.dispatcher.dispatch(revision);
  }

  #cutOff(watcher: CacheWatcher): void {
    const { logger, config } = this.options;
    this.#terminated.inc();
    logger.info('forcing watcher close due to unresponsiveness', {
      resource: formatGroupResource(config.groupResource),
      queued: watcher.queued,
    });
    watcher.terminateSlow();
  }

  #terminateAll(): void {
    for (const watcher of [...this.watchers]) watcher.terminate();
  }

  #makeRound(revision: Revision): BookmarkRound {
    const { config, profile } = this.options;
    const { nullCreationTimestamp } = profile.behaviours;
    const make = (initialEventsEnd: boolean): StorageWatchEvent => ({
      type: 'BOOKMARK',
      object: makeBookmark(config, revision, { initialEventsEnd, nullCreationTimestamp }),
    });
    return { revision, plain: make(false), initialEventsEnd: make(true) };
  }
}

function triggerFunc({ triggerField, getAttributes }: ResourceStorageConfig): TriggerFunc | undefined {
  if (triggerField === undefined) return undefined;
  return (element) => element.attributes(getAttributes).fields[triggerField] ?? '';
}
