// Bookkeeping behind the metrics of a queue: when an item was added and when its work began.
// Upstream: client-go@v0.30.3:util/workqueue/metrics.go#defaultQueueMetrics
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { WorkQueueMetrics } from './metrics.ts';
import { UNFINISHED_WORK_PERIOD_MS } from './metrics.ts';

const seconds = (ms: number): number => ms / 1000;

export class QueueTimes<T> {
  readonly #clock: Clock;
  readonly #metrics: WorkQueueMetrics;
  readonly #addedAt = new Map<T, number>();
  readonly #startedAt = new Map<T, number>();
  #refresh: ClockTimer | undefined;

  constructor(clock: Clock, metrics: WorkQueueMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  added(item: T): void {
    this.#metrics.added();
    if (!this.#addedAt.has(item)) this.#addedAt.set(item, this.#clock.now());
  }

  handedOut(item: T): void {
    const now = this.#clock.now();
    const addedAt = this.#addedAt.get(item);
    if (addedAt !== undefined) this.#metrics.queueDuration(seconds(now - addedAt));
    this.#addedAt.delete(item);
    this.#startedAt.set(item, now);
    this.#arm();
  }

  done(item: T): void {
    const startedAt = this.#startedAt.get(item);
    if (startedAt === undefined) return;
    this.#startedAt.delete(item);
    this.#metrics.workDuration(seconds(this.#clock.now() - startedAt));
    if (this.#startedAt.size === 0) this.#publish();
  }

  /** The item left the queue without being worked on. */
  dropped(item: T): void {
    this.#addedAt.delete(item);
  }

  #arm(): void {
    this.#refresh ??= this.#clock.setTimer(
      () => {
        this.#refresh = undefined;
        this.#publish();
        if (this.#startedAt.size > 0) this.#arm();
      },
      UNFINISHED_WORK_PERIOD_MS,
      { unref: true },
    );
  }

  #publish(): void {
    const now = this.#clock.now();
    let sum = 0;
    let longest = 0;
    for (const startedAt of this.#startedAt.values()) {
      const running = now - startedAt;
      sum += running;
      longest = Math.max(longest, running);
    }
    this.#metrics.unfinishedWork(seconds(sum));
    this.#metrics.longestRunningProcessor(seconds(longest));
    if (this.#startedAt.size === 0) {
      this.#refresh?.cancel();
      this.#refresh = undefined;
    }
  }
}
