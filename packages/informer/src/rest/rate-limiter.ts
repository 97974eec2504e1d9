// Client-side rate limit: a token bucket over the injected clock. Off unless given.
// Upstream: client-go@v0.30.3:util/flowcontrol/throttle.go#NewTokenBucketRateLimiter
import type { Clock } from '@kube-rx/apimachinery';
import { OptionsError, realClock, sleep } from '@kube-rx/apimachinery';

export interface RateLimiter {
  /** Resolves when the request may go; rejects with the signal's reason. */
  wait(signal?: AbortSignal | undefined): Promise<void>;
}

export interface TokenBucketOptions {
  /** Requests a second in the long run, above 0. */
  readonly qps: number;
  /** Requests that may go at once. */
  readonly burst: number;
  readonly clock?: Clock | undefined;
}

/** Waits in the order of the calls. */
export function tokenBucket(options: TokenBucketOptions): RateLimiter {
  const { qps, burst, clock = realClock } = options;
  if (!(qps > 0)) throw new OptionsError('qps', qps, 'a number above 0');
  if (!(burst >= 1)) throw new OptionsError('burst', burst, 'a number of at least 1');
  let tokens = burst;
  let updatedAt = clock.now();
  return {
    async wait(signal) {
      const now = clock.now();
      tokens = Math.min(burst, tokens + ((now - updatedAt) / 1000) * qps);
      updatedAt = now;
      // Going below zero reserves a place in the queue.
      tokens -= 1;
      if (tokens < 0) await sleep(clock, (-tokens / qps) * 1000, { signal });
    },
  };
}
