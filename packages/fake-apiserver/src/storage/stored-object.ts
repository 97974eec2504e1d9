// One committed state of an object and its encodings: the bytes are made once and shared by every list and watcher.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/caching_object.go
import type { Revision } from '../etcd/client.ts';
import type { ApiObject } from './api-object.ts';

/**
 * Immutable for its readers. `object` is frozen (shallowly; nobody in the server mutates it, deep down either) and has its
 * `metadata.resourceVersion`. Two StoredObjects of the same revision and key may exist when one of them was read from etcd.
 */
export class StoredObject {
  readonly key: string;
  readonly revision: Revision;
  #object: ApiObject | undefined;
  // Nearly all objects are wanted in one form only, and there are many objects.
  #firstIdentifier = '';
  #firstBytes: Buffer | undefined;
  #others: Map<string, Buffer> | undefined;

  constructor(key: string, object: ApiObject, revision: Revision) {
    this.key = key;
    this.#object = object;
    this.revision = revision;
  }

  get object(): ApiObject {
    this.#object ??= this.readAgain!();
    return this.#object;
  }

  /** What `object` was, for states that are kept in another form too; undefined for those that are not. */
  protected readAgain?(): ApiObject;

  /** The bytes for `identifier` if they were made before. */
  made(identifier: string): Buffer | undefined {
    return identifier === this.#firstIdentifier ? this.#firstBytes : this.#others?.get(identifier);
  }

  /**
   * Forgets what can be made again: all encodings, and the object where its stored bytes are at hand. For a state that was overwritten,
   * which hardly anybody asks for any more.
   */
  shrink(): void {
    this.#firstBytes = undefined;
    this.#firstIdentifier = '';
    this.#others = undefined;
    if (this.readAgain !== undefined) this.#object = undefined;
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
