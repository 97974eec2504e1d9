// How long an item that failed has to wait.
// Upstream: client-go@v0.30.3:util/workqueue/default_rate_limiters.go
import type { Clock } from '@kube-rx/apimachinery';
import { OptionsError } from '@kube-rx/apimachinery';
import { TokenBucket } from './token-bucket.ts';

/** One instance belongs to one queue: two queues on one limiter would forget each other's failures. */
export interface RateLimiter<T> {
  /** Counts a failure of the item and returns the milliseconds until its next try. */
  when(item: T): number;
  /** The item succeeded or is given up. */
  forget(item: T): void;
  /** Failures of the item since the last `forget`. */
  numRequeues(item: T): number;
}

class FailureCounts<T> {
  readonly #failures = new Map<T, number>();

  /** Failures before this one. */
  count(item: T): number {
    const before = this.of(item);
    this.#failures.set(item, before + 1);
    return before;
  }

  of(item: T): number {
    return this.#failures.get(item) ?? 0;
  }

  forget(item: T): void {
    this.#failures.delete(item);
  }
}

export interface ItemExponentialFailureOptions {
  /** Wait after the first failure in ms. */
  readonly baseDelayMs: number;
  /** Longest wait in ms. */
  readonly maxDelayMs: number;
}

/** `baseDelayMs` doubled with each failure of the item, up to `maxDelayMs`. */
export class ItemExponentialFailureRateLimiter<T> implements RateLimiter<T> {
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #failures = new FailureCounts<T>();

  constructor(options: ItemExponentialFailureOptions) {
    this.#baseDelayMs = notNegative('baseDelayMs', options.baseDelayMs);
    this.#maxDelayMs = notNegative('maxDelayMs', options.maxDelayMs);
  }

  when(item: T): number {
    return Math.min(this.#baseDelayMs * 2 ** Math.min(this.#failures.count(item), 1023), this.#maxDelayMs);
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.of(item);
  }
}

export interface ItemFastSlowOptions {
  readonly fastDelayMs: number;
  readonly slowDelayMs: number;
  /** Failures that get the fast delay. */
  readonly maxFastAttempts: number;
}

/** A short wait for the first failures, a long one for the others. */
export class ItemFastSlowRateLimiter<T> implements RateLimiter<T> {
  readonly #options: ItemFastSlowOptions;
  readonly #failures = new FailureCounts<T>();

  constructor(options: ItemFastSlowOptions) {
    notNegative('fastDelayMs', options.fastDelayMs);
    notNegative('slowDelayMs', options.slowDelayMs);
    this.#options = options;
  }

  when(item: T): number {
    const { fastDelayMs, slowDelayMs, maxFastAttempts } = this.#options;
    return this.#failures.count(item) < maxFastAttempts ? fastDelayMs : slowDelayMs;
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.of(item);
  }
}

/** One bucket for all items; it remembers no failures. */
export class BucketRateLimiter<T> implements RateLimiter<T> {
  readonly #bucket: TokenBucket;

  constructor(bucket: TokenBucket) {
    this.#bucket = bucket;
  }

  when(_item: T): number {
    return this.#bucket.reserve();
  }

  forget(_item: T): void {}

  numRequeues(_item: T): number {
    return 0;
  }
}

/** The longest wait of several limiters; each of them is charged. */
export class MaxOfRateLimiter<T> implements RateLimiter<T> {
  readonly #limiters: readonly RateLimiter<T>[];

  constructor(limiters: readonly RateLimiter<T>[]) {
    this.#limiters = limiters;
  }

  when(item: T): number {
    return this.#max((limiter) => limiter.when(item));
  }

  forget(item: T): void {
    for (const limiter of this.#limiters) limiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#max((limiter) => limiter.numRequeues(item));
  }

  #max(of: (limiter: RateLimiter<T>) => number): number {
    return this.#limiters.reduce((most, limiter) => Math.max(most, of(limiter)), 0);
  }
}

/** Another limiter, never longer than a bound. */
export class WithMaxWaitRateLimiter<T> implements RateLimiter<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #maxDelayMs: number;

  constructor(limiter: RateLimiter<T>, maxDelayMs: number) {
    this.#limiter = limiter;
    this.#maxDelayMs = notNegative('maxDelayMs', maxDelayMs);
  }

  when(item: T): number {
    return Math.min(this.#maxDelayMs, this.#limiter.when(item));
  }

  forget(item: T): void {
    this.#limiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }
}

/** Exponential per item from 1 ms to 1000 s. */
export function defaultItemBasedRateLimiter<T>(): RateLimiter<T> {
  return new ItemExponentialFailureRateLimiter<T>({ baseDelayMs: 1, maxDelayMs: 1_000_000 });
}

/** Exponential per item from 5 ms to 1000 s, and 10 tries a second with bursts of 100 over all items. */
export function defaultControllerRateLimiter<T>(options: { readonly clock?: Clock } = {}): RateLimiter<T> {
  return new MaxOfRateLimiter<T>([
    new ItemExponentialFailureRateLimiter<T>({ baseDelayMs: 5, maxDelayMs: 1_000_000 }),
    new BucketRateLimiter<T>(new TokenBucket({ qps: 10, burst: 100, ...options })),
  ]);
}

function notNegative(option: string, value: number): number {
  if (!(value >= 0)) throw new OptionsError(option, value, 'a number of milliseconds, at least 0');
  return value;
}
