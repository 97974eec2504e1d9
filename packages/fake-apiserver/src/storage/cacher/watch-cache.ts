// The present state of a resource and the ring of its latest changes; decides which past a watcher can still get.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache.go#watchCache
import { type Clock, newResourceExpired, newUnknownError } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import { prefixEnd } from '../../etcd/client.ts';
import type { WatchCacheConstants } from '../../profiles/profile.ts';
import { SortedMap } from '../../util/sorted-map.ts';
import type { BackingEventType } from '../backing-store.ts';
import type { MetricLabels, Metrics } from '../metrics.ts';
import type { ResourceStorageConfig } from '../storage-factory.ts';
import type { StoredObject } from '../stored-object.ts';
import { StoreElement } from './store-element.ts';
import { WatchCacheEvent } from './watch-cache-event.ts';
import { WatchCacheHistory } from './watch-cache-history.ts';
import { HistoryInterval, SnapshotInterval, type WatchCacheInterval } from './watch-cache-interval.ts';
import type { WatchScope } from './watch-scope.ts';

export interface WatchCacheOptions {
  readonly config: Pick<ResourceStorageConfig, 'resourcePrefix' | 'namespaced'>;
  readonly constants: WatchCacheConstants;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly labels: MetricLabels;
  /** A change was applied; called before anybody can read it through a watch. */
  readonly onEvent: (event: WatchCacheEvent) => void;
  /** The revision moved on, with or without a change. */
  readonly onRevision: (revision: Revision) => void;
}

interface Slot {
  element: StoreElement;
}

export class WatchCache {
  readonly history: WatchCacheHistory;
  readonly #options: WatchCacheOptions;
  // The same slots by key and in key order, so that an update touches neither.
  readonly #slots = new Map<string, Slot>();
  readonly #sorted = new SortedMap<Slot>();
  readonly #prefix: string;
  #revision: Revision = 0;
  #listRevision: Revision = 0;
  /** All changes after it are in the ring, as long as nothing was evicted. */
  #completeSince: Revision = 0;
  #removedEventSinceRelist = false;
  #all: readonly StoreElement[] | undefined;

  constructor(options: WatchCacheOptions) {
    this.#options = options;
    this.#prefix = `${options.config.resourcePrefix}/`;
    this.history = new WatchCacheHistory(options.constants, options.metrics, options.labels);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** How far the cache has come. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Revision of the list the cache was filled from last. */
  get listRevision(): Revision {
    return this.#listRevision;
  }

  /** The oldest resource version a watch may start from; undefined before the first list. */
  get oldestServed(): Revision | undefined {
    const oldest = this.#oldestEvent();
    return oldest === undefined ? undefined : oldest - 1;
  }

  get(key: string): StoreElement | undefined {
    return this.#slots.get(key)?.element;
  }

  process(type: BackingEventType, stored: StoredObject): void {
    const slot = this.#slots.get(stored.key);
    const previous = slot?.element;
    const element = new StoreElement(stored);
    const event = new WatchCacheEvent(type, element, previous, this.#options.clock.now());
    if (this.history.push(event)) this.#removedEventSinceRelist = true;
    if (type === 'DELETED') this.#delete(stored.key);
    else if (slot === undefined) this.#insert(stored.key, element);
    else slot.element = element;
    this.#all = undefined;
    this.#revision = stored.revision;
    this.#options.onEvent(event);
    this.#options.onRevision(stored.revision);
    previous?.stored.shrink();
  }

  /** Progress of etcd without a change of this resource. */
  advance(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#options.onRevision(revision);
  }

  /** A new list: what was known before is gone, also the past. */
  replace(objects: readonly StoredObject[], revision: Revision): void {
    this.#slots.clear();
    this.#sorted.clear();
    for (const stored of objects) this.#insert(stored.key, new StoreElement(stored));
    this.#all = undefined;
    this.history.clear();
    this.#removedEventSinceRelist = false;
    this.#listRevision = revision;
    this.#completeSince = revision;
    this.#revision = revision;
    this.#options.onRevision(revision);
  }

  /** For tests: as if enough changes had come by that nothing before this moment is left in the ring. */
  slideWindow(): void {
    this.history.clear();
    this.#removedEventSinceRelist = false;
    this.#completeSince = this.#revision;
  }

  /** Elements of a part of the resource in key order. */
  elements(scope: WatchScope): readonly StoreElement[] {
    const { namespaced } = this.#options.config;
    const { namespace, name } = scope;
    if (name !== '' && (namespace !== '' || !namespaced)) {
      const one = this.get(`${this.#prefix}${namespaced ? `${namespace}/` : ''}${name}`);
      return one === undefined ? [] : [one];
    }
    if (namespaced && namespace !== '') return this.below(`${this.#prefix}${namespace}/`);
    if (namespaced && name !== '') return this.#named(name);
    this.#all ??= this.#sorted.values().map((slot) => slot.element);
    return this.#all;
  }

  /** Elements whose key starts with a prefix (ending in '/'). */
  below(prefix: string): readonly StoreElement[] {
    if (prefix === this.#prefix) return this.elements({ namespace: '', name: '' });
    const found: StoreElement[] = [];
    this.#sorted.scan(prefix, prefixEnd(prefix), (slot) => {
      found.push(slot.element);
      return true;
    });
    return found;
  }

  /** The whole present state, for watches that want it first. */
  snapshot(scope: WatchScope, asked: Revision): WatchCacheInterval {
    return new SnapshotInterval(this.elements(scope), this.size > 0 ? this.#revision : asked);
  }

  /**
   * The changes after a revision.
   *
   * @throws StatusError 410 when some of them are no longer known
   */
  eventsSince(revision: Revision): WatchCacheInterval {
    const oldest = this.#oldestEvent();
    if (oldest === undefined) throw newUnknownError("watch cache isn't correctly initialized");
    if (revision < oldest - 1) throw newResourceExpired(`too old resource version: ${revision} (${oldest - 1})`);
    return new HistoryInterval(
      this.history,
      this.history.firstAfter(revision),
      revision,
      this.#options.constants.intervalBuffer,
    );
  }

  #insert(key: string, element: StoreElement): void {
    const slot: Slot = { element };
    this.#slots.set(key, slot);
    this.#sorted.set(key, slot);
  }

  #delete(key: string): void {
    this.#slots.delete(key);
    this.#sorted.delete(key);
  }

  #oldestEvent(): Revision | undefined {
    if (!this.#removedEventSinceRelist && this.#completeSince > 0) return this.#completeSince + 1;
    return this.history.oldest?.revision;
  }

  /** One name in all namespaces: a look into each namespace, not at each object. */
  #named(name: string): readonly StoreElement[] {
    const found: StoreElement[] = [];
    const prefix = this.#prefix;
    const end = prefixEnd(prefix);
    let from = prefix;
    for (;;) {
      let key: string | undefined;
      this.#sorted.scan(from, end, (_, first) => {
        key = first;
        return false;
      });
      if (key === undefined) return found;
      const namespacePrefix = key.slice(0, key.indexOf('/', prefix.length) + 1);
      const element = this.get(namespacePrefix + name);
      if (element !== undefined) found.push(element);
      from = prefixEnd(namespacePrefix);
    }
  }
}
