// Waiting in virtual time for what comes over real sockets: time moves only when nothing is under way any more.
import { setTimeout as rest, setImmediate as turn } from 'node:timers/promises';
import type { VirtualClock } from '@kube-rx/apimachinery';

// Loopback bytes are there in the next turn of the event loop; only threads (compression, files) take longer.
const QUIET_TURNS = 12;
const FIRST_PATIENCE_MS = 25;
const PATIENCE_MS = 1;
// Small, so that work in a thread cannot be overtaken by the deadline of its request.
const STRIDE_MS = 200;

export class VirtualTime {
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Lets what is under way arrive, without moving time. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; turns++) await turn();
  }

  /** Moves time, timer by timer. */
  async pass(ms: number): Promise<void> {
    await this.settle();
    await this.#clock.advance(ms);
    await this.settle();
  }

  /** Moves time until the condition holds; false when it does not within `timeoutMs` of it. */
  async until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    const end = this.now() + timeoutMs;
    if (await this.#soon(condition, FIRST_PATIENCE_MS)) return true;
    while (this.now() < end) {
      const next = this.#clock.nextTimerAt ?? end;
      const stride = Math.min(Math.max(next - this.now(), 1), STRIDE_MS, end - this.now());
      await this.#clock.advance(stride);
      if (await this.#soon(condition, PATIENCE_MS)) return true;
    }
    return condition();
  }

  /** Waits for the condition in real time, as long as answers of a server in the same process take. */
  async #soon(condition: () => boolean, patienceMs: number): Promise<boolean> {
    for (let turns = 0; turns < QUIET_TURNS; turns++) {
      if (condition()) return true;
      await turn();
    }
    for (let waited = 0; waited < patienceMs && !condition(); waited++) await rest(1);
    return condition();
  }
}
