// Keys with their history: reads at any kept revision, writes that make the next one, compaction. Synchronous.
// Upstream: etcd@v3.5.15:server/storage/mvcc/kvstore.go, kvstore_txn.go, kvstore_compaction.go
import { SortedMap } from '../../../util/sorted-map.ts';
import type { EtcdEvent, KeyValue, RangeRequest, RangeResponse, Revision } from '../../client.ts';
import { EtcdError } from '../../errors.ts';
import { isTombstone, KeyIndex, type KeyVersion, tombstone } from './key-index.ts';
import { RevisionLog } from './revision-log.ts';

/** A write as the store applies it; all writes of one call share a revision. */
export type KvWrite =
  | { readonly op: 'put'; readonly key: string; readonly value: Buffer; readonly lease: string }
  | { readonly op: 'delete'; readonly key: string };

const EMPTY = Buffer.alloc(0);

export class KvStore {
  readonly log: RevisionLog = new RevisionLog();
  #revision: Revision = 1;
  #compactRevision: Revision | undefined;
  #sizeBytes = 0;
  readonly #byKey = new Map<string, KeyIndex>();
  // The same in order. Most reads need only the keys that exist now; `#all` has the deleted ones too, until they are
  // compacted away.
  readonly #live = new SortedMap<KeyIndex>();
  readonly #all = new SortedMap<KeyIndex>();

  get revision(): Revision {
    return this.#revision;
  }

  /** Undefined before the first compaction. */
  get compactRevision(): Revision | undefined {
    return this.#compactRevision;
  }

  /** Bytes of all kept keys and values. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  current(key: string): KeyValue | undefined {
    return this.#byKey.get(key)?.current;
  }

  range(request: RangeRequest): RangeResponse {
    const at = request.revision ?? 0;
    if (at > this.#revision) throw new EtcdError('FutureRev');
    if (at > 0 && at < (this.#compactRevision ?? 0)) {
      throw new EtcdError('Compacted', { compactRevision: this.#compactRevision });
    }
    const past = at > 0 && at < this.#revision ? at : undefined;
    if (request.rangeEnd === undefined) return this.#single(request, past);
    return this.#scan(request, request.rangeEnd, past);
  }

  /** Applies writes as one revision. The revision stays when nothing was changed (deletions of missing keys). */
  apply(writes: readonly KvWrite[]): readonly EtcdEvent[] {
    const revision = this.#revision + 1;
    const events: EtcdEvent[] = [];
    for (const write of writes) {
      const event = write.op === 'put' ? this.#put(write, revision) : this.#delete(write.key, revision);
      if (event !== undefined) events.push(event);
    }
    if (events.length > 0) this.#revision = revision;
    return events;
  }

