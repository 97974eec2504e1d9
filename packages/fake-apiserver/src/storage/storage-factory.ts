// How the registry gets the storage of one resource without knowing what it is made of.
import type { GroupResource } from '@kube-rx/apimachinery';
import type { ApiObject } from './api-object.ts';
import type { StorageInterface } from './interfaces.ts';
import type { AttributesFunc } from './selection-predicate.ts';

/** Turns an object into stored bytes and back. Pure; a no-op update is one whose bytes are equal. */
export interface StorageCodec {
  /** Without resourceVersion and selfLink. */
  encode(object: ApiObject): Buffer;
  /** Throws on bytes it cannot read. The result has no resourceVersion; the Versioner sets it. */
  decode(bytes: Buffer): ApiObject;
  /** `object` as a read of its `bytes` gives it. Absent where that is the object itself. */
  readBack?(object: ApiObject, bytes: Buffer): ApiObject;
}

export interface ResourceStorageConfig {
  readonly groupResource: GroupResource;
  /** Of the objects handed out, also of bookmarks. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Storage path of the resource without a trailing slash, e.g. `/registry/services/specs`. */
  readonly resourcePrefix: string;
  readonly getAttributes: AttributesFunc;
  readonly codec: StorageCodec;
  /** False for events and with `--watch-cache=false`: everything is answered by the etcd3 store. */
  readonly cached: boolean;
  /** Field whose exact value selects watchers without looking at the others: `spec.nodeName` of pods. */
  readonly triggerField?: string | undefined;
  /**
   * What a bookmark object shows besides kind, apiVersion and metadata, e.g. `{spec: {}}` for leases. Absent for custom resources:
   * they have no Go type whose zero values would show, not even in metadata.
   */
  readonly bookmarkExtra?: Readonly<Record<string, unknown>> | undefined;
}

export interface ResourceStorage extends StorageInterface, AsyncDisposable {
  readonly config: ResourceStorageConfig;
  /** Ends all watches with EOF and frees everything. */
  close(): Promise<void>;
}

export interface StorageFactory {
  /** Starts filling the cache in the background; nothing blocks. */
  create(config: ResourceStorageConfig): ResourceStorage;
}
