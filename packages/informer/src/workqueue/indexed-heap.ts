// A binary heap whose entries know their place, so that any of them can be moved or taken out.

/** Kept by the heap; -1 while the entry is in none. */
export interface HeapEntry {
  index: number;
}

/** The entry that is before all others is at the root. An entry is in one heap at most. */
export class IndexedHeap<E extends HeapEntry> {
  readonly #heap: E[] = [];
  readonly #isBefore: (a: E, b: E) => boolean;

  constructor(isBefore: (a: E, b: E) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#heap.length;
  }

  get first(): E | undefined {
    return this.#heap[0];
  }

  push(entry: E): void {
    entry.index = this.#heap.length;
    this.#heap.push(entry);
    this.#up(entry.index);
  }

  pop(): E | undefined {
    const first = this.#heap[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  remove(entry: E): void {
    const { index } = entry;
    const last = this.#heap.pop()!;
    entry.index = -1;
    if (last === entry) return;
    this.#put(last, index);
    this.update(last);
  }

  /** To be called when the order of an entry has changed. */
  update(entry: E): void {
    this.#up(entry.index);
    this.#down(entry.index);
  }

  clear(): void {
    for (const entry of this.#heap) entry.index = -1;
    this.#heap.length = 0;
  }

  #put(entry: E, index: number): void {
    this.#heap[index] = entry;
    entry.index = index;
  }

  #up(from: number): void {
    const entry = this.#heap[from]!;
    let index = from;
    while (index > 0) {
      const parent = this.#heap[(index - 1) >>> 1]!;
      if (!this.#isBefore(entry, parent)) break;
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
      if (right !== undefined && this.#isBefore(right, child)) child = right;
      if (!this.#isBefore(child, entry)) break;
      const hole = child.index;
      this.#put(child, index);
      index = hole;
    }
    this.#put(entry, index);
  }
}
