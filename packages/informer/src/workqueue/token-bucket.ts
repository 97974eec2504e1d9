// A token bucket that is asked, not waited on: it says how long the caller has to wait for its token.
// Upstream: golang.org/x/time/rate
import type { Clock } from '@kube-rx/apimachinery';
import { OptionsError, realClock } from '@kube-rx/apimachinery';

export interface BucketOptions {
  /** Tokens per second. */
  readonly qps: number;
  /** Tokens in the full bucket, where it starts. */
  readonly burst: number;
  readonly clock?: Clock;
}

export class TokenBucket {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  // Negative when tokens of the future are promised already.
  #tokens: number;
  #updatedAt: number;

  constructor(options: BucketOptions) {
    if (!(options.qps > 0)) throw new OptionsError('qps', options.qps, 'a number above 0');
    if (!(options.burst >= 1)) throw new OptionsError('burst', options.burst, 'a number of at least 1');
    this.#qps = options.qps;
    this.#burst = options.burst;
    this.#clock = options.clock ?? realClock;
    this.#tokens = options.burst;
    this.#updatedAt = this.#clock.now();
  }

  /** Takes a token and returns the milliseconds until it may be used, 0 when it is there. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#qps) * 1000;
  }

  /** Takes a token only when one is there. */
  tryAccept(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Gives back a token that was reserved and not used. */
  giveBack(): void {
    this.#refill();
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  #refill(): void {
    const now = this.#clock.now();
    // A clock that jumped back adds nothing.
    const elapsedMs = Math.max(0, now - this.#updatedAt);
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#qps);
    this.#updatedAt = now;
  }
}
