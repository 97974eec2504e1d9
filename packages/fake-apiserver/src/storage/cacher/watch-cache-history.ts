// The ring of the latest changes alone: indices, capacity, the rule by which it grows and shrinks.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache.go#updateCache, #resizeCacheLocked
//
//   indices grow for ever, slot = index mod capacity, size = end - start
//   start ........ end
//   oldest         next to be written
import type { WatchCacheConstants } from '../../profiles/profile.ts';
import { type MetricLabels, type Metrics, noMetrics } from '../metrics.ts';
import type { WatchCacheEvent } from './watch-cache-event.ts';

export type HistoryLimits = Pick<
  WatchCacheConstants,
  'lowerBoundCapacity' | 'upperBoundCapacity' | 'eventFreshDurationMs'
>;

export class WatchCacheHistory {
  readonly #limits: HistoryLimits;
  #ring: (WatchCacheEvent | undefined)[];
  #start = 0;
  #end = 0;
  readonly #onResize: (capacity: number, grew: boolean) => void;

  constructor(limits: HistoryLimits, metrics: Metrics = noMetrics, labels: MetricLabels = {}) {
    this.#limits = limits;
    this.#ring = new Array(limits.lowerBoundCapacity).fill(undefined);
    const capacity = metrics.gauge('watch_cache_capacity', labels);
    const increased = metrics.counter('watch_cache_capacity_increase_total', labels);
    const decreased = metrics.counter('watch_cache_capacity_decrease_total', labels);
    capacity.set(limits.lowerBoundCapacity);
    this.#onResize = (now, grew) => {
      capacity.set(now);
      (grew ? increased : decreased).inc();
    };
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get size(): number {
    return this.#end - this.#start;
  }

  get capacity(): number {
    return this.#ring.length;
  }

  /** The event at an index between `start` and `end`. */
  at(index: number): WatchCacheEvent {
    return this.#ring[index % this.#ring.length]!;
  }

  get oldest(): WatchCacheEvent | undefined {
    return this.size === 0 ? undefined : this.at(this.#start);
  }

  /** Returns true when an older event had to go for it. */
  push(event: WatchCacheEvent): boolean {
    this.#adjust(event.recordTimeMs);
    const evicts = this.size === this.capacity;
    if (evicts) this.#start++;
    this.#ring[this.#end % this.capacity] = event;
    this.#end++;
    return evicts;
  }

  /** Index of the first event after a revision; `end` when there is none. */
  firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.at(middle).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Forgets all events. Readers that have not come to the end find their index before `start` and know. */
  clear(): void {
    this.#start = this.#end;
    this.#ring.fill(undefined);
  }

  /** Grows while the window is too short, else shrinks when three quarters of the ring would still be long enough. */
  #adjust(nowMs: number): void {
    if (this.size < this.capacity) return;
    const { lowerBoundCapacity, upperBoundCapacity, eventFreshDurationMs } = this.#limits;
    if (nowMs - this.at(this.#start).recordTimeMs < eventFreshDurationMs) {
      const grown = Math.min(this.capacity * 2, upperBoundCapacity);
      if (grown > this.capacity) this.#resize(grown);
      return;
    }
    const newestQuarter = this.#end - Math.max(1, Math.floor(this.capacity / 4));
    if (nowMs - this.at(newestQuarter).recordTimeMs > eventFreshDurationMs) {
      const shrunk = Math.max(Math.floor(this.capacity / 2), lowerBoundCapacity);
      if (shrunk < this.capacity) this.#resize(shrunk);
    }
  }

  #resize(capacity: number): void {
    const grew = capacity > this.capacity;
    if (!grew) this.#start = this.#end - capacity;
    const ring: (WatchCacheEvent | undefined)[] = new Array(capacity).fill(undefined);
    for (let index = this.#start; index < this.#end; index++) ring[index % capacity] = this.at(index);
    this.#ring = ring;
    this.#onResize(capacity, grew);
  }
}
