// Reading a watch until conditions have come true, one after the other.
// Upstream: client-go@v0.30.3:tools/watch/until.go#UntilWithoutRetry, Until
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import type { LiveWatchEvent } from '../client/watch-iterable.ts';
import { WaitError } from '../errors.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import type { RetryWatcherOptions } from './retry-watcher.ts';
import { retryWatch } from './retry-watcher.ts';

export type EventCondition<T extends KubernetesObject> = (event: LiveWatchEvent<T>) => boolean | Promise<boolean>;

export interface UntilOptions {
  /** @defaultValue without end */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the event that made the last condition true. When one has come true the next is asked about the same event first.
 * Rejects with a WaitError WATCH_CLOSED when the events end before, TIMED_OUT, what the events or a condition throw, or the
 * signal's reason. With no condition it resolves with undefined at once.
 */
export async function untilWithoutRetry<T extends KubernetesObject>(
  open: (signal: AbortSignal) => AsyncIterable<LiveWatchEvent<T>>,
  conditions: readonly EventCondition<T>[],
  options: UntilOptions = {},
): Promise<LiveWatchEvent<T> | undefined> {
  const { clock = realClock, timeoutMs } = options;
  if (conditions.length === 0) return undefined;
  const child = childSignal(options.signal);
  const timer =
    timeoutMs === undefined
      ? undefined
      : clock.setTimer(
          () => child.abort(new WaitError('TIMED_OUT', `the conditions were not met within ${timeoutMs} ms`)),
          timeoutMs,
        );
  try {
    let met = 0;
    for await (const event of open(child.signal)) {
      while (await conditions[met]!(event)) {
        met++;
        if (met === conditions.length) return event;
      }
    }
    child.signal.throwIfAborted();
    throw new WaitError('WATCH_CLOSED', `the watch ended when ${met} of ${conditions.length} conditions were met`);
  } finally {
    timer?.cancel();
    child.release();
  }
}

/** As {@link untilWithoutRetry} over a RetryWatcher from a known version. A 410 is thrown; {@link untilWithSync} is safe against it. */
export function until<T extends KubernetesObject>(
  watcher: Pick<ListerWatcher<T>, 'watch'>,
  conditions: readonly EventCondition<T>[],
  options: UntilOptions & RetryWatcherOptions,
): Promise<LiveWatchEvent<T> | undefined> {
  return untilWithoutRetry((signal) => retryWatch(watcher, { ...options, signal }), conditions, options);
}
