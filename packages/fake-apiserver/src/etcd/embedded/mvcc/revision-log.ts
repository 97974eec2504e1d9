// All changes since the last compaction in revision order: what a watcher that starts in the past is served from.
// Upstream: etcd@v3.5.15:server/storage/mvcc/kvstore.go (the backend bucket keyed by revision)
import type { EtcdEvent, Revision } from '../../client.ts';

export class RevisionLog {
  #events: EtcdEvent[] = [];
  // Entries before it are dropped; the array is cut only when that pays.
  #start = 0;

  get length(): number {
    return this.#events.length - this.#start;
  }

  /** The position after the last event. */
  get end(): number {
    return this.#events.length;
  }

  append(event: EtcdEvent): void {
    this.#events.push(event);
  }

  /** Position of the first event at or after `revision`; positions stay valid until the next compaction. */
  seek(revision: Revision): number {
    const events = this.#events;
    let low = this.#start;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (events[middle]!.kv.modRevision < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The event at a position, undefined at the end. */
  get(position: number): EtcdEvent | undefined {
    return this.#events[position];
  }

  /**
   * Drops the events before `revision` and calls `dropped` with each, then takes the previous values from those at
   * `revision` itself: they lie in the compacted past.
   */
  compact(revision: Revision, dropped: (event: EtcdEvent) => void): void {
    const events = this.#events;
    let position = this.#start;
    while (position < events.length && events[position]!.kv.modRevision < revision) {
      dropped(events[position]!);
      position++;
    }
    for (let at = position; at < events.length && events[at]!.kv.modRevision === revision; at++) {
      dropped(events[at]!);
      if (events[at]!.prevKv !== undefined) events[at] = { type: events[at]!.type, kv: events[at]!.kv };
    }
    if (position > events.length >>> 1) {
      this.#events = events.slice(position);
      this.#start = 0;
    } else {
      events.fill(undefined as never, this.#start, position);
      this.#start = position;
    }
  }

  /** For a snapshot: the events in order. */
  *[Symbol.iterator](): IterableIterator<EtcdEvent> {
    for (let at = this.#start; at < this.#events.length; at++) yield this.#events[at]!;
  }
}
