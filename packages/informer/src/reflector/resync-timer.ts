// When the store is asked to resync: one timer for each list-and-watch cycle, armed anew after each run.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#startResync
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';

export interface ResyncTimerOptions {
  readonly clock: Clock;
  /** 0 turns it off. */
  readonly periodMs: () => number;
  /** Asked when the timer fires. */
  readonly shouldResync: () => boolean;
  readonly resync: () => void;
  /** `resync` threw; the timer does not run again until it is started. */
  readonly onError: (error: unknown) => void;
}

export class ResyncTimer {
  readonly #options: ResyncTimerOptions;
  #timer: ClockTimer | undefined;

  constructor(options: ResyncTimerOptions) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    const periodMs = this.#options.periodMs();
    if (periodMs > 0) this.#timer = this.#options.clock.setTimer(() => this.#fire(), periodMs);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    try {
      if (this.#options.shouldResync()) this.#options.resync();
    } catch (error) {
      this.#options.onError(error);
      return;
    }
    this.start();
  }
}
