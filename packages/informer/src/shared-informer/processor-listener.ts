// One handler: its events in order, one at a time, its errors kept away from the others.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#processorListener
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { HandlerError } from '../errors.ts';
import type { Live } from '../rest/resource-type.ts';
import { yieldToEventLoop } from '../rest/yield.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import type { HandlerErrorPolicy } from './event-handler.ts';
import { PendingNotifications } from './pending-notifications.ts';
import type { StoreEvent } from './store-event.ts';
import { sameResourceVersion } from './store-event.ts';
import { SyncTracker } from './sync-tracker.ts';
import { TurnBudget } from './turn-budget.ts';

export interface ProcessorListenerOptions<T extends KubernetesObject> {
  readonly name: string;
  readonly clock: Clock;
  readonly handle: (event: StoreEvent<T>) => void | Promise<void>;
  readonly buffer: BufferPolicy | 'unbounded';
  readonly onError: HandlerErrorPolicy;
  readonly upstreamHasSynced: () => boolean;
  /** Content of the store, for drop-and-resync. */
  readonly storeContent: () => Iterable<Live<T>>;
  readonly report: (error: HandlerError) => void;
  readonly stopInformer: () => void;
  /** The last object of the first state was dealt with. */
  readonly onProgress: () => void;
}

export class ProcessorListener<T extends KubernetesObject> {
  readonly #options: ProcessorListenerOptions<T>;
  readonly #pending = new PendingNotifications<T>();
  readonly #tracker: SyncTracker;
  readonly #budget: TurnBudget;
  // What the handler was told last of each object; kept for drop-and-resync only.
  readonly #told: Map<string, Live<T>> | undefined;
  #conflateAbove: number;
  #running = false;
  #insideHandler = false;
  #removed = false;
  // The store is being told as it is: what it holds beyond must not be told from the store too.
  #replaying = false;
  #idleWaiters: (() => void)[] = [];

  /** Period in effect, 0 for none; see SharedProcessor. */
  resyncPeriodMs = 0;
  requestedResyncMs = 0;
  nextResync = 0;
  syncing = false;

  constructor(options: ProcessorListenerOptions<T>) {
    this.#options = options;
    this.#tracker = new SyncTracker(options.upstreamHasSynced);
    this.#budget = new TurnBudget(options.clock);
    this.#conflateAbove = options.buffer === 'unbounded' ? Number.POSITIVE_INFINITY : options.buffer.max;
    this.#told =
      options.buffer !== 'unbounded' && options.buffer.overflow === 'drop-and-resync' ? new Map() : undefined;
  }

  get name(): string {
    return this.#options.name;
  }
  get pending(): number {
    return this.#pending.length;
  }
  get hasSynced(): boolean {
    return this.#tracker.hasSynced;
  }
  get removed(): boolean {
    return this.#removed;
  }

