// etcd in this process: the asynchronous face of the MVCC store, its watches, leases and (with a data directory) its journal.
// Upstream: etcd@v3.5.15:server/etcdserver/v3_server.go
import { type Clock, type ClockTimer, realClock, settle } from '@kube-rx/apimachinery';
import type {
  EtcdClient,
  EtcdEvent,
  EtcdWatch,
  LeaseId,
  RangeRequest,
  RangeResponse,
  Revision,
  TxnRequest,
  TxnResponse,
  WatchObserver,
  WatchRequest,
} from '../client.ts';
import { EtcdError } from '../errors.ts';
import { Journal } from './journal.ts';
import type { JournalRecord } from './journal-record.ts';
import { type Lease, Lessor } from './lessor.ts';
import { KvStore, type KvWrite } from './mvcc/kvstore.ts';
import { WatchableStore } from './mvcc/watchable-store.ts';
import { applyTxn, checkTxn, requestSize } from './txn-apply.ts';

export interface EmbeddedEtcdOptions {
  readonly clock?: Clock | undefined;
  /** Keeps the data in this directory; in memory only when absent. */
  readonly dataDir?: string | undefined;
  /** With `dataDir`: wait for the disk after each write. Default false: data survives the process, not a power cut. */
  readonly fsync?: boolean | undefined;
  /** A transaction above it fails with `RequestTooLarge`. Default 1.5 MiB, as etcd. */
  readonly maxRequestBytes?: number | undefined;
  /** How often idle watches that asked for it are told the revision. Default 10 minutes, as etcd. */
  readonly progressNotifyIntervalMs?: number | undefined;
  /** Default 2: what etcd's default election timeout allows. */
  readonly minLeaseTtlSeconds?: number | undefined;
  /**
   * Real etcd removes all keys of a lease in one revision, so a watcher cannot resume in the middle of them.
   * `per-key` gives each its own revision. Default `one-revision`.
   */
  readonly leaseExpiry?: 'one-revision' | 'per-key' | undefined;
}

const VERSION = '3.5.15';
/** Changes that are forgotten in one go: a few milliseconds. */
const SCRUB_SLICE = 5000;
const REWRITE_ABOVE_BYTES = 16 << 20;

/** An {@link EtcdClient} with the store inside. Reads and writes are applied synchronously, in the order of the calls. */
export class EmbeddedEtcd implements EtcdClient {
  readonly #clock: Clock;
  readonly #maxRequestBytes: number;
  readonly #progressIntervalMs: number;
  readonly #perKeyExpiry: boolean;
  readonly #store = new KvStore();
  readonly #watchable = new WatchableStore(this.#store);
  readonly #lessor: Lessor;
  readonly #journal: Journal | undefined;
  #progressTimer: ClockTimer | undefined;
  #closed = false;

