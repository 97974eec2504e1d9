// All changes since the last compaction in revision order: what a watcher that starts in the past is served from.
// Upstream: etcd@v3.5.15:server/storage/mvcc/kvstore.go (the backend bucket keyed by revision)
import type { EtcdEvent, Revision } from '../../client.ts';

export class RevisionLog {
  #events: EtcdEvent[] = [];
  // Entries before it are dropped; the array is cut only when that pays.
  #start = 0;
  #compacted: Revision = 0;

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

  /** Position of the first event at or after `revision`; positions stay valid until the next scrub. */
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
   * Marks everything before `revision` as gone, and takes the previous values from the events of `revision` itself: they lie in
   * the compacted past. `dropped` is called with those; the ones before follow with {@link RevisionLog.scrub}.
   */
  compact(revision: Revision, dropped: (event: EtcdEvent) => void): void {
    const events = this.#events;
    for (let at = this.seek(revision); at < events.length && events[at]!.kv.modRevision === revision; at++) {
      dropped(events[at]!);
      if (events[at]!.prevKv !== undefined) events[at] = { type: events[at]!.type, kv: events[at]!.kv };
    }
    this.#compacted = revision;
  }

  /** Drops at most `limit` of the events that are gone; true when some are left. */
  scrub(limit: number, dropped: (event: EtcdEvent) => void): boolean {
    const events = this.#events;
    const end = Math.min(events.length, this.#start + limit);
    let position = this.#start;
    while (position < end && events[position]!.kv.modRevision < this.#compacted) {
      dropped(events[position]!);
      events[position] = undefined as never;
      position++;
    }
    this.#start = position;
    if (position > events.length >>> 1) {
      this.#events = events.slice(position);
      this.#start = 0;
    }
    const next = this.#events[this.#start];
    return next !== undefined && next.kv.modRevision < this.#compacted;
  }

  /** For a snapshot: the events in order. */
  *[Symbol.iterator](): IterableIterator<EtcdEvent> {
    for (let at = this.#start; at < this.#events.length; at++) yield this.#events[at]!;
  }
}
