// Items by the time at which they become ready; one entry an item.
// Upstream: client-go@v0.30.3:util/workqueue/delaying_queue.go#waitForPriorityQueue
import type { HeapEntry } from './indexed-heap.ts';
import { IndexedHeap } from './indexed-heap.ts';

interface Entry<T> extends HeapEntry {
  readonly item: T;
  readyAt: number;
  /** Arrival, so that equal times keep their order. */
  readonly order: number;
}

const isBefore = (a: Entry<unknown>, b: Entry<unknown>): boolean =>
  a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.order < b.order);

export class WaitingHeap<T> {
  readonly #heap = new IndexedHeap<Entry<T>>(isBefore);
  readonly #entries = new Map<T, Entry<T>>();
  #order = 0;

  get size(): number {
    return this.#heap.size;
  }

  /** When the first item becomes ready. */
  get nextReadyAt(): number | undefined {
    return this.#heap.first?.readyAt;
  }

  /** Adds an item, or moves it forward; a later time than the known one changes nothing. */
  insert(item: T, readyAt: number): void {
    const known = this.#entries.get(item);
    if (known === undefined) {
      const entry: Entry<T> = { item, readyAt, order: this.#order++, index: -1 };
      this.#entries.set(item, entry);
      this.#heap.push(entry);
    } else if (readyAt < known.readyAt) {
      known.readyAt = readyAt;
      this.#heap.update(known);
    }
  }

  /** Takes out the first item if it is ready at that time. */
  popReady(now: number): T | undefined {
    const { first } = this.#heap;
    if (first === undefined || first.readyAt > now) return undefined;
    this.remove(first.item);
    return first.item;
  }

  remove(item: T): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#entries.delete(item);
    this.#heap.remove(entry);
    return true;
  }

  clear(): void {
    this.#heap.clear();
    this.#entries.clear();
  }
}
