// Who owns what and how it ends: the composite every long-lived object of this workspace builds on.

export type Finalizer = () => void | Promise<void>;

/**
 * Collects finalizers and runs them once, one after another, in reverse order. All run even when some throw; their errors
 * come out of {@link Lifecycle.close} together as an AggregateError. `signal` aborts before the first finalizer runs.
 *
 * A finalizer must not wait for `close()` of the lifecycle that runs it.
 *
 * @example
 * const lifecycle = new Lifecycle();
 * const stream = open();
 * lifecycle.defer(() => stream.destroy());
 * await lifecycle.close();
 */
export class Lifecycle implements AsyncDisposable {
  readonly #controller = new AbortController();
  readonly #finalizers: { readonly run: Finalizer }[] = [];
  /** Finalizers that came after the close and are not done. */
  readonly #late = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];
  #closing: Promise<void> | undefined;
  #done = false;

  /** Aborted when the owner closes; hand it to everything that is started on the owner's behalf. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Registers a finalizer and returns a function that takes it back. After the close it runs at once, and `close()` waits
   * for it if it has not ended; once it has ended, an error only shows to those who call `close()` again.
   */
  defer(finalizer: Finalizer): () => void {
    if (this.#closing !== undefined) {
      this.#runLate(finalizer);
      return () => {};
    }
    const entry = { run: finalizer };
    this.#finalizers.push(entry);
    return () => {
      const index = this.#finalizers.lastIndexOf(entry);
      if (index >= 0) this.#finalizers.splice(index, 1);
    };
  }

  /** Idempotent: calls during the closing wait for the same end. */
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
    for (let entry = this.#finalizers.pop(); entry !== undefined; entry = this.#finalizers.pop()) {
      await this.#runOne(entry.run);
    }
    while (this.#late.size > 0) await Promise.all(this.#late);
    this.#done = true;
    this.#throwErrors();
  }

  #runLate(finalizer: Finalizer): void {
    const running = this.#runOne(finalizer).then(() => {
      this.#late.delete(running);
    });
    this.#late.add(running);
    if (!this.#done) return;
    const closing = running.then(() => this.#throwErrors());
    // Nobody may be waiting any more, and an error that nobody waits for must not end the process.
    closing.catch(() => {});
    this.#closing = closing;
  }

  async #runOne(finalizer: Finalizer): Promise<void> {
    try {
      await finalizer();
    } catch (error) {
      this.#errors.push(error);
    }
  }

  #throwErrors(): void {
    const { length } = this.#errors;
    if (length > 0) throw new AggregateError([...this.#errors], `${length} finalizer(s) failed while closing`);
  }
}
