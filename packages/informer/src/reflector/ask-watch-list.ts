// `initial: 'auto'`: whether to stream the list, answered soon whatever the server does.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { WatchListSupport } from '../rest/watch-list-support.ts';

/** How long the question may hold up the first request; a list costs no more than that. */
const DEADLINE_MS = 1_000;

/**
 * Calls back exactly once: at once when the answer is known or there is nobody to ask, else when the server has answered, with false when
 * it has not within a second. The timer is that deadline. With the signal the question itself ends.
 */
export function askWatchList(
  support: WatchListSupport | undefined,
  timing: { readonly clock: Clock; readonly unref: boolean },
  signal: AbortSignal,
  answer: (supported: boolean) => void,
): ClockTimer | undefined {
  const { clock, unref } = timing;
  const known = support?.known(clock.now());
  if (support === undefined || known !== undefined) {
    answer(known ?? false);
    return undefined;
  }
  let answered = false;
  const once = (supported: boolean): void => {
    if (answered) return;
    answered = true;
    timer.cancel();
    answer(supported);
  };
  const timer = clock.setTimer(() => once(false), DEADLINE_MS, { unref });
  support.ask(signal).then(once);
  return timer;
}
