// What the registry asks of storage. The etcd3 store and the Cacher in front of it both implement it, and pass one suite.
// Upstream: apiserver@v0.30.3:pkg/storage/interfaces.go#Interface
import type { Preconditions, ResourceVersionMatch, Status } from '@kube-rx/apimachinery';
import type { Revision } from '../etcd/client.ts';
import type { ApiObject } from './api-object.ts';
import type { SelectionPredicate } from './selection-predicate.ts';
import type { StoredObject } from './stored-object.ts';

export interface StorageGetOptions {
  /** '' latest, '0' any, N not older than N. Default ''. */
  readonly resourceVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StorageListOptions {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: ResourceVersionMatch | undefined;
  /** Selectors, limit, continue token, allowWatchBookmarks. */
  readonly predicate: SelectionPredicate;
  /** False when `key` names one object. Default true. */
  readonly recursive?: boolean | undefined;
  /** Watch only: three-state, absent is not false. */
  readonly sendInitialEvents?: boolean | undefined;
  /** Watch only: when the stream will be ended by its timeout, in ms of the server's clock. Bookmarks come 2 s before it. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StorageList {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: string;
  /** '' on the last page. */
  readonly continue: string;
  readonly remainingItemCount?: number | undefined;
}

export type StorageWatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly object: StoredObject }
  | { readonly type: 'ERROR'; readonly status: Status };

/**
 * One running watch, read by pull: the reader takes events while its socket has room and leaves them here when it has not.
 * The buffer is bounded; what happens when it overflows is up to the implementation (the Cacher ends the watch, the etcd3
 * store stops reading etcd).
 */
export interface StorageWatch {
  /** The next event, or undefined when none is waiting now. After an ERROR nothing follows. */
  next(): StorageWatchEvent | undefined;
  /** True when no event will come any more and none is waiting. */
  readonly done: boolean;
  /** Called (synchronously, outside `next`) whenever events became available or the watch ended. One listener; the last one set counts. */
  onReadable(listener: () => void): void;
  /** Ends the watch from the reader's side. Idempotent; waiting events are dropped. */
  stop(): void;
}

/** Result of one call of {@link StorageInterface.guaranteedUpdate}'s callback. */
export interface UpdateResult {
  readonly object: ApiObject;
  /** Lease of the new state in seconds; absent leaves the object without one. */
  readonly ttlSeconds?: number | undefined;
}

export interface GuaranteedUpdateOptions {
  /** A missing object is passed to the callback as undefined instead of failing. Default false. */
  readonly ignoreNotFound?: boolean | undefined;
  readonly preconditions?: Preconditions | undefined;
  /** A first guess at the current state, never trusted when it leads to an error or a no-op. */
  readonly cachedExistingObject?: StoredObject | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StorageDeleteOptions {
  readonly preconditions?: Preconditions | undefined;
  /** Throws to refuse. */
  readonly validateDeletion?: ((existing: StoredObject) => void | Promise<void>) | undefined;
  readonly cachedExistingObject?: StoredObject | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keys are storage paths like `/registry/configmaps/default/a`. Failures are StorageErrors (KeyNotFound, KeyExists,
 * ResourceVersionConflicts, InvalidObj, ...), which the registry turns into a Status; list and watch failures that already have
 * their final Status (410, 504, 400) are StatusErrors. Objects passed in carry no resourceVersion that matters; objects handed
 * out do.
 */
export interface StorageInterface {
  create(
    key: string,
    object: ApiObject,
    options?: { readonly ttlSeconds?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<StoredObject>;
  /** The deleted object with the revision of the delete as its resourceVersion. */
  delete(key: string, options?: StorageDeleteOptions): Promise<StoredObject>;
  get(key: string, options?: StorageGetOptions): Promise<StoredObject>;
  getList(key: string, options: StorageListOptions): Promise<StorageList>;
  /** Fails with a StatusError where the API answers with an HTTP status; later failures are ERROR events. */
  watch(key: string, options: StorageListOptions): Promise<StorageWatch>;
  /**
   * Reads, lets `tryUpdate` make the new state, writes if the stored bytes would change, and starts over on a lost race.
   * `tryUpdate` may be called several times and may be async; its argument is undefined for a missing object.
   * `unchanged` tells a no-op.
   */
  guaranteedUpdate(
    key: string,
    tryUpdate: (existing: StoredObject | undefined) => UpdateResult | Promise<UpdateResult>,
    options?: GuaranteedUpdateOptions,
  ): Promise<{ readonly stored: StoredObject; readonly unchanged: boolean }>;
  /** Number of keys under a prefix, read from etcd. */
  count(prefix: string, signal?: AbortSignal): Promise<number>;
  /** Current revision of etcd (a quorum read). */
  currentRevision(signal?: AbortSignal): Promise<Revision>;
}
