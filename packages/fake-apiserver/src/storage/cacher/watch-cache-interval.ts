// What a new watcher gets before live events: a snapshot of the store, or a stretch of the ring that is read piece by piece.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache_interval.go#watchCacheInterval
import type { Revision } from '../../etcd/client.ts';
import type { StoreElement } from './store-element.ts';
import type { WatchCacheEvent } from './watch-cache-event.ts';
import type { WatchCacheHistory } from './watch-cache-history.ts';

export type IntervalItem = StoreElement | WatchCacheEvent;

export interface WatchCacheInterval {
  /** How far a watch has come once it has read everything; bookmarks at or below it are of no use to it. */
  readonly baseRevision: Revision;
  /** Nothing to read, from the start. */
  readonly empty: boolean;
  /** The next item, undefined at the end, 'overrun' when the ring has moved past the reader. */
  next(): IntervalItem | 'overrun' | undefined;
}

export class SnapshotInterval implements WatchCacheInterval {
  readonly baseRevision: Revision;
  readonly empty: boolean;
  #elements: readonly StoreElement[];
  #at = 0;

  constructor(elements: readonly StoreElement[], baseRevision: Revision) {
    this.#elements = elements;
    this.empty = elements.length === 0;
    this.baseRevision = baseRevision;
  }

  next(): StoreElement | undefined {
    const element = this.#elements[this.#at++];
    // Not kept alive by a watcher that lives on for hours.
    if (element === undefined) this.#elements = [];
    return element;
  }
}

export class HistoryInterval implements WatchCacheInterval {
  readonly baseRevision: Revision;
  readonly empty: boolean;
  readonly #history: WatchCacheHistory;
  readonly #bufferSize: number;
  readonly #end: number;
  #index: number;
  #buffer: WatchCacheEvent[] = [];
  #at = 0;

  constructor(history: WatchCacheHistory, from: number, asked: Revision, bufferSize: number) {
    this.#history = history;
    this.#index = from;
    this.#end = history.end;
    this.#bufferSize = bufferSize;
    this.empty = from >= this.#end;
    this.baseRevision = from < this.#end ? Math.max(asked, history.at(this.#end - 1).revision) : asked;
  }

  next(): WatchCacheEvent | 'overrun' | undefined {
    if (this.#at === this.#buffer.length) {
      if (this.#index >= this.#end) return undefined;
      if (!this.#fill()) return 'overrun';
    }
    return this.#buffer[this.#at++];
  }

  /** Copies the next piece out of the ring, which may overwrite it later. */
  #fill(): boolean {
    if (this.#index < this.#history.start) return false;
    this.#buffer = [];
    this.#at = 0;
    const end = Math.min(this.#end, this.#index + this.#bufferSize);
    while (this.#index < end) this.#buffer.push(this.#history.at(this.#index++));
    return true;
  }
}