  /** Queues an event; a handler that is idle and synchronous has dealt with it when this returns. */
  add(event: StoreEvent<T>): void {
    if (this.#removed) return;
    if (event.type === 'added' && event.initial) this.#tracker.start();
    this.#pending.push(event);
    if (this.#pending.length > this.#conflateAbove && !this.#replaying) this.#overflow();
    if (!this.#running) this.#run();
  }

  /** The present state, in one go: the first events of this handler. */
  replay(objects: readonly Live<T>[], synced: StoreEvent<T> | undefined): void {
    this.#replaying = true;
    for (const object of objects) this.add({ type: 'added', object, initial: true, cause: 'replay' });
    if (synced !== undefined) this.add(synced);
    this.#replaying = false;
  }

  /** Drops what waits. Resolves when the running call has ended; at once from inside a synchronous handler. */
  remove(): Promise<void> {
    this.#removed = true;
    this.#pending.clear();
    if (!this.#running || this.#insideHandler) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #overflow(): void {
    const { buffer } = this.#options;
    if (buffer === 'unbounded') return;
    if (this.#told !== undefined) {
      this.#resyncFromStore(this.#told);
      return;
    }
    this.#finished(this.#pending.conflate());
    // More objects than `max` cannot be joined any further; try again only when it pays.
    this.#conflateAbove = Math.max(buffer.max, 2 * this.#pending.length);
  }

  #resyncFromStore(told: ReadonlyMap<string, Live<T>>): void {
    let synced: StoreEvent<T> | undefined;
    let dropped = 0;
    for (let event = this.#pending.shift(); event !== undefined; event = this.#pending.shift()) {
      if (event.type === 'synced') synced = event;
      else if (event.type === 'added' && event.initial) dropped++;
    }
    this.#finished(dropped);
    const gone = new Map(told);
    for (const object of this.#options.storeContent()) {
      const key = metaNamespaceKeyFunc(object);
      const previous = gone.get(key);
      gone.delete(key);
      if (previous === undefined) this.#pending.push({ type: 'added', object, initial: false, cause: 'replay' });
      else if (!sameResourceVersion(previous, object)) {
        const recreated = previous.metadata.uid !== object.metadata.uid;
        this.#pending.push({ type: 'updated', object, previous, recreated, cause: 'list' });
      }
    }
    for (const object of gone.values()) {
      this.#pending.push({ type: 'deleted', object, finalState: 'unknown', cause: 'list' });
    }
    if (synced !== undefined) this.#pending.push(synced);
    this.#conflateAbove = Math.max(this.#conflateAbove, 2 * this.#pending.length);
  }

  /** Delivers until the queue is empty, a handler's promise is open, or the turn is used up. */
  #run(): void {
    this.#running = true;
    this.#budget.reset();
    for (let event = this.#pending.shift(); event !== undefined; event = this.#pending.shift()) {
      const result = this.#deliver(event);
      if (result !== undefined) {
        result.then(
          () => this.#settled(event, undefined, false),
          (error: unknown) => this.#settled(event, error, true),
        );
        return;
      }
      if (this.#budget.spent() && this.#pending.length > 0) {
        void yieldToEventLoop().then(() => this.#run());
        return;
      }
    }
    this.#running = false;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const waiter of waiters) waiter();
  }

  #settled(event: StoreEvent<T>, error: unknown, failed: boolean): void {
    if (failed) this.#failed(event, error);
    this.#delivered(event);
    this.#run();
  }

  #deliver(event: StoreEvent<T>): Promise<void> | undefined {
    let result: unknown;
    // Before the call: what is in the handler's hands has been told.
    if (this.#told !== undefined && event.type !== 'synced') {
      const key = metaNamespaceKeyFunc(event.object);
      if (event.type === 'deleted') this.#told.delete(key);
      else this.#told.set(key, event.object);
    }
    this.#insideHandler = true;
    try {
      result = this.#options.handle(event);
    } catch (error) {
      this.#insideHandler = false;
      this.#failed(event, error);
    }
    this.#insideHandler = false;
    if (typeof (result as { then?: unknown } | undefined)?.then === 'function') return result as Promise<void>;
    this.#delivered(event);
    return undefined;
  }

  #delivered(event: StoreEvent<T>): void {
    if (event.type === 'added' && event.initial) this.#finished(1);
  }

  /** So many initial objects are dealt with. */
  #finished(count: number): void {
    this.#tracker.finish(count);
    if (count > 0 && this.#tracker.hasSynced) this.#options.onProgress();
  }

  #failed(event: StoreEvent<T>, cause: unknown): void {
    const key = event.type === 'synced' ? '' : metaNamespaceKeyFunc(event.object);
    const { onError, name } = this.#options;
    if (onError === 'crash') {
      queueMicrotask(() => {
        throw cause;
      });
      return;
    }
    this.#options.report(new HandlerError(name, key, cause));
    if (onError === 'stop-handler') void this.remove();
    if (onError === 'stop-informer') this.#options.stopInformer();
  }
}
