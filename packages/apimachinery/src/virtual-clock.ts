// A clock under test control: hours pass in milliseconds, in an order that depends on nothing but the calls made.
import type { Clock, ClockTimer } from './clock.ts';

interface PendingTimer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export interface VirtualClockOptions {
  /** Start in ms since 1970. Default 2024-01-01T00:00:00Z. */
  readonly startMs?: number;
}

/**
 * Time stands still until {@link VirtualClock.advance} is called. Timers due at the same instant run in the order in which
 * they were set.
 *
 * @example
 * const clock = new VirtualClock();
 * clock.setTimer(() => console.log('an hour later'), 3_600_000);
 * await clock.advance(3_600_000);
 */
export class VirtualClock implements Clock {
  #nowMs: number;
  #order = 0;
  // Sorted by (at, order), the next one last: taking it away moves nothing.
  readonly #timers: PendingTimer[] = [];

  constructor(options: VirtualClockOptions = {}) {
    this.#nowMs = options.startMs ?? Date.UTC(2024, 0, 1);
  }

  now(): number {
    return this.#nowMs;
  }

  /** Number of timers that have neither fired nor been cancelled; a leak test wants 0. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** Virtual time of the next timer, undefined when none is set. */
  get nextTimerAt(): number | undefined {
    return this.#timers.at(-1)?.at;
  }

  setTimer(run: () => void, delayMs: number): ClockTimer {
    // A delay that is no number counts as 0, as with the real clock.
    const timer: PendingTimer = { at: this.#nowMs + Math.max(delayMs || 0, 0), order: this.#order++, run };
    this.#timers.splice(this.#placeOf(timer), 0, timer);
    return {
      cancel: () => {
        const place = this.#placeOf(timer);
        if (this.#timers[place] === timer) this.#timers.splice(place, 1);
      },
    };
  }

  /** Where the timer is, or belongs: behind all that fire later. */
  #placeOf({ at, order }: PendingTimer): number {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#timers[middle]!;
      if (other.at > at || (other.at === at && other.order > order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Runs all timers due within `ms`, in order, without letting promises settle in between. */
  advanceSync(ms: number): void {
    const end = this.#nowMs + ms;
    while (this.#fireNext(end)) {}
    this.#moveTo(end);
  }

  /**
   * Moves time by `ms`. Before, between and after timers every promise and immediate that is ready gets to run. Rejects
   * with what a timer throws; time then stands at that timer.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settle();
    while (this.#fireNext(end)) await settle();
    this.#moveTo(end);
    await settle();
  }

  #fireNext(end: number): boolean {
    const timer = this.#timers.at(-1);
    if (timer === undefined || timer.at > end) return false;
    this.#timers.pop();
    this.#moveTo(timer.at);
    timer.run();
    return true;
  }

  // Never back: a timer may advance the clock itself, and two advances may overlap.
  #moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
  }
}

/** Lets everything that is ready run: pending promises, ticks and immediates, but no timer. */
export function settle(): Promise<void> {
  const immediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;
  return new Promise((resolve) => (immediate ? immediate(resolve) : setTimeout(resolve, 0)));
}
