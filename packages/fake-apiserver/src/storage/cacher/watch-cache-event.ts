// One change as the ring keeps it, and the events watchers make of it. All watchers that get the same event get the same
// object, so its bytes are made once.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache.go#watchCacheEvent, cache_watcher.go#convertToWatchEvent
import type { Revision } from '../../etcd/client.ts';
import { formatResourceVersion, withResourceVersion } from '../api-object-versioner.ts';
import type { BackingEventType } from '../backing-store.ts';
import type { StorageWatchEvent } from '../interfaces.ts';
import {
  type AttributesFunc,
  matchesAttributes,
  predicateIsEmpty,
  type SelectionPredicate,
} from '../selection-predicate.ts';
import { StoredObject } from '../stored-object.ts';
import type { StoreElement } from './store-element.ts';

export class WatchCacheEvent {
  readonly type: BackingEventType;
  /** For a delete: the last content under the revision of the delete. */
  readonly element: StoreElement;
  readonly previous: StoreElement | undefined;
  readonly recordTimeMs: number;
  #modified: StorageWatchEvent | undefined;
  #deleted: StorageWatchEvent | undefined;

  constructor(type: BackingEventType, element: StoreElement, previous: StoreElement | undefined, recordTimeMs: number) {
    this.type = type;
    this.element = element;
    this.previous = previous;
    this.recordTimeMs = recordTimeMs;
  }

  get key(): string {
    return this.element.stored.key;
  }

  get revision(): Revision {
    return this.element.stored.revision;
  }

  /** What a watcher with this predicate sees of the change, undefined for nothing. */
  seenThrough(predicate: SelectionPredicate, getAttributes: AttributesFunc): StorageWatchEvent | undefined {
    const everything = predicateIsEmpty(predicate);
    const isWanted =
      this.type !== 'DELETED' && (everything || matchesAttributes(predicate, this.element.attributes(getAttributes)));
    const wasWanted =
      this.previous !== undefined &&
      (everything || matchesAttributes(predicate, this.previous.attributes(getAttributes)));
    if (isWanted) return wasWanted ? this.#asModified() : this.element.added;
    return wasWanted ? this.#asDeleted() : undefined;
  }

  #asModified(): StorageWatchEvent {
    this.#modified ??= { type: 'MODIFIED', object: this.element.stored };
    return this.#modified;
  }

  #asDeleted(): StorageWatchEvent {
    this.#deleted ??= { type: 'DELETED', object: this.#lastContent() };
    return this.#deleted;
  }

  /** Previous content with the version of the change that took it away. */
  #lastContent(): StoredObject {
    if (this.type === 'DELETED') return this.element.stored;
    const { key, object } = this.previous!.stored;
    return new StoredObject(key, withResourceVersion(object, formatResourceVersion(this.revision)), this.revision);
  }
}
