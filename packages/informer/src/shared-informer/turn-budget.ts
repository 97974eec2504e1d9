// How long synchronous work may go on before the event loop gets a turn.
import type { Clock } from '@kube-rx/apimachinery';

/** Longest uninterrupted run in ms. */
export const TURN_MS = 8;

/** Looking at the clock for every item would cost more than small items do. */
const CHECK_EVERY = 16;

/** On a clock that stands still the budget is never used up, so that virtual runs stay in one piece. */
export class TurnBudget {
  readonly #clock: Clock;
  #startedAt: number | undefined;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  reset(): void {
    this.#startedAt = undefined;
    this.#count = 0;
  }

  /** Counts one item; true when it is time to yield. */
  spent(): boolean {
    if (++this.#count % CHECK_EVERY !== 0) return false;
    const now = this.#clock.now();
    // Most turns have less to do than it takes to get here, and need no clock.
    this.#startedAt ??= now;
    return now - this.#startedAt >= TURN_MS;
  }
}
