// What both delta queues have in common.
// Upstream: client-go@v0.30.3:tools/cache/fifo.go#Queue
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { ReflectorStore } from '../reflector/reflector-store.ts';
import type { Deltas } from './delta.ts';

/** The store behind the queue: what its consumer has already taken over. */
export interface KnownObjects<T extends KubernetesObject> {
  keys(): string[];
  has(key: string): boolean;
  getByKey(key: string): T | undefined;
}

export interface Popped<T extends KubernetesObject> {
  readonly key: string;
  readonly deltas: Deltas<T>;
  /** The deltas belong to the first list. */
  readonly isInInitialList: boolean;
}

/** Filled by a reflector, emptied by a process loop, all in one thread. */
export interface Queue<T extends KubernetesObject> extends ReflectorStore<T> {
  /** Keys (DeltaFIFO) or deltas (RealFIFO) that wait. */
  readonly length: number;
  /** The first list has been taken from the queue, or there was something before it. */
  readonly hasSynced: boolean;
  /** Takes the next entry; undefined when the queue is empty. The consumer must call `processed` before the next `pop`. */
  pop(): Popped<T> | undefined;
  /** The entry popped last has been dealt with. */
  processed(): void;
  /**
   * Takes over a whole list. `prepare` is asked for each item not later than when it is popped and says what stands for it; undefined
   * leaves the item out.
   */
  replace(items: readonly T[], resourceVersion: string, prepare?: (item: T) => T | undefined): void;
  resync(): void;
  /** Nothing is accepted any more; what waits can still be popped. */
  close(): void;
  readonly closed: boolean;
}
