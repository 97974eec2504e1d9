// Stored bytes as objects. Each buffer is decoded at most once, however many lists and watches read it, and not at all in
// the process that wrote it.
import { newUnknownError, StatusError } from '@kube-rx/apimachinery';
import type { KeyValue, Revision } from '../../etcd/client.ts';
import type { ApiObject } from '../api-object.ts';
import { formatResourceVersion, withResourceVersion } from '../api-object-versioner.ts';
import type { Counter } from '../metrics.ts';
import type { StorageCodec } from '../storage-factory.ts';
import { StoredObject } from '../stored-object.ts';

type Read = (key: string, data: Buffer, revision: Revision) => ApiObject;

/** A state that was read from or written to etcd, with its stored bytes. */
export class EtcdStoredObject extends StoredObject {
  readonly data: Buffer;
  readonly #read: Read;

  constructor(key: string, object: ApiObject, revision: Revision, data: Buffer, read: Read) {
    super(key, object, revision);
    this.data = data;
    this.#read = read;
  }

  protected override readAgain(): ApiObject {
    return this.#read(this.key, this.data, this.revision);
  }
}

export class Decoder {
  readonly #codec: StorageCodec;
  readonly #errors: Counter;
  // The embedded etcd hands out the buffer it was given; a remote one makes new ones, which just never hit.
  readonly #decoded = new WeakMap<Buffer, EtcdStoredObject>();
  readonly #writing = new WeakMap<Buffer, ApiObject>();
  readonly #readAgain: Read = (key, data, revision) =>
    withResourceVersion(this.#read(key, data), formatResourceVersion(revision));

  constructor(codec: StorageCodec, errors: Counter) {
    this.#codec = codec;
    this.#errors = errors;
  }

  /** @throws StatusError 500 for bytes the codec cannot read */
  decode(kv: KeyValue): EtcdStoredObject {
    const known = this.#decoded.get(kv.value);
    if (known !== undefined && known.revision === kv.modRevision && known.key === kv.key) return known;
    const object = this.#writing.get(kv.value) ?? this.#read(kv.key, kv.value);
    return this.#remember(kv.key, object, kv.modRevision, kv.value);
  }

  /**
   * Announces bytes that are about to be written. Watchers are told of them before the writer is, and are to share what the
   * writer gets.
   */
  writing(object: ApiObject, data: Buffer): void {
    this.#writing.set(data, this.#codec.readBack?.(object, data) ?? object);
  }

  /** The state that was just written. */
  written(key: string, object: ApiObject, revision: Revision, data: Buffer): EtcdStoredObject {
    const result = this.#writing.get(data) ?? object;
    this.#writing.delete(data);
    const known = this.#decoded.get(data);
    return known !== undefined && known.revision === revision ? known : this.#remember(key, result, revision, data);
  }

  /** The last content of a deleted object under the revision of the delete. */
  deleted(last: KeyValue, revision: Revision): StoredObject {
    return this.deletedForm(this.decode(last), revision);
  }

  deletedForm({ key, object }: StoredObject, revision: Revision): StoredObject {
    return new StoredObject(key, withResourceVersion(object, formatResourceVersion(revision)), revision);
  }

  #read(key: string, data: Buffer): ApiObject {
    try {
      return this.#codec.decode(data);
    } catch (error) {
      this.#errors.inc();
      const why = error instanceof Error ? error.message : String(error);
      throw new StatusError(newUnknownError(`unable to decode the object at ${key}: ${why}`).status, {
        cause: error,
      });
    }
  }

  #remember(key: string, object: ApiObject, revision: Revision, data: Buffer): EtcdStoredObject {
    const versioned = withResourceVersion(object, formatResourceVersion(revision));
    const stored = new EtcdStoredObject(key, versioned, revision, data, this.#readAgain);
    this.#decoded.set(data, stored);
    return stored;
  }
}
