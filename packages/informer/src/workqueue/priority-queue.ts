// A rate-limiting queue in which some items go first, so that what just changed is not behind the thousands of a first list.
// Upstream: controller-runtime@main:pkg/controller/priorityqueue/priorityqueue.go#priorityqueue
// Differs: a shutdown still serves what is ready, as the other queues do; low levels can be kept from starving by ageing.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import { OptionsError, realClock } from '@kube-rx/apimachinery';
import type { RateLimiter } from './default-rate-limiters.ts';
import { ItemExponentialFailureRateLimiter } from './default-rate-limiters.ts';
import { Fifo } from './fifo.ts';
import type { HeapEntry } from './indexed-heap.ts';
import { IndexedHeap } from './indexed-heap.ts';
import type { WorkQueueMetrics, WorkQueueMetricsProvider } from './metrics.ts';
import type { GetOptions } from './queue.ts';
import { QueueTimes } from './queue-times.ts';

/** For items of a first list and of resyncs: everything else goes before them. */
export const LOW_PRIORITY = -100;

export interface PriorityQueueOptions<T> {
  /** Names the queue in metrics; without it there are none. */
  readonly name?: string;
  readonly clock?: Clock;
  readonly metrics?: WorkQueueMetricsProvider;
  /** Of this queue alone. @defaultValue 5 ms doubled with each failure of an item, up to 1000 s */
  readonly rateLimiter?: RateLimiter<T>;
  /** An item that has been ready for so long, ms, counts one level higher, and so on. @defaultValue never */
  readonly ageMs?: number;
}

export interface PriorityAddOptions {
  /** Larger goes first. @defaultValue 0 */
  readonly priority?: number | undefined;
  /** Wait in ms. */
  readonly afterMs?: number | undefined;
  /** Wait as long as the item's failures have earned it; with `afterMs` the shorter wait counts. @defaultValue false */
  readonly rateLimited?: boolean | undefined;
}

interface Entry<T> extends HeapEntry {
  readonly item: T;
  priority: number;
  /** undefined when it is ready. */
  readyAt: number | undefined;
  /** When it became ready, and the order among those that did at the same time. */
  readySince: number;
  order: number;
}

/**
 * Promises those of the work queue, and: of the items that are ready the one with the highest priority comes first, among equals the one
 * that was ready first. Adding an item again can raise its priority and bring its time forward, never the reverse; one that is in hands
 * comes back with the merged priority.
 */
export class PriorityQueue<T extends NonNullable<unknown>> {
  readonly name: string;
  readonly #clock: Clock;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #times: QueueTimes<T> | undefined;
  readonly #rateLimiter: RateLimiter<T>;
  // Every item that is to be handed out: ready, waiting, or (in neither heap) until its run in progress is done.
  readonly #entries = new Map<T, Entry<T>>();
  readonly #ready: IndexedHeap<Entry<T>>;
  readonly #waiting: IndexedHeap<Entry<T>>;
  /** Items in hands and the priority they were handed out with. */
  readonly #processing = new Map<T, number>();
  readonly #workers = new Fifo<(item: T | undefined) => void>();
  #order = 0;
  #timer: ClockTimer | undefined;
  #timerAt = 0;
  #shuttingDown = false;

