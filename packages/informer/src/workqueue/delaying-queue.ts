// A work queue that also takes items which are not ready yet.
// Upstream: client-go@v0.30.3:util/workqueue/delaying_queue.go#delayingType
// Differs: no hand-over buffer and no heartbeat, one timer for the earliest item; a strict mode forgets the waiting entry when
// the item is added at once (kubernetes#112325).
import type { ClockTimer } from '@kube-rx/apimachinery';
import type { WorkQueueOptions } from './queue.ts';
import { WorkQueue } from './queue.ts';
import { WaitingHeap } from './waiting-heap.ts';

export interface DelayingQueueOptions extends WorkQueueOptions {
  /**
   * What `add` does to a waiting entry of the same item: `keep` lets it run again when its time comes, as client-go does;
   * `forget` takes the entry out.
   * @defaultValue 'keep'
   */
  readonly onAddWhileWaiting?: 'keep' | 'forget';
}

/**
 * A {@link WorkQueue} with `addAfter`. Waiting items do not count in `length` and are lost at shutdown.
 *
 * @example
 * queue.addAfter('default/web', 30_000);
 */
export class DelayingQueue<T extends NonNullable<unknown>> extends WorkQueue<T> {
  readonly #waiting = new WaitingHeap<T>();
  readonly #forgetOnAdd: boolean;
  #timer: ClockTimer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: DelayingQueueOptions = {}) {
    super(options);
    this.#forgetOnAdd = options.onAddWhileWaiting === 'forget';
  }

  /** Items whose time has not come. */
  get waitingLength(): number {
    return this.#waiting.size;
  }

  override add(item: T): void {
    if (this.#forgetOnAdd && this.#waiting.remove(item)) this.#arm();
    super.add(item);
  }

  /** Adds the item after that many milliseconds; of several waits the earliest end counts. 0 or less adds at once. */
  addAfter(item: T, delayMs: number): void {
    if (this.shuttingDown) return;
    this.metrics?.retried();
    if (!(delayMs > 0)) {
      this.add(item);
      return;
    }
    this.#waiting.insert(item, this.clock.now() + delayMs);
    this.#arm();
  }

  /** Takes a waiting item out; false when it was not waiting. */
  cancelWaiting(item: T): boolean {
    const removed = this.#waiting.remove(item);
    if (removed) this.#arm();
    return removed;
  }

  override shutDown(): void {
    this.#dropWaiting();
    super.shutDown();
  }

  override discard(): void {
    this.#dropWaiting();
    super.discard();
  }

  override shutDownWithDrain(): Promise<void> {
    this.#dropWaiting();
    return super.shutDownWithDrain();
  }

  #dropWaiting(): void {
    this.#waiting.clear();
    this.#arm();
  }

  #arm(): void {
    const next = this.#waiting.nextReadyAt;
    if (next === undefined) {
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#timerAt = Number.POSITIVE_INFINITY;
    } else if (this.#timer === undefined || next !== this.#timerAt) {
      this.#timer?.cancel();
      this.#timerAt = next;
      this.#timer = this.clock.setTimer(() => this.#fire(), next - this.clock.now());
    }
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.clock.now();
    for (let item = this.#waiting.popReady(now); item !== undefined; item = this.#waiting.popReady(now))
      super.add(item);
    this.#arm();
  }
}
