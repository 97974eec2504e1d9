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
  // Kept sorted by (at, order); the next timer is the last element.
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
    const timer: PendingTimer = { at: this.#nowMs + Math.max(delayMs, 0), order: this.#order++, run };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // A later timer goes in front; among equals the younger one does, since its order is higher.
      if (this.#timers[middle]!.at > timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return {
      cancel: () => {
        const index = this.#timers.indexOf(timer);
        if (index >= 0) this.#timers.splice(index, 1);
      },
    };
  }

  /** Runs all timers due within `ms`, in order, without letting promises settle in between. */
  advanceSync(ms: number): void {
    const end = this.#nowMs + ms;
    while (this.#fireNext(end)) {}
    this.#nowMs = end;
  }

  /** Moves time by `ms`. Before, between and after timers every promise and immediate that is ready gets to run. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settle();
    while (this.#fireNext(end)) await settle();
    this.#nowMs = end;
    await settle();
  }

  #fireNext(end: number): boolean {
    const timer = this.#timers.at(-1);
    if (timer === undefined || timer.at > end) return false;
    this.#timers.pop();
    this.#nowMs = Math.max(this.#nowMs, timer.at);
    timer.run();
    return true;
  }
}

/** Lets everything that is ready run: pending promises, ticks and immediates, but no timer. */
export function settle(): Promise<void> {
  const immediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;
  return new Promise((resolve) => (immediate ? immediate(resolve) : setTimeout(resolve, 0)));
}
