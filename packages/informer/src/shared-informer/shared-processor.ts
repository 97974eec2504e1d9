// Fan-out to the handlers, and who of them is due for a resync.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#sharedProcessor
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import type { ProcessorListener } from './processor-listener.ts';
import type { StoreEvent } from './store-event.ts';

/** Shortest resync period a handler gets, ms. */
export const MINIMUM_RESYNC_MS = 1000;

export class SharedProcessor<T extends KubernetesObject> {
  readonly #clock: Clock;
  // Upstream treats everybody as due until the first resync check.
  readonly #initiallySyncing: boolean;
  #listeners: readonly ProcessorListener<T>[] = [];

  constructor(clock: Clock, initiallySyncing: boolean) {
    this.#clock = clock;
    this.#initiallySyncing = initiallySyncing;
  }

  get listeners(): readonly ProcessorListener<T>[] {
    return this.#listeners;
  }

  addListener(listener: ProcessorListener<T>, resyncMs: number, checkPeriodMs: number): void {
    listener.requestedResyncMs = resyncMs;
    listener.resyncPeriodMs = effectivePeriod(resyncMs, checkPeriodMs);
    listener.nextResync = this.#clock.now() + listener.resyncPeriodMs;
    listener.syncing = this.#initiallySyncing;
    this.#listeners = [...this.#listeners, listener];
  }

  removeListener(listener: ProcessorListener<T>): void {
    this.#listeners = this.#listeners.filter((each) => each !== listener);
  }

  has(listener: ProcessorListener<T>): boolean {
    return this.#listeners.includes(listener);
  }

  /** `sync` events change nothing and go only to handlers that are due for a resync. */
  distribute(event: StoreEvent<T>, sync: boolean): void {
    // A handler added or removed by one of them must not shift the others.
    for (const listener of this.#listeners) {
      if (!sync || listener.syncing) listener.add(event);
    }
  }

  /** Marks who is due; true when somebody is. */
  shouldResync(): boolean {
    const now = this.#clock.now();
    let needed = false;
    for (const listener of this.#listeners) {
      listener.syncing = listener.resyncPeriodMs > 0 && listener.nextResync <= now;
      if (!listener.syncing) continue;
      needed = true;
      listener.nextResync = now + listener.resyncPeriodMs;
    }
    return needed;
  }

  resyncCheckPeriodChanged(checkPeriodMs: number): void {
    const now = this.#clock.now();
    for (const listener of this.#listeners) {
      listener.resyncPeriodMs = effectivePeriod(listener.requestedResyncMs, checkPeriodMs);
      listener.nextResync = now + listener.resyncPeriodMs;
    }
  }
}

function effectivePeriod(requestedMs: number, checkPeriodMs: number): number {
  return requestedMs === 0 || checkPeriodMs === 0 ? 0 : Math.max(requestedMs, checkPeriodMs);
}
