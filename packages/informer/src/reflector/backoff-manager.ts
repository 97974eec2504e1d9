// How long to wait before the next try: exponential growth with jitter, back to the start after a quiet time. Pure.
// Upstream: apimachinery@v0.30.3:pkg/util/wait/backoff.go#NewExponentialBackoffManager
import { OptionsError } from '@kube-rx/apimachinery';

export interface BackoffOptions {
  /** First wait before jitter, ms. @defaultValue 800 */
  readonly initialMs?: number | undefined;
  /** Longest wait before jitter, ms. @defaultValue 30 000 */
  readonly maxMs?: number | undefined;
  /** Growth from one wait to the next. @defaultValue 2 */
  readonly factor?: number | undefined;
  /** A wait d becomes d + random * jitter * d. @defaultValue 1 */
  readonly jitter?: number | undefined;
  /** So long after the last wait was asked for, growth starts anew, ms. @defaultValue 120 000 */
  readonly resetMs?: number | undefined;
  /** In [0, 1). @defaultValue Math.random */
  readonly random?: (() => number) | undefined;
}

/** @example new BackoffManager({ random: () => 0 }).next(now) // 800, then 1600, 3200, ... 30000 */
export class BackoffManager {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #factor: number;
  readonly #jitter: number;
  readonly #resetMs: number;
  readonly #random: () => number;
  #nextMs: number;
  #askedAt = Number.NEGATIVE_INFINITY;
  #attempt = 0;

  constructor(options: BackoffOptions = {}) {
    this.#initialMs = positive('initialMs', options.initialMs ?? 800);
    this.#maxMs = positive('maxMs', options.maxMs ?? 30_000);
    this.#factor = options.factor ?? 2;
    if (!(this.#factor >= 1)) throw new OptionsError('factor', options.factor, 'a number of at least 1');
    this.#jitter = options.jitter ?? 1;
    if (!(this.#jitter >= 0)) throw new OptionsError('jitter', options.jitter, 'a number of at least 0');
    this.#resetMs = positive('resetMs', options.resetMs ?? 120_000);
    this.#random = options.random ?? Math.random;
    this.#nextMs = Math.min(this.#initialMs, this.#maxMs);
  }

  /** Waits since growth last started anew. */
  get attempt(): number {
    return this.#attempt;
  }

  /** The wait in ms for a failure at `now`. */
  next(now: number): number {
    if (now - this.#askedAt > this.#resetMs) {
      this.#nextMs = Math.min(this.#initialMs, this.#maxMs);
      this.#attempt = 0;
    }
    this.#askedAt = now;
    this.#attempt++;
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(waitMs * this.#factor, this.#maxMs);
    return waitMs + this.#random() * this.#jitter * waitMs;
  }
}

function positive(option: string, value: number): number {
  if (!(value > 0)) throw new OptionsError(option, value, 'a number above 0');
  return value;
}

/** Which growth a wait follows: of failures to connect, of lists, or of streams that ended too soon. */
export type BackoffKind = 'connect' | 'relist' | 'early-close';

/** One manager for each. Streams that end early may have brought events; waiting long for the next would make the cache old. */
export function createBackoffs(
  options: BackoffOptions,
  earlyCloseMs: number,
): Readonly<Record<BackoffKind, BackoffManager>> {
  return {
    connect: new BackoffManager(options),
    relist: new BackoffManager(options),
    'early-close': new BackoffManager({ ...options, maxMs: Math.max(earlyCloseMs, 1) }),
  };
}
