// First in, first out in constant time. Array.shift moves every element, and a Set walks over what was deleted before.

// Below this the array is left alone: cutting it would cost more than the memory is worth.
const COMPACT_FROM = 64;

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    // The slot must not keep the item alive.
    this.#items[this.#head++] = undefined;
    if (this.#head >= COMPACT_FROM && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Takes out the first entry that is identical; linear. */
  remove(item: T): boolean {
    const index = this.#items.indexOf(item, this.#head);
    if (index < 0) return false;
    this.#items.splice(index, 1);
    return true;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
