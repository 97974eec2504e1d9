// Empties a queue into the store and says what changed. The store is written before anybody is told.
// Upstream: client-go@v0.30.3:tools/cache/controller.go#processLoop, processDeltas
// Differs: a deletion of what the store does not hold is silent; long queues are emptied in turns.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import type { Delta } from '../queue/delta.ts';
import type { Queue } from '../queue/queue.ts';
import type { Live } from '../rest/resource-type.ts';
import { yieldToEventLoop } from '../rest/yield.ts';
import type { IndexedStore } from '../store/indexed-store.ts';
import type { StoreEvent } from './store-event.ts';
import { sameResourceVersion } from './store-event.ts';
import { TurnBudget } from './turn-budget.ts';

export interface ProcessLoopOptions<T extends KubernetesObject> {
  readonly clock: Clock;
  readonly queue: Queue<T>;
  readonly store: IndexedStore<T, string>;
  /** `unchanged`: an update whose resource version is the one the store had. */
  readonly notify: (event: StoreEvent<T>, unchanged: boolean) => void;
  /** The queue is empty. */
  readonly onDrained: () => void;
}

export class ProcessLoop<T extends KubernetesObject> {
  readonly #options: ProcessLoopOptions<T>;
  readonly #budget: TurnBudget;
  #running = false;
  #stopped = false;

  constructor(options: ProcessLoopOptions<T>) {
    this.#options = options;
    this.#budget = new TurnBudget(options.clock);
  }

  /** Works off the queue now, and in later turns what does not fit into this one. A call from inside a handler changes nothing. */
  drain(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#budget.reset();
    const { queue } = this.#options;
    for (let popped = queue.pop(); popped !== undefined; popped = queue.pop()) {
      for (const delta of popped.deltas) this.#process(popped.key, delta, popped.isInInitialList);
      queue.processed();
      if (this.#stopped) return;
      if (!this.#budget.spent() || queue.length === 0) continue;
      void yieldToEventLoop().then(() => {
        this.#running = false;
        this.drain();
      });
      return;
    }
    this.#running = false;
    this.#options.onDrained();
  }

  stop(): void {
    this.#stopped = true;
    this.#options.queue.close();
  }

  #process(key: string, delta: Delta<T>, initial: boolean): void {
    const { store, notify } = this.#options;
    const object = delta.object as Live<T>;
    if (delta.type === 'Deleted') {
      const previous = store.getByKey(key);
      if (previous === undefined) return;
      store.deleteKey(key);
      // All that was queued before has been dealt with: the last state that was known is the store's.
      if (delta.finalStateUnknown) {
        notify({ type: 'deleted', object: previous, finalState: 'unknown', cause: 'list' }, false);
      } else notify({ type: 'deleted', object, finalState: 'known', cause: 'watch' }, false);
      return;
    }
    const previous = store.swap(key, object);
    const cause = delta.type === 'Replaced' ? 'list' : 'watch';
    if (previous === undefined) {
      notify({ type: 'added', object, initial, cause }, false);
      return;
    }
    const recreated = previous.metadata?.uid !== object.metadata?.uid;
    const updated = {
      type: 'updated',
      object,
      previous,
      recreated,
      cause: delta.type === 'Sync' ? 'resync' : cause,
    } as const;
    notify(updated, sameResourceVersion(previous, object));
  }
}
