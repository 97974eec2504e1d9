// Items by the time at which they become ready; one entry an item.
// Upstream: client-go@v0.30.3:util/workqueue/delaying_queue.go#waitForPriorityQueue

interface Entry<T> {
  readonly item: T;
  readyAt: number;
  /** Arrival, so that equal times keep their order. */
  readonly order: number;
  index: number;
}

/** A binary heap with the earliest entry at the root and a map to find an item's entry. */
export class WaitingHeap<T> {
  readonly #heap: Entry<T>[] = [];
  readonly #entries = new Map<T, Entry<T>>();
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  has(item: T): boolean {
    return this.#entries.has(item);
  }

  /** When the first item becomes ready. */
  get nextReadyAt(): number | undefined {
    return this.#heap[0]?.readyAt;
  }

  /** Adds an item, or moves it forward; a later time than the known one changes nothing. */
  insert(item: T, readyAt: number): void {
    const known = this.#entries.get(item);
    if (known === undefined) {
      const entry: Entry<T> = { item, readyAt, order: this.#order++, index: this.#heap.length };
      this.#entries.set(item, entry);
      this.#heap.push(entry);
      this.#up(entry.index);
    } else if (readyAt < known.readyAt) {
      known.readyAt = readyAt;
      this.#up(known.index);
    }
  }

  /** Takes out the first item if it is ready at that time. */
  popReady(now: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.readyAt > now) return undefined;
    this.#removeAt(0);
    return first.item;
  }

  remove(item: T): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#removeAt(entry.index);
    return true;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#entries.clear();
  }

  #removeAt(index: number): void {
    const entry = this.#heap[index]!;
    const last = this.#heap.pop()!;
    this.#entries.delete(entry.item);
    if (last === entry) return;
    this.#put(last, index);
    this.#up(index);
    this.#down(last.index);
  }

  #put(entry: Entry<T>, index: number): void {
    this.#heap[index] = entry;
    entry.index = index;
  }

  #up(from: number): void {
    const entry = this.#heap[from]!;
    let index = from;
    while (index > 0) {
      const parent = this.#heap[(index - 1) >>> 1]!;
      if (!isBefore(entry, parent)) break;
      const hole = parent.index;
      this.#put(parent, index);
      index = hole;
    }
    this.#put(entry, index);
  }

  #down(from: number): void {
    const entry = this.#heap[from]!;
    let index = from;
    for (;;) {
      let child = this.#heap[2 * index + 1];
      const right = this.#heap[2 * index + 2];
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) child = right;
      if (!isBefore(child, entry)) break;
      const hole = child.index;
      this.#put(child, index);
      index = hole;
    }
    this.#put(entry, index);
  }
}

const isBefore = <T>(a: Entry<T>, b: Entry<T>): boolean =>
  a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.order < b.order);
