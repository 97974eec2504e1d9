// Events between the fan-out and one handler: a queue that can be conflated.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#processorListener (pendingNotifications)
// Differs: bounded by conflation; upstream's ring grows without end.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { StoreEvent } from './store-event.ts';

/** First in, first out; what is shifted is no longer referenced. */
export class PendingNotifications<T extends KubernetesObject> {
  #events: (StoreEvent<T> | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#events.length - this.#head;
  }

  push(event: StoreEvent<T>): void {
    this.#events.push(event);
  }

  shift(): StoreEvent<T> | undefined {
    const event = this.#events[this.#head];
    if (event === undefined) return undefined;
    this.#events[this.#head++] = undefined;
    // Not each time it runs empty: a handler that keeps up would get a new array with every event.
    if (this.#head > 1024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }

  clear(): void {
    this.#events = [];
    this.#head = 0;
  }

  /** Joins the events of each object, at the place of its first one; returns how many initial additions vanished. */
  conflate(): number {
    const joined = new Map<string, StoreEvent<T>>();
    const told = new Map<string, Live<T>>();
    let synced: StoreEvent<T> | undefined;
    let vanished = 0;
    for (let index = this.#head; index < this.#events.length; index++) {
      const event = this.#events[index]!;
      if (event.type === 'synced') {
        // One is enough; it says that a list is complete, which the end of the queue is too.
        synced = synced?.type === 'synced' ? { ...event, first: synced.first || event.first } : event;
        continue;
      }
      const key = metaNamespaceKeyFunc(event.object);
      const before = joined.get(key);
      // What comes in between must not hide which state the handler holds.
      if (before === undefined && event.type === 'updated') told.set(key, event.previous);
      if (before === undefined && event.type === 'deleted') told.set(key, event.object);
      const after = before === undefined ? event : join(before, event, told.get(key));
      if (after === undefined) {
        if (before?.type === 'added' && before.initial) vanished++;
        joined.delete(key);
      } else {
        // An update to the handler, so nobody will count it as an initial addition.
        if (event.type === 'added' && event.initial && after.type === 'updated') vanished++;
        joined.set(key, after);
      }
    }
    this.#events = [...joined.values()];
    this.#head = 0;
    if (synced !== undefined) this.#events.push(synced);
    return vanished;
  }
}

type ObjectEvent<T extends KubernetesObject> = Exclude<StoreEvent<T>, { type: 'synced' }>;

/** Two consecutive events of one object as one; undefined when they cancel out. `told` is what the handler saw last. */
function join<T extends KubernetesObject>(
  first: StoreEvent<T>,
  second: ObjectEvent<T>,
  told: Live<T> | undefined,
): StoreEvent<T> | undefined {
  if (first.type === 'synced') return second;
  if (second.type === 'deleted') {
    if (first.type === 'added') return undefined;
    if (told === undefined || told.metadata.uid === second.object.metadata.uid) return second;
    // Of the one that came and went the handler has never heard; what it holds is gone, too.
    return { type: 'deleted', object: told, finalState: 'unknown', cause: second.cause };
  }
  if (first.type === 'deleted') {
    const cause = second.cause === 'replay' ? 'list' : second.cause;
    return { type: 'updated', object: second.object, previous: told ?? first.object, recreated: true, cause };
  }
  if (first.type === 'added') return { ...first, object: second.object };
  const recreated = first.recreated || (second.type === 'updated' && second.recreated);
  const cause = second.cause === 'replay' ? 'list' : second.cause;
  return { type: 'updated', object: second.object, previous: first.previous, recreated, cause };
}