  /** Reads the data directory, synchronously, when one is given. Throws an EtcdError `Corrupt` on damaged data. */
  constructor(options: EmbeddedEtcdOptions = {}) {
    this.#clock = options.clock ?? realClock;
    this.#maxRequestBytes = options.maxRequestBytes ?? 1.5 * 1024 * 1024;
    this.#progressIntervalMs = options.progressNotifyIntervalMs ?? 600_000;
    this.#perKeyExpiry = options.leaseExpiry === 'per-key';
    this.#lessor = new Lessor({
      clock: this.#clock,
      expired: (leases) => {
        for (const lease of leases) this.#dropLease(lease);
      },
      minTtlSeconds: options.minLeaseTtlSeconds,
    });
    if (options.dataDir !== undefined) {
      this.#journal = Journal.open({ dataDir: options.dataDir, fsync: options.fsync }, (record) =>
        this.#restore(record),
      );
    }
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResponse> {
    this.#check(signal);
    if (request.key === '') throw new EtcdError('EmptyKey');
    return this.#store.range(request);
  }

  async txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResponse> {
    this.#check(signal);
    if (requestSize(request) > this.#maxRequestBytes) throw new EtcdError('RequestTooLarge');
    checkTxn(request);
    const { response, events } = applyTxn(this.#store, request, (lease) => this.#lessor.get(lease));
    this.#commit(events);
    return response;
  }

  watch(request: WatchRequest, observer: WatchObserver): EtcdWatch {
    if (this.#closed) {
      queueMicrotask(() => observer.ended(new EtcdError('Closed')));
      return { pause() {}, resume() {}, requestProgress() {}, cancel() {} };
    }
    if (request.progressNotify) this.#startProgress();
    return this.#watchable.watch(request, observer);
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    this.#check(signal);
    this.#store.compact(revision);
    this.#journal?.append({ kind: 'compact', revision });
    while (this.#store.scrub(SCRUB_SLICE)) {
      await settle();
      if (this.#closed) return;
    }
    if (this.#journal === undefined) return;
    if (this.#journal.bytes > REWRITE_ABOVE_BYTES && this.#journal.bytes > 2 * this.#store.sizeBytes) {
      this.#journal.rewrite(this.#state());
    }
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<LeaseId> {
    this.#check(signal);
    const { id, ttlSeconds: granted, expiresAtMs } = this.#lessor.grant(ttlSeconds);
    this.#journal?.append({ kind: 'lease', id, ttlSeconds: granted, expiresAtMs });
    return id;
  }

  async revokeLease(lease: LeaseId, signal?: AbortSignal): Promise<void> {
    this.#check(signal);
    this.#dropLease(this.#lessor.revoke(lease));
  }

  async status(signal?: AbortSignal): ReturnType<EtcdClient['status']> {
    this.#check(signal);
    return {
      revision: this.#store.revision,
      compactRevision: this.#store.compactRevision,
      version: VERSION,
      dbSizeBytes: this.#store.sizeBytes,
    };
  }

  /** Current revision without a promise, for state snapshots. */
  get revision(): Revision {
    return this.#store.revision;
  }

  get compactRevision(): Revision | undefined {
    return this.#store.compactRevision;
  }

  /** Number of open watches. */
  get watchers(): number {
    return this.#watchable.watchers;
  }

  /** Ends all watches with an error, as when the connection or the leader is lost. For fault tests. */
  failWatches(error: Error = new EtcdError('NoLeader')): void {
    this.#watchable.endAll(error);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#progressTimer?.cancel();
    this.#lessor.close();
    this.#watchable.endAll(undefined);
    this.#journal?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(signal: AbortSignal | undefined): void {
    if (signal?.aborted) throw signal.reason;
    if (this.#closed) throw new EtcdError('Closed');
  }

  /** Written down before anybody is told. */
  #commit(events: readonly EtcdEvent[]): void {
    if (events.length === 0) return;
    this.#journal?.append({ kind: 'txn', writes: events.map(toWrite) });
    this.#lessor.observe(events);
    this.#watchable.notify(events);
  }

  #dropLease(lease: Lease): void {
    const deletes = [...lease.keys].sort().map((key): KvWrite => ({ op: 'delete', key }));
    if (this.#perKeyExpiry) for (const one of deletes) this.#commit(this.#store.apply([one]));
    else if (deletes.length > 0) this.#commit(this.#store.apply(deletes));
    this.#journal?.append({ kind: 'revoke', id: lease.id });
  }

  #startProgress(): void {
    if (this.#progressTimer !== undefined) return;
    const tick = (): void => {
      this.#watchable.notifyProgress();
      this.#progressTimer = this.#clock.setTimer(tick, this.#progressIntervalMs, { unref: true });
    };
    this.#progressTimer = this.#clock.setTimer(tick, this.#progressIntervalMs, { unref: true });
  }

  #restore(record: JournalRecord): void {
    switch (record.kind) {
      case 'start':
        this.#store.restore(record.compactRevision);
        break;
      case 'base':
        this.#store.restoreBase(record.kv);
        this.#lessor.observe([{ type: 'put', kv: record.kv }]);
        break;
      case 'event':
        this.#lessor.observe([this.#store.restoreEvent(record.kv)]);
        break;
      case 'txn':
        this.#lessor.observe(this.#store.apply(record.writes));
        break;
      case 'compact':
        this.#store.compact(record.revision);
        this.#store.scrub(Number.POSITIVE_INFINITY);
        break;
      case 'lease':
        this.#lessor.restore(record.id, record.ttlSeconds, record.expiresAtMs);
        break;
      case 'revoke':
        this.#lessor.revoke(record.id);
    }
  }

  /** Everything as records; leases come first because versions refer to them. */
  *#state(): IterableIterator<JournalRecord> {
    yield { kind: 'start', compactRevision: this.#store.compactRevision };
    for (const { id, ttlSeconds, expiresAtMs } of this.#lessor.all()) {
      yield { kind: 'lease', id, ttlSeconds, expiresAtMs };
    }
    for (const kv of this.#store.baseVersions()) yield { kind: 'base', kv };
    for (const { kv } of this.#store.log) yield { kind: 'event', kv };
  }
}

function toWrite({ type, kv }: EtcdEvent): KvWrite {
  if (type === 'delete') return { op: 'delete', key: kv.key };
  return { op: 'put', key: kv.key, value: kv.value, lease: kv.lease };
}
