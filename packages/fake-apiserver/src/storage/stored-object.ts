// One committed state of an object and its encodings: the bytes are made once and shared by every list and watcher.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/caching_object.go
import type { Revision } from '../etcd/client.ts';
import type { ApiObject } from './api-object.ts';

/**
 * Immutable. `object` is frozen (shallowly; nobody in the server mutates it, deep down either) and has its
 * `metadata.resourceVersion`. Two StoredObjects of the same revision and key may exist when one of them was read from etcd.
 */
export class StoredObject {
  readonly key: string;
  readonly object: ApiObject;
  readonly revision: Revision;
  // Nearly all objects are wanted in one form only, and there are many objects.
  #firstIdentifier = '';
  #firstBytes: Buffer | undefined;
  #others: Map<string, Buffer> | undefined;

  constructor(key: string, object: ApiObject, revision: Revision) {
    this.key = key;
    this.object = object;
    this.revision = revision;
  }

  /** The bytes for `identifier` if they were made before. */
  made(identifier: string): Buffer | undefined {
    return identifier === this.#firstIdentifier ? this.#firstBytes : this.#others?.get(identifier);
  }

  /** Forgets all bytes: after the next write hardly anybody asks for this state, and who does can have them made again. */
  forgetEncodings(): void {
    this.#firstBytes = undefined;
    this.#firstIdentifier = '';
    this.#others = undefined;
  }

  /**
   * The bytes for `identifier`, made by `encode` on the first call and kept until they are forgotten.
   * The identifier names media type, transformation and frame, e.g. `json`, `json;watch=ADDED`, `table;include=None`.
   */
  encoding(identifier: string, encode: (object: ApiObject) => Buffer): Buffer {
    if (this.#firstBytes === undefined) {
      this.#firstBytes = encode(this.object);
      this.#firstIdentifier = identifier;
      return this.#firstBytes;
    }
    if (identifier === this.#firstIdentifier) return this.#firstBytes;
    this.#others ??= new Map();
    let bytes = this.#others.get(identifier);
    if (bytes === undefined) {
      bytes = encode(this.object);
      this.#others.set(identifier, bytes);
    }
    return bytes;
  }
}
