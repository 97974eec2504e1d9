// Promises that settle when a synchronous condition turns true, checked whenever something happened.

type Verdict = true | Error | undefined;

interface Waiter {
  readonly check: () => Verdict;
  readonly settle: (error?: Error) => void;
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** The rejection when the signal aborts. @defaultValue the signal's reason */
  readonly onAbort?: (reason: unknown) => unknown;
}

/** Costs nothing while nobody waits. */
export class WaitSet {
  readonly #waiters = new Set<Waiter>();

  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves as soon as `check` gives true, rejects with the error it gives. */
  until(check: () => Verdict, options: WaitOptions = {}): Promise<void> {
    const { signal, onAbort = (reason: unknown) => reason } = options;
    return new Promise((resolve, reject) => {
      const first = check();
      if (first === true) return resolve();
      if (first !== undefined) return reject(first);
      if (signal?.aborted) return reject(onAbort(signal.reason));
      const abort = (): void => {
        this.#waiters.delete(waiter);
        reject(onAbort(signal?.reason));
      };
      const waiter: Waiter = {
        check,
        settle: (error) => {
          this.#waiters.delete(waiter);
          signal?.removeEventListener('abort', abort);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Something happened. */
  notify(): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of [...this.#waiters]) {
      let verdict: Verdict;
      try {
        verdict = waiter.check();
      } catch (error) {
        verdict = error instanceof Error ? error : new Error(String(error));
      }
      if (verdict === true) waiter.settle();
      else if (verdict !== undefined) waiter.settle(verdict);
    }
  }
}
