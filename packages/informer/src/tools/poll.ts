// Asking again and again until something is true; watch where that is possible.
// Upstream: apimachinery@v0.30.3:pkg/util/wait/poll.go#PollUntilContextTimeout
import type { Clock } from '@kube-rx/apimachinery';
import { OptionsError, realClock, sleep } from '@kube-rx/apimachinery';
import { WaitError } from '../errors.ts';

export interface PollOptions {
  /** From the end of one try to the next, ms. */
  readonly intervalMs: number;
  /** @defaultValue without end */
  readonly timeoutMs?: number;
  /** The first try comes at once. @defaultValue true */
  readonly immediate?: boolean;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the first answer that is neither false, null nor undefined. Rejects with what `condition` throws, with a WaitError
 * TIMED_OUT, or with the signal's reason.
 */
export async function poll<R>(
  condition: () => Promise<R | false | null | undefined> | R | false | null | undefined,
  options: PollOptions,
): Promise<R> {
  const { intervalMs, timeoutMs = Number.POSITIVE_INFINITY, immediate = true, clock = realClock, signal } = options;
  if (!(intervalMs >= 0)) throw new OptionsError('intervalMs', intervalMs, 'a number of at least 0');
  const deadline = clock.now() + timeoutMs;
  if (!immediate) await sleep(clock, Math.min(intervalMs, timeoutMs), { signal });
  for (;;) {
    signal?.throwIfAborted();
    if (immediate || clock.now() < deadline) {
      const answer = await condition();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
    }
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) throw new WaitError('TIMED_OUT', `the condition was not met within ${timeoutMs} ms`);
    await sleep(clock, Math.min(intervalMs, leftMs), { signal });
  }
}
