// Who owns what and how it ends: the composite every long-lived object of this workspace builds on.

export type Finalizer = () => void | Promise<void>;

/**
 * Collects finalizers and runs them once, in reverse order. A finalizer added late runs at once. All run even when some
 * throw; their errors come out together as an AggregateError. `signal` aborts before the first finalizer runs.
 *
 * @example
 * const lifecycle = new Lifecycle();
 * const stream = open();
 * lifecycle.defer(() => stream.destroy());
 * await lifecycle.close();
 */
export class Lifecycle implements AsyncDisposable {
  readonly #controller = new AbortController();
  readonly #finalizers: Finalizer[] = [];
  #closing: Promise<void> | undefined;

  /** Aborted when the owner closes; hand it to everything that is started on the owner's behalf. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Registers a finalizer and returns a function that takes it back. */
  defer(finalizer: Finalizer): () => void {
    if (this.#closing !== undefined) {
      this.#closing = Promise.allSettled([this.#closing, callSafely(finalizer)]).then(rethrow);
      return () => {};
    }
    this.#finalizers.push(finalizer);
    return () => {
      const index = this.#finalizers.lastIndexOf(finalizer);
      if (index >= 0) this.#finalizers.splice(index, 1);
    };
  }

  /** Idempotent: every call returns the end of the same closing. */
  close(reason?: unknown): Promise<void> {
    if (this.#closing === undefined) {
      // The promise must exist before abort listeners run, so that a re-entrant close finds it.
      let start!: (value: Promise<void>) => void;
      this.#closing = new Promise<void>((resolve) => {
        start = resolve;
      });
      this.#controller.abort(reason);
      start(this.#runAll());
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #runAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let finalizer = this.#finalizers.pop(); finalizer !== undefined; finalizer = this.#finalizers.pop()) {
      try {
        await finalizer();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} finalizer(s) failed while closing`);
  }
}

async function callSafely(finalizer: Finalizer): Promise<void> {
  await finalizer();
}

function rethrow(results: readonly PromiseSettledResult<void>[]): void {
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} finalizer(s) failed while closing`);
}