  constructor(options: PriorityQueueOptions<T> = {}) {
    const { ageMs = Number.POSITIVE_INFINITY } = options;
    if (!(ageMs > 0)) throw new OptionsError('ageMs', ageMs, 'a number above 0');
    this.name = options.name ?? '';
    this.#clock = options.clock ?? realClock;
    this.#metrics = this.name === '' ? undefined : options.metrics?.(this.name);
    this.#times = this.#metrics && new QueueTimes(this.#clock, this.#metrics);
    this.#rateLimiter =
      options.rateLimiter ?? new ItemExponentialFailureRateLimiter<T>({ baseDelayMs: 5, maxDelayMs: 1_000_000 });
    this.#ready = new IndexedHeap<Entry<T>>(readyOrder(ageMs));
    this.#waiting = new IndexedHeap<Entry<T>>(
      (a, b) => a.readyAt! < b.readyAt! || (a.readyAt === b.readyAt && a.order < b.order),
    );
  }

  /** Items that are ready; not those in hands and not those that wait. */
  get length(): number {
    return this.#ready.size;
  }

  get waitingLength(): number {
    return this.#waiting.size;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(item: T, options: PriorityAddOptions = {}): void {
    if (this.#shuttingDown) return;
    const { priority = 0 } = options;
    const delayMs = this.#delay(item, options);
    const known = this.#entries.get(item);
    if (known === undefined) {
      this.#insert(item, priority, delayMs);
      return;
    }
    const raised = priority > known.priority;
    if (raised) known.priority = priority;
    const readyAt = delayMs > 0 ? this.#clock.now() + delayMs : undefined;
    const earlier = known.readyAt !== undefined && (readyAt === undefined || readyAt < known.readyAt);
    if (earlier) known.readyAt = readyAt;
    if (known.index < 0) return;
    if (earlier) this.#moveForward(known);
    else if (raised && known.readyAt === undefined) {
      // It joins the end of its new level.
      known.order = this.#order++;
      known.readySince = this.#clock.now();
      this.#ready.update(known);
    }
  }

  addAfter(item: T, delayMs: number, priority?: number): void {
    this.add(item, { afterMs: delayMs, priority });
  }

  addRateLimited(item: T, priority?: number): void {
    this.add(item, { rateLimited: true, priority });
  }

  forget(item: T): void {
    this.#rateLimiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#rateLimiter.numRequeues(item);
  }

  /** The priority an item in hands was handed out with; for putting it back where it was. */
  priorityOf(item: T): number {
    return this.#processing.get(item) ?? 0;
  }

  /** The next item, when there is one; undefined once the queue is shut down and empty, or the signal aborts. */
  get(options: GetOptions = {}): Promise<T | undefined> {
    const { signal } = options;
    if (signal?.aborted) return Promise.resolve(undefined);
    const item = this.tryGet();
    if (item !== undefined || this.#shuttingDown) return Promise.resolve(item);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#workers.remove(worker);
        resolve(undefined);
      };
      const worker = (handed: T | undefined): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(handed);
      };
      this.#workers.push(worker);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  tryGet(): T | undefined {
    const entry = this.#ready.pop();
    if (entry === undefined) return undefined;
    this.#entries.delete(entry.item);
    this.#processing.set(entry.item, entry.priority);
    this.#times?.handedOut(entry.item);
    this.#metrics?.depth(this.#ready.size);
    return entry.item;
  }

  /** To be called once for every item that was handed out. */
  done(item: T): void {
    if (!this.#processing.delete(item)) return;
    this.#times?.done(item);
    const again = this.#entries.get(item);
    if (again !== undefined) this.#place(again);
  }

  /** No more adds; workers get what is ready and what comes back, then undefined. What waits is lost. */
  shutDown(): void {
    this.#shuttingDown = true;
    for (let entry = this.#waiting.pop(); entry !== undefined; entry = this.#waiting.pop())
      this.#entries.delete(entry.item);
    for (const entry of this.#entries.values()) if (entry.readyAt !== undefined) this.#entries.delete(entry.item);
    this.#arm();
    for (let worker = this.#workers.shift(); worker !== undefined; worker = this.#workers.shift()) worker(undefined);
  }

  /** Shuts down and drops everything that is not in hands. */
  discard(): void {
    this.shutDown();
    for (const item of this.#entries.keys()) this.#times?.dropped(item);
    this.#ready.clear();
    this.#entries.clear();
    this.#metrics?.depth(0);
  }

  #delay(item: T, { afterMs, rateLimited }: PriorityAddOptions): number {
    const limitedMs = rateLimited === true ? this.#rateLimiter.when(item) : undefined;
    if (afterMs !== undefined || limitedMs !== undefined) this.#metrics?.retried();
    const delayMs = Math.min(afterMs ?? Number.POSITIVE_INFINITY, limitedMs ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(delayMs) ? delayMs : 0;
  }

  #insert(item: T, priority: number, delayMs: number): void {
    const now = this.#clock.now();
    const readyAt = delayMs > 0 ? now + delayMs : undefined;
    const entry: Entry<T> = { item, priority, readyAt, readySince: now, order: this.#order++, index: -1 };
    this.#entries.set(item, entry);
    if (!this.#processing.has(item)) this.#place(entry);
  }

  #place(entry: Entry<T>): void {
    if (entry.readyAt !== undefined && entry.readyAt > this.#clock.now()) {
      this.#waiting.push(entry);
      this.#arm();
      return;
    }
    this.#becomeReady(entry);
  }

  #moveForward(entry: Entry<T>): void {
    if (entry.readyAt !== undefined) {
      this.#waiting.update(entry);
    } else {
      this.#waiting.remove(entry);
      this.#becomeReady(entry);
    }
    this.#arm();
  }

  #becomeReady(entry: Entry<T>): void {
    entry.readyAt = undefined;
    entry.order = this.#order++;
    entry.readySince = this.#clock.now();
    this.#times?.added(entry.item);
    this.#ready.push(entry);
    this.#metrics?.depth(this.#ready.size);
    const worker = this.#workers.shift();
    if (worker !== undefined) worker(this.tryGet());
  }

  #arm(): void {
    const readyAt = this.#waiting.first?.readyAt;
    if (this.#timer !== undefined && readyAt === this.#timerAt) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (readyAt === undefined) return;
    this.#timerAt = readyAt;
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      const now = this.#clock.now();
      while (this.#waiting.first !== undefined && this.#waiting.first.readyAt! <= now)
        this.#becomeReady(this.#waiting.pop()!);
      this.#arm();
    }, readyAt - this.#clock.now());
  }
}

/**
 * Without ageing by level, then by arrival. With it a level is worth `ageMs` of waiting: as all items age alike, their order does not
 * change while they wait, and the heap stays a heap.
 */
function readyOrder(ageMs: number): (a: Entry<unknown>, b: Entry<unknown>) => boolean {
  if (ageMs === Number.POSITIVE_INFINITY) {
    return (a, b) => a.priority > b.priority || (a.priority === b.priority && a.order < b.order);
  }
  const score = (entry: Entry<unknown>): number => entry.readySince - entry.priority * ageMs;
  return (a, b) => score(a) < score(b) || (score(a) === score(b) && a.order < b.order);
}
