// Options of the resource client's calls: the wire's options and a signal.
import type {
  CreateOptions,
  DeleteOptions,
  KubernetesListObject,
  KubernetesObject,
  ListMeta,
  ListOptions,
  PatchOptions,
  UpdateOptions,
} from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';
import type { PatchType } from './patch.ts';

export interface CallOptions {
  /** Aborting ends the request; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Names one object. Without a namespace the client's own counts; a cluster-scoped resource has none. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** A name in the client's namespace, or a reference. An object's metadata is one. */
export type ObjectName = string | ObjectRef;

export interface GetCallOptions extends CallOptions {
  /** `0` accepts any cached state; absent asks for the most recent one. */
  readonly resourceVersion?: string;
}
export interface CreateCallOptions extends CallOptions, CreateOptions {}
export interface UpdateCallOptions extends CallOptions, UpdateOptions {}
export interface PatchCallOptions extends CallOptions, PatchOptions {
  /** @defaultValue `json` for a list of operations, else `merge` */
  readonly type?: PatchType;
}
export interface ApplyCallOptions extends CallOptions {
  /** Who owns the fields. @defaultValue the client's `fieldManager` */
  readonly fieldManager?: string;
  /** Takes fields from other managers instead of failing with a conflict. @defaultValue false */
  readonly force?: boolean;
  readonly dryRun?: readonly string[];
  readonly fieldValidation?: NonNullable<PatchOptions['fieldValidation']>;
}
export interface DeleteCallOptions extends CallOptions, DeleteOptions {}

type Selection = Omit<
  ListOptions,
  'watch' | 'allowWatchBookmarks' | 'sendInitialEvents' | 'limit' | 'continue' | 'timeoutSeconds'
>;

export interface ListCallOptions extends CallOptions, Selection {
  /** Objects in one answer of the server; 0 asks for all at once. @defaultValue 500 */
  readonly pageSize?: number;
  /** Whole seconds the server may take. */
  readonly timeoutSeconds?: number;
}

export interface DeleteCollectionCallOptions extends DeleteCallOptions, Selection {}

export interface WatchCallOptions extends CallOptions, Selection {
  /** Whole seconds after which the server ends the watch. @defaultValue the server decides, 30 to 60 minutes */
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** Tries after the first to open the watch. @defaultValue the REST client's */
  readonly maxRetries?: number;
}

export interface WatchIterableOptions extends WatchCallOptions {
  /** Events that may wait for the consumer before the connection is no longer read. @defaultValue 128 */
  readonly highWaterMark?: number;
}

/** All pages of a list as one. */
export interface ResourceList<T extends KubernetesObject> {
  readonly items: readonly Live<T>[];
  readonly resourceVersion: string;
}

/** One page. */
export interface ResourcePage<T extends KubernetesObject> extends ResourceList<T> {
  /** Token of the next page, empty on the last. */
  readonly continue: string;
  readonly remainingItemCount?: number | undefined;
}

/** The answer to a deletion of many. */
export interface DeletedCollection<T extends KubernetesObject> extends KubernetesListObject<T> {
  readonly metadata?: ListMeta;
}

/** The `scale` subresource. */
export interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
