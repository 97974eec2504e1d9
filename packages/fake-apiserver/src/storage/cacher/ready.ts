// Whether the cache can serve: pending, ready (with a generation per time it became so), or stopped for good.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/ready.go#ready
import { newServiceUnavailable } from '@kube-rx/apimachinery';

type State = 'pending' | 'ready' | 'stopped';

interface Waiter {
  readonly resolve: (generation: number) => void;
  readonly reject: (error: unknown) => void;
}

export class Ready {
  #state: State = 'pending';
  #generation = 0;
  readonly #waiters = new Set<Waiter>();

  /** Generation while ready, else undefined. */
  check(): number | undefined {
    return this.#state === 'ready' ? this.#generation : undefined;
  }

  get state(): State {
    return this.#state;
  }

  set(ready: boolean): void {
    if (this.#state === 'stopped') return;
    if (ready && this.#state === 'pending') {
      this.#state = 'ready';
      this.#generation++;
      this.#release((waiter) => waiter.resolve(this.#generation));
    } else if (!ready) {
      this.#state = 'pending';
    }
  }

  stop(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#release((waiter) => waiter.reject(stopped()));
  }

  /**
   * The generation, at once or as soon as there is one.
   *
   * @throws StatusError 503 when the cache stops or the request ends first
   */
  wait(signal?: AbortSignal): Promise<number> {
    if (this.#state === 'stopped') return Promise.reject(stopped());
    if (signal?.aborted) return Promise.reject(expired());
    if (this.#state === 'ready') return Promise.resolve(this.#generation);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(expired());
      };
      const settle =
        <T>(finish: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', onAbort);
          finish(value);
        };
      const waiter: Waiter = { resolve: settle(resolve), reject: settle(reject) };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #release(tell: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) tell(waiter);
  }
}

const stopped = (): Error => newServiceUnavailable('apiserver cacher is stopped');
/** The real server shows the context's own text here. */
const expired = (): Error => newServiceUnavailable('context deadline exceeded');
