// Work that is done again when it fails in a way that passes.
// Upstream: client-go@v0.30.3:util/retry/util.go#OnError
import type { Clock } from '@kube-rx/apimachinery';
import { isConflict, realClock, sleep } from '@kube-rx/apimachinery';
import type { BackoffSteps } from './backoff.ts';
import { DEFAULT_RETRY, waits } from './backoff.ts';

export interface RetryOptions {
  /** @defaultValue {@link DEFAULT_RETRY} */
  readonly backoff?: BackoffSteps;
  readonly clock?: Clock;
  /** In [0, 1). @defaultValue Math.random */
  readonly random?: () => number;
  /** Ends the waiting; the rejection is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Repeats `work` while its error is retriable and tries are left; rejects with the last error of `work`. */
export async function retryOnError<R>(
  retriable: (error: unknown) => boolean,
  work: (attempt: number) => Promise<R>,
  options: RetryOptions = {},
): Promise<R> {
  const { backoff = DEFAULT_RETRY, clock = realClock, random, signal } = options;
  let attempt = 0;
  for (const waitMs of waits(backoff, random)) {
    signal?.throwIfAborted();
    try {
      return await work(attempt++);
    } catch (error) {
      if (!retriable(error)) throw error;
    }
    await sleep(clock, waitMs, { signal });
  }
  signal?.throwIfAborted();
  return work(attempt);
}

/**
 * Repeats a read-change-write on a conflict. `work` must read the object from the server in each try: what a cache holds may be
 * the very state that lost.
 *
 * @example
 * await retryOnConflict(async () => {
 *   const map = await maps.get('settings');
 *   return maps.update({ ...map, data: { ...map.data, seen: 'yes' } });
 * });
 */
export function retryOnConflict<R>(work: (attempt: number) => Promise<R>, options: RetryOptions = {}): Promise<R> {
  return retryOnError(isConflict, work, options);
}
