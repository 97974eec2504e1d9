// The clock of a machine that is put to sleep: the time goes on, the process does not.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import { settle, VirtualClock } from '@kube-rx/apimachinery';

/** What timers do when the machine wakes: all that are due fire at once, or each still waits what was left of it. */
export type Waking = 'timers due' | 'timers late';

interface Pending {
  readonly due: number;
  fire(): void;
}

export class SleepingClock implements Clock {
  readonly #inner: VirtualClock = new VirtualClock();
  readonly #pending = new Set<Pending>();
  #sleptMs = 0;

  now(): number {
    return this.#inner.now() + this.#sleptMs;
  }

  setTimer(run: () => void, delayMs: number): ClockTimer {
    const pending: Pending = {
      due: this.now() + Math.max(delayMs, 0),
      fire: () => {
        timer.cancel();
        this.#pending.delete(pending);
        run();
      },
    };
    const timer = this.#inner.setTimer(() => pending.fire(), delayMs);
    this.#pending.add(pending);
    return {
      cancel: () => {
        timer.cancel();
        this.#pending.delete(pending);
      },
    };
  }

  get pendingTimers(): number {
    return this.#pending.size;
  }

  advance(ms: number): Promise<void> {
    return this.#inner.advance(ms);
  }

  async sleep(ms: number, waking: Waking): Promise<void> {
    this.#sleptMs += ms;
    if (waking === 'timers due') {
      const due = [...this.#pending].filter((each) => each.due <= this.now()).sort((a, b) => a.due - b.due);
      for (const each of due) if (this.#pending.has(each)) each.fire();
    }
    await settle();
  }
}
