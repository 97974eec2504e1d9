// What the Cacher needs of the store below it beyond the common interface: a watch of everything, told by calls.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/lister_watcher.go
// Differs: upstream's reflector reads a channel; calls cost no promise per event.
import type { Revision } from '../etcd/client.ts';
import type { StorageInterface } from './interfaces.ts';
import type { StoredObject } from './stored-object.ts';

export type BackingEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface BackingWatchObserver {
  /** A deleted object comes with its last content and the revision of the delete. */
  event(type: BackingEventType, object: StoredObject): void;
  /** Everything up to this revision has been told. */
  progress(revision: Revision): void;
  /** The last call: a StatusError, or undefined when the watch ended without one. */
  ended(error: Error | undefined): void;
}

export interface BackingWatch {
  pause(): void;
  resume(): void;
  requestProgress(): void;
  /** No call after it. */
  stop(): void;
}

export interface BackingStore extends StorageInterface {
  /** All changes below a prefix (ending in '/') after a revision, with progress notifications. */
  watchAll(prefix: string, after: Revision, observer: BackingWatchObserver): BackingWatch;
}
