// One object of the cache with what selectors look at; computed when somebody asks, and once.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache.go#storeElement
import type { StorageWatchEvent } from '../interfaces.ts';
import type { AttributesFunc, ObjectAttributes } from '../selection-predicate.ts';
import type { StoredObject } from '../stored-object.ts';

export class StoreElement {
  readonly stored: StoredObject;
  #attributes: ObjectAttributes | undefined;
  #added: StorageWatchEvent | undefined;

  constructor(stored: StoredObject) {
    this.stored = stored;
  }

  get namespace(): string {
    return this.stored.object.metadata.namespace ?? '';
  }

  get name(): string {
    return this.stored.object.metadata.name ?? '';
  }

  attributes(getAttributes: AttributesFunc): ObjectAttributes {
    this.#attributes ??= getAttributes(this.stored.object);
    return this.#attributes;
  }

  /** The event of an initial state; shared by all watchers that start with this state. */
  get added(): StorageWatchEvent {
    this.#added ??= { type: 'ADDED', object: this.stored };
    return this.#added;
  }
}