  /**
   * Refuses all reads before `revision` from now on. The memory is given back by {@link KvStore.scrub}, piece by piece, so that
   * a long history does not stop the process for long.
   */
  compact(revision: Revision): void {
    if (revision <= (this.#compactRevision ?? 0)) {
      throw new EtcdError('Compacted', { compactRevision: this.#compactRevision });
    }
    if (revision > this.#revision) throw new EtcdError('FutureRev');
    this.#compactRevision = revision;
    this.log.compact(revision, (event) => this.#forget(event));
  }

  /** Forgets at most `limit` changes that lie before the compaction revision; true when there are more. */
  scrub(limit: number): boolean {
    return this.log.scrub(limit, (event) => {
      if (event.type === 'delete') this.#sizeBytes -= sizeOf(event.kv);
      this.#forget(event);
    });
  }

  #forget({ kv: { key }, prevKv }: EtcdEvent): void {
    if (prevKv !== undefined) this.#sizeBytes -= sizeOf(prevKv);
    if (this.#byKey.get(key)?.compact(this.#compactRevision ?? 0) !== true) return;
    this.#byKey.delete(key);
    this.#all.delete(key);
  }

  /** Start of putting back a saved state; only on an empty store. */
  restore(compactRevision: Revision | undefined): void {
    this.#revision = Math.max(1, compactRevision ?? 1);
    this.#compactRevision = compactRevision;
  }

  /** Puts back a version that was current at the compaction revision. */
  restoreBase(kv: KeyValue): void {
    this.#record(kv, this.#byKey.get(kv.key));
  }

  /** Puts back a change at or after the compaction revision; in revision order, after the base. */
  restoreEvent(kv: KeyValue): EtcdEvent {
    const index = this.#byKey.get(kv.key);
    const previous = index?.current;
    const prevKv = kv.modRevision > (this.#compactRevision ?? 0) ? previous : undefined;
    const type = isTombstone(kv) ? 'delete' : 'put';
    this.#record(kv, index);
    const event: EtcdEvent = prevKv === undefined ? { type, kv } : { type, kv, prevKv };
    this.log.append(event);
    this.#revision = kv.modRevision;
    return event;
  }

  /** The states that were current at the compaction revision and are not in the log: what a snapshot has to hold besides it. */
  baseVersions(): readonly KeyValue[] {
    const revision = this.#compactRevision ?? 0;
    const found: KeyValue[] = [];
    this.#all.scan('', undefined, (index) => {
      const kv = index.at(revision);
      if (kv !== undefined && kv.modRevision < revision) found.push(kv);
      return true;
    });
    return found;
  }

  #single(request: RangeRequest, past: Revision | undefined): RangeResponse {
    const kv = past === undefined ? this.#byKey.get(request.key)?.current : this.#byKey.get(request.key)?.at(past);
    const kvs = kv === undefined || request.countOnly ? [] : [request.keysOnly ? withoutValue(kv) : kv];
    return { revision: this.#revision, kvs, more: false, count: kv === undefined ? 0 : 1 };
  }

  #scan(request: RangeRequest, rangeEnd: string, past: Revision | undefined): RangeResponse {
    const end = rangeEnd === '\0' ? undefined : rangeEnd;
    const count = this.#count(request.key, end, past);
    if (request.countOnly) return { revision: this.#revision, kvs: [], more: false, count };
    const limit = request.limit !== undefined && request.limit > 0 ? request.limit : Number.POSITIVE_INFINITY;
    const kvs: KeyValue[] = [];
    const index = past === undefined ? this.#live : this.#all;
    index.scan(request.key, end, (entry) => {
      const kv = past === undefined ? entry.current : entry.at(past);
      if (kv !== undefined) kvs.push(request.keysOnly ? withoutValue(kv) : kv);
      return kvs.length < limit;
    });
    return { revision: this.#revision, kvs, more: kvs.length < count, count };
  }

  /** Counts in the past by undoing what happened since, as long as that is shorter than walking the keys. */
  #count(from: string, to: string | undefined, past: Revision | undefined): number {
    let count = this.#live.countRange(from, to);
    if (past === undefined) return count;
    const first = this.log.seek(past + 1);
    if (this.log.end - first > this.#all.countRange(from, to)) {
      count = 0;
      this.#all.scan(from, to, (entry) => {
        if (entry.at(past) !== undefined) count++;
        return true;
      });
      return count;
    }
    for (let at = first; at < this.log.end; at++) {
      const { type, kv } = this.log.get(at)!;
      if (kv.key < from || (to !== undefined && kv.key >= to)) continue;
      if (type === 'delete') count++;
      else if (kv.version === 1) count--;
    }
    return count;
  }

  #put(write: Extract<KvWrite, { op: 'put' }>, revision: Revision): EtcdEvent {
    const index = this.#byKey.get(write.key);
    const prevKv = index?.current;
    const kv: KeyValue = {
      // One string per key, however many versions it has.
      key: index === undefined ? write.key : index.key,
      value: write.value,
      createRevision: prevKv === undefined ? revision : prevKv.createRevision,
      modRevision: revision,
      version: prevKv === undefined ? 1 : prevKv.version + 1,
      lease: write.lease,
    };
    this.#record(kv, index);
    const event: EtcdEvent = prevKv === undefined ? { type: 'put', kv } : { type: 'put', kv, prevKv };
    this.log.append(event);
    return event;
  }

  #delete(key: string, revision: Revision): EtcdEvent | undefined {
    const index = this.#byKey.get(key);
    const prevKv = index?.current;
    if (index === undefined || prevKv === undefined) return undefined;
    const kv = tombstone(index.key, revision);
    this.#record(kv, index);
    const event: EtcdEvent = { type: 'delete', kv, prevKv };
    this.log.append(event);
    return event;
  }

  #record(version: KeyVersion, index: KeyIndex | undefined): void {
    const { key } = version;
    this.#sizeBytes += sizeOf(version);
    if (index === undefined) {
      const added = new KeyIndex(version);
      this.#byKey.set(key, added);
      this.#all.set(key, added);
      if (!isTombstone(version)) this.#live.set(key, added);
      return;
    }
    const existed = index.current !== undefined;
    index.put(version);
    const exists = index.current !== undefined;
    if (exists && !existed) this.#live.set(key, index);
    else if (existed && !exists) this.#live.delete(key);
  }
}

function withoutValue(kv: KeyValue): KeyValue {
  return { ...kv, value: EMPTY };
}

function sizeOf(kv: KeyValue): number {
  return kv.key.length + kv.value.length;
}
