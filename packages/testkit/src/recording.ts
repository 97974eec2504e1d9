// What happened, in order, and a way to wait for what has not happened yet.

interface Waiter {
  readonly isOver: () => boolean;
  readonly resolve: () => void;
}

/**
 * A list that others can wait for.
 *
 * @example
 * const seen = new Recording<string>();
 * informer.events$.subscribe((event) => seen.push(event.type));
 * await seen.waitFor((items) => items.includes('DELETED'));
 */
export class Recording<T> {
  readonly #items: T[] = [];
  #waiters: Waiter[] = [];

  get items(): readonly T[] {
    return this.#items;
  }

  /** Arrow function, so that it can be handed over as a callback. */
  readonly push = (item: T): void => {
    this.#items.push(item);
    const over = this.#waiters.filter((waiter) => waiter.isOver());
    if (over.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !over.includes(waiter));
    for (const waiter of over) waiter.resolve();
  };

  /** Takes out everything so far. */
  take(): T[] {
    return this.#items.splice(0);
  }

  /** Resolves as soon as the condition holds. There is no timeout but that of the test; `signal` gives up earlier. */
  waitFor(condition: (items: readonly T[]) => boolean, signal?: AbortSignal): Promise<void> {
    if (condition(this.#items)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        isOver: () => condition(this.#items),
        resolve: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#waiters.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Resolves when there are at least `count` items. */
  waitForCount(count: number, signal?: AbortSignal): Promise<void> {
    return this.waitFor((items) => items.length >= count, signal);
  }
}
