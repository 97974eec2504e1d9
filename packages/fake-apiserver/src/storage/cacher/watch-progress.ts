// Asks etcd how far it is while somebody waits for a revision that an idle resource would not reach by itself.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_progress.go#conditionalProgressRequester
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';

export class ConditionalProgressRequester {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #request: () => void;
  #waiting = 0;
  #timer: ClockTimer | undefined;

  constructor(clock: Clock, periodMs: number, request: () => void) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#request = request;
  }

  add(): void {
    this.#waiting++;
    if (this.#timer === undefined) this.#tick();
  }

  remove(): void {
    this.#waiting--;
    if (this.#waiting === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #tick(): void {
    this.#timer = this.#clock.setTimer(() => this.#tick(), this.#periodMs, { unref: true });
    this.#request();
  }
}
