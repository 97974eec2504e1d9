// A delaying queue that knows how long a failed item has to wait, and the loop over it that cannot forget `done`.
// Upstream: client-go@v0.30.3:util/workqueue/rate_limiting_queue.go#rateLimitingType

import type { RateLimiter } from './default-rate-limiters.ts';
import { defaultControllerRateLimiter } from './default-rate-limiters.ts';
import type { DelayingQueueOptions } from './delaying-queue.ts';
import { DelayingQueue } from './delaying-queue.ts';
import type { WorkItem } from './work-item.ts';
import { workItem } from './work-item.ts';

export interface RateLimitingQueueOptions<T> extends DelayingQueueOptions {
  /** Of this queue alone. @defaultValue {@link defaultControllerRateLimiter} */
  readonly rateLimiter?: RateLimiter<T>;
}

/**
 * What a controller works from.
 *
 * @example
 * for await (const item of queue.items(signal)) {
 *   using job = item;                       // leaving the block without a verdict counts as a failure
 *   await work(job.key);
 *   job.succeed();
 * }
 */
export class RateLimitingQueue<T extends NonNullable<unknown>> extends DelayingQueue<T> {
  readonly #rateLimiter: RateLimiter<T>;

  constructor(options: RateLimitingQueueOptions<T> = {}) {
    super(options);
    this.#rateLimiter = options.rateLimiter ?? defaultControllerRateLimiter<T>({ clock: this.clock });
  }

  /** Adds the item after the wait that its failures have earned it. */
  addRateLimited(item: T): void {
    this.addAfter(item, this.#rateLimiter.when(item));
  }

  /** Ends the item's series of failures; it does not take it out of the queue. */
  forget(item: T): void {
    this.#rateLimiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#rateLimiter.numRequeues(item);
  }

  /**
   * Hands out items until the queue is shut down and empty or the signal aborts. Several loops may run side by side; each
   * item must be settled or disposed before the loop that got it asks for the next one.
   */
  async *items(signal?: AbortSignal): AsyncGenerator<WorkItem<T>, void, undefined> {
    for (;;) {
      const key = await this.get({ signal });
      if (key === undefined) return;
      const item = workItem(this, key);
      try {
        yield item;
      } finally {
        item[Symbol.dispose]();
      }
    }
  }
}
