// All changes in the order of the watch, none merged.
// Upstream: client-go@v0.33.0:tools/cache/the_real_fifo.go#RealFIFO
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { KeyFunc } from '../store/key-func.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { Delta, DeltaType } from './delta.ts';
import type { KnownObjects, Popped, Queue } from './queue.ts';

export interface RealFIFOOptions<T extends KubernetesObject> {
  readonly keyFunc?: KeyFunc<T> | undefined;
  readonly knownObjects: KnownObjects<T>;
  /** Items of a list come as Replaced; as Sync when false. @defaultValue true */
  readonly emitDeltaTypeReplaced?: boolean | undefined;
}

/** One object for both saves an allocation per event. */
interface Entry<T extends KubernetesObject> extends Delta<T> {
  readonly key: string;
}

/** A list that was taken over; its items become entries when their turn comes, so that a long one is no long work. */
class ListedItems<T extends KubernetesObject> {
  readonly items: readonly T[];
  readonly prepare: ((item: T) => T | undefined) | undefined;
  next = 0;

  constructor(items: readonly T[], prepare: ((item: T) => T | undefined) | undefined) {
    this.items = items;
    this.prepare = prepare;
  }
}

export class RealFIFO<T extends KubernetesObject> implements Queue<T> {
  readonly #keyFunc: KeyFunc<T>;
  readonly #knownObjects: KnownObjects<T>;
  readonly #replacedType: DeltaType;
  #entries: (Entry<T> | ListedItems<T> | undefined)[] = [];
  #head = 0;
  #length = 0;
  #populated = false;
  #initialPopulationCount = 0;
  #closed = false;

  constructor(options: RealFIFOOptions<T>) {
    this.#keyFunc = options.keyFunc ?? metaNamespaceKeyFunc;
    this.#knownObjects = options.knownObjects;
    this.#replacedType = (options.emitDeltaTypeReplaced ?? true) ? 'Replaced' : 'Sync';
  }

  get length(): number {
    return this.#length;
  }

  get hasSynced(): boolean {
    return this.#populated && this.#initialPopulationCount === 0;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(object: T): void {
    this.#populated = true;
    this.#append('Added', object);
  }

  update(object: T): void {
    this.#populated = true;
    this.#append('Updated', object);
  }

  delete(object: T): void {
    this.#populated = true;
    this.#append('Deleted', object);
  }

  /** Deletions first, then the items: a name that moved to another key is never there twice. */
  replace(items: readonly T[], _resourceVersion?: string, prepare?: (item: T) => T | undefined): void {
    const before = this.#length;
    const known = this.#knownObjects.keys();
    if (before > 0 || known.length > 0) this.#appendDeletions(new Set(items.map((item) => this.#keyFunc(item))), known);
    if (!this.#closed && items.length > 0) {
      this.#entries.push(new ListedItems(items, prepare));
      this.#length += items.length;
    }
    if (!this.#populated) {
      this.#populated = true;
      this.#initialPopulationCount = this.#length - before;
    }
  }

  #appendDeletions(listed: ReadonlySet<string>, known: readonly string[]): void {
    const queued = new Map<string, { readonly object: T; readonly deleted: boolean }>();
    for (const [key, object, deleted] of this.#queued()) queued.set(key, { object, deleted });
    for (const [key, { object, deleted }] of queued) {
      if (!listed.has(key) && !deleted) this.#append('Deleted', object, true);
    }
    for (const key of known) {
      if (listed.has(key) || queued.has(key)) continue;
      const object = this.#knownObjects.getByKey(key);
      if (object !== undefined) this.#append('Deleted', object, true);
    }
  }

  resync(): void {
    const queued = new Set<string>();
    for (const [key] of this.#queued()) queued.add(key);
    for (const key of this.#knownObjects.keys()) {
      const object = queued.has(key) ? undefined : this.#knownObjects.getByKey(key);
      if (object !== undefined) this.#append('Sync', object);
    }
  }

  pop(): Popped<T> | undefined {
    for (;;) {
      const head = this.#entries[this.#head];
      if (head === undefined) return undefined;
      const listed = head instanceof ListedItems ? head : undefined;
      const entry = head instanceof ListedItems ? this.#nextListed(head) : head;
      if (listed === undefined || listed.next === listed.items.length) this.#dropHead();
      this.#length--;
      if (entry !== undefined) return { key: entry.key, deltas: [entry], isInInitialList: !this.hasSynced };
      // Left out counts as dealt with.
      this.processed();
    }
  }

  /** Synced means dealt with, not only taken. */
  processed(): void {
    if (this.#initialPopulationCount > 0) this.#initialPopulationCount--;
  }

  close(): void {
    this.#closed = true;
  }

  #nextListed(listed: ListedItems<T>): Entry<T> | undefined {
    const item = listed.items[listed.next++]!;
    const object = listed.prepare === undefined ? item : listed.prepare(item);
    return object === undefined ? undefined : this.#entry(this.#replacedType, object, false);
  }

  #dropHead(): void {
    this.#entries[this.#head++] = undefined;
    // Not each time it runs empty: a consumer that keeps up would get a new array with every event.
    if (this.#head > 1024 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Key, object and whether it is a deletion of all that waits, oldest first. */
  *#queued(): Generator<readonly [string, T, boolean]> {
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index]!;
      if (!(entry instanceof ListedItems)) {
        yield [entry.key, entry.object, entry.type === 'Deleted'];
        continue;
      }
      for (let next = entry.next; next < entry.items.length; next++) {
        const item = entry.items[next]!;
        yield [this.#keyFunc(item), item, false];
      }
    }
  }

  #append(type: DeltaType, object: T, finalStateUnknown = false): void {
    if (this.#closed) return;
    this.#entries.push(this.#entry(type, object, finalStateUnknown));
    this.#length++;
  }

  #entry(type: DeltaType, object: T, finalStateUnknown: boolean): Entry<T> {
    return { type, object, finalStateUnknown, key: this.#keyFunc(object) };
  }
}
