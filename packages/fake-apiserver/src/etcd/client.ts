// The narrow waist under the storage layer: the part of etcd's API that an API server uses, and nothing else.
// Embedded, durable and real etcd implement it and pass the same suite.
// Upstream: etcd@v3.5.15:api/etcdserverpb/rpc.proto
//
// Keys are strings: every key an API server writes is UTF-8, and code-unit order equals byte order for all keys without
// surrogate pairs (names of built-in objects cannot contain them).

/** etcd's revision as a safe integer; only the Versioner turns one into a resourceVersion. */
export type Revision = number;
export type LeaseId = string;

export interface KeyValue {
  readonly key: string;
  /** Never mutated by anybody: the embedded store hands out its own buffer. */
  readonly value: Buffer;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** Counts the writes since the key was created. */
  readonly version: number;
  /** '' without a lease. */
  readonly lease: LeaseId;
}

export interface RangeRequest {
  readonly key: string;
  /** Exclusive end; absent for a single key. `prefixEnd(prefix)` gives the end of a prefix. */
  readonly rangeEnd?: string | undefined;
  readonly limit?: number | undefined;
  /** Past revision to read at; absent or 0 for the latest. */
  readonly revision?: Revision | undefined;
  readonly keysOnly?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  /** Serializable (local) read where the backend distinguishes; default is linearizable. */
  readonly serializable?: boolean | undefined;
}

export interface RangeResponse {
  readonly revision: Revision;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** All keys of the range at that revision, whatever the limit. */
  readonly count: number;
}

export type Compare = {
  readonly key: string;
  readonly target: 'modRevision' | 'createRevision' | 'version';
  readonly equals: number;
};

export type TxnOp =
  | { readonly op: 'put'; readonly key: string; readonly value: Buffer; readonly lease?: LeaseId | undefined }
  | { readonly op: 'delete'; readonly key: string }
  | ({ readonly op: 'range' } & RangeRequest);

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly TxnOp[];
  readonly failure: readonly TxnOp[];
}

export type TxnOpResponse =
  | { readonly op: 'put' }
  | { readonly op: 'delete'; readonly deleted: number }
  | ({ readonly op: 'range' } & RangeResponse);

export interface TxnResponse {
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly responses: readonly TxnOpResponse[];
}

export interface EtcdEvent {
  readonly type: 'put' | 'delete';
  /** For a delete: key and modRevision (of the delete) only, the value is empty. */
  readonly kv: KeyValue;
  /** Present when asked for and not compacted away. */
  readonly prevKv?: KeyValue | undefined;
}

export interface WatchRequest {
  readonly key: string;
  readonly rangeEnd?: string | undefined;
  /** First revision to deliver; absent or 0 means from now. */
  readonly startRevision?: Revision | undefined;
  readonly prevKv?: boolean | undefined;
  /** Periodic `progress` calls while nothing happens. */
  readonly progressNotify?: boolean | undefined;
}

/** Called synchronously by the embedded backend, from the stream's reader by a remote one. Must not throw. */
export interface WatchObserver {
  created?(revision: Revision): void;
  /** All events of one or more whole revisions, in revision order. */
  events(events: readonly EtcdEvent[], revision: Revision): void;
  /** Everything up to this revision has been delivered. */
  progress?(revision: Revision): void;
  /** The last call: an EtcdError (Compacted with its compactRevision, NoLeader, ...) or undefined after cancel by the backend. */
  ended(error: Error | undefined): void;
}

export interface EtcdWatch {
  /** Back-pressure: no call of `events` or `progress` between the two; etcd keeps the backlog. */
  pause(): void;
  resume(): void;
  /** Asks for one `progress` call soon. */
  requestProgress(): void;
  /** No observer call after it. Idempotent. */
  cancel(): void;
}

export interface EtcdClient extends AsyncDisposable {
  range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResponse>;
  txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResponse>;
  watch(request: WatchRequest, observer: WatchObserver): EtcdWatch;
  /** Drops history up to and including `revision` (but for what is still current). */
  compact(revision: Revision, signal?: AbortSignal): Promise<void>;
  grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<LeaseId>;
  revokeLease(lease: LeaseId, signal?: AbortSignal): Promise<void>;
  status(signal?: AbortSignal): Promise<{
    readonly revision: Revision;
    readonly compactRevision: Revision | undefined;
    readonly version: string;
    readonly dbSizeBytes: number;
  }>;
  close(): Promise<void>;
}

/** The end of the range of all keys that start with `prefix`; '' (no end) cannot occur for a non-empty ASCII prefix. */
export function prefixEnd(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
