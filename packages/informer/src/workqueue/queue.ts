// The basic work queue: an item is handed to one worker at a time, and adds in between collapse into one further run.
// Upstream: client-go@v0.30.3:util/workqueue/queue.go#Type
// Differs: get is a promise or an iterator instead of a blocked thread; shutDownWithDrain also waits for what is still queued
// (kubernetes#141079); the queue's own order is fixed.
import type { Clock } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import { Fifo } from './fifo.ts';
import type { WorkQueueMetrics, WorkQueueMetricsProvider } from './metrics.ts';
import { QueueTimes } from './queue-times.ts';

export interface WorkQueueOptions {
  /** Names the queue in metrics; without it there are none. */
  readonly name?: string;
  /** @defaultValue the clock of the machine */
  readonly clock?: Clock;
  readonly metrics?: WorkQueueMetricsProvider;
}

export interface GetOptions {
  /** Ends the wait; the answer is then undefined. An item that was handed out already is not taken back. */
  readonly signal?: AbortSignal | undefined;
}

export interface WorkQueueInspection {
  readonly queued: number;
  readonly processing: number;
  readonly waitingWorkers: number;
  readonly shuttingDown: boolean;
}

/**
 * A queue of things to do, keyed by the item itself (compared as a Map compares its keys, so use strings for keys).
 *
 * Promises: no item is with two workers at once; an item that is added while it is worked on runs once more afterwards;
 * items come out in the order of their first add; no add is lost before {@link WorkQueue.shutDown}.
 *
 * @example
 * const queue = new WorkQueue<string>();
 * queue.add('default/web');
 * const key = await queue.get();       // undefined once the queue is shut down and empty
 * if (key !== undefined) try { await work(key); } finally { queue.done(key); }
 */
export class WorkQueue<T extends NonNullable<unknown>> {
  readonly name: string;
  protected readonly clock: Clock;
  protected readonly metrics: WorkQueueMetrics | undefined;
  readonly #times: QueueTimes<T> | undefined;
  // An item is in #queue exactly when it is dirty and not being processed.
  readonly #queue = new Fifo<T>();
  readonly #dirty = new Set<T>();
  readonly #processing = new Set<T>();
  // Workers wait only while #queue is empty.
  readonly #workers = new Fifo<(item: T | undefined) => void>();
  #drainers: (() => void)[] = [];
  #shuttingDown = false;

  constructor(options: WorkQueueOptions = {}) {
    this.name = options.name ?? '';
    this.clock = options.clock ?? realClock;
    this.metrics = this.name === '' ? undefined : options.metrics?.(this.name);
    this.#times = this.metrics && new QueueTimes(this.clock, this.metrics);
  }

  /** Items that are ready; not those in hands and not those that wait for their time. */
  get length(): number {
    return this.#queue.length;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Ignored when the item is queued already or the queue is shutting down. */
  add(item: T): void {
    if (this.#shuttingDown || this.#dirty.has(item)) return;
    this.#times?.added(item);
    this.#dirty.add(item);
    if (!this.#processing.has(item)) this.#enqueue(item);
  }

  /** The next item, when there is one; undefined once the queue is shut down and empty, or the signal aborts. */
  get(options: GetOptions = {}): Promise<T | undefined> {
    const { signal } = options;
    if (signal?.aborted) return Promise.resolve(undefined);
    const ready = this.tryGet();
    if (ready !== undefined || this.#shuttingDown) return Promise.resolve(ready);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#workers.remove(worker);
        resolve(undefined);
      };
      const worker = (item: T | undefined): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(item);
      };
      this.#workers.push(worker);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** As {@link WorkQueue.get}, without waiting. */
  tryGet(): T | undefined {
    const item = this.#queue.shift();
    if (item === undefined) return undefined;
    this.#handOut(item);
    this.metrics?.depth(this.#queue.length);
    return item;
  }

  /** To be called once for every item that was handed out, whatever came of it. */
  done(item: T): void {
    if (!this.#processing.delete(item)) return;
    this.#times?.done(item);
    if (this.#dirty.has(item)) this.#enqueue(item);
    else this.#settleDrain();
  }

  /** No more adds; workers still get what is queued, then undefined. Ends the wait of every drain. */
  shutDown(): void {
    this.#stopIntake();
    this.#releaseDrainers();
  }

  /**
   * As {@link WorkQueue.shutDown}, and resolves when nothing is queued or worked on. It needs workers that call `done`; a
   * later `shutDown` ends the wait.
   */
  shutDownWithDrain(): Promise<void> {
    this.#stopIntake();
    return new Promise((resolve) => {
      this.#drainers.push(resolve);
      this.#settleDrain();
    });
  }

  inspect(): WorkQueueInspection {
    return {
      queued: this.#queue.length,
      processing: this.#processing.size,
      waitingWorkers: this.#workers.length,
      shuttingDown: this.#shuttingDown,
    };
  }

  /** Shuts down and drops what is queued; what is in hands goes on. */
  discard(): void {
    this.#stopIntake();
    for (let item = this.#queue.shift(); item !== undefined; item = this.#queue.shift()) {
      this.#dirty.delete(item);
      this.#times?.dropped(item);
    }
    // What was added again while in hands must not come back with done().
    this.#dirty.clear();
    this.metrics?.depth(0);
    this.#settleDrain();
  }

  #enqueue(item: T): void {
    const worker = this.#workers.shift();
    if (worker !== undefined) {
      this.#handOut(item);
      worker(item);
      return;
    }
    this.#queue.push(item);
    this.metrics?.depth(this.#queue.length);
  }

  #handOut(item: T): void {
    this.#processing.add(item);
    this.#dirty.delete(item);
    this.#times?.handedOut(item);
  }

  /** Idle workers go home. An item in hands that is dirty comes back with done(), to the worker that had it. */
  #stopIntake(): void {
    this.#shuttingDown = true;
    for (let worker = this.#workers.shift(); worker !== undefined; worker = this.#workers.shift()) worker(undefined);
  }

  #settleDrain(): void {
    if (this.#queue.length === 0 && this.#processing.size === 0) this.#releaseDrainers();
  }

  #releaseDrainers(): void {
    const drainers = this.#drainers;
    this.#drainers = [];
    for (const resolve of drainers) resolve();
  }
}
