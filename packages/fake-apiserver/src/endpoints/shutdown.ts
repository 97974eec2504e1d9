// The end of all running watches, announced to each of them. A set instead of an AbortSignal: with thousands of watches, adding and
// removing a listener must not cost a search through the others.

export class Shutdown {
  readonly #listeners = new Set<() => void>();
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  /** Number of watches that wait for the end. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Calls the listener when the end begins, at once when it has begun. Returns how to take it back. */
  onBegin(listener: () => void): () => void {
    if (this.#begun) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  begin(): void {
    this.#begun = true;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }
}
