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

export class RealFIFO<T extends KubernetesObject> implements Queue<T> {
  readonly #keyFunc: KeyFunc<T>;
  readonly #knownObjects: KnownObjects<T>;
  readonly #replacedType: DeltaType;
  #entries: (Entry<T> | undefined)[] = [];
  #head = 0;
  #populated = false;
  #initialPopulationCount = 0;
  #closed = false;

  constructor(options: RealFIFOOptions<T>) {
    this.#keyFunc = options.keyFunc ?? metaNamespaceKeyFunc;
    this.#knownObjects = options.knownObjects;
    this.#replacedType = (options.emitDeltaTypeReplaced ?? true) ? 'Replaced' : 'Sync';
  }

  get length(): number {
    return this.#entries.length - this.#head;
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
  replace(items: readonly T[]): void {
    const before = this.length;
    const known = this.#knownObjects.keys();
    if (before > 0 || known.length > 0) this.#appendDeletions(new Set(items.map((item) => this.#keyFunc(item))), known);
    for (const item of items) this.#append(this.#replacedType, item);
    if (!this.#populated) {
      this.#populated = true;
      this.#initialPopulationCount = this.length - before;
    }
  }

  #appendDeletions(listed: ReadonlySet<string>, known: readonly string[]): void {
    const queued = new Map<string, Entry<T>>();
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index]!;
      queued.set(entry.key, entry);
    }
    for (const [key, last] of queued) {
      if (!listed.has(key) && last.type !== 'Deleted') this.#append('Deleted', last.object, true);
    }
    for (const key of known) {
      if (listed.has(key) || queued.has(key)) continue;
      const object = this.#knownObjects.getByKey(key);
      if (object !== undefined) this.#append('Deleted', object, true);
    }
  }

  resync(): void {
    const queued = new Set<string>();
    for (let index = this.#head; index < this.#entries.length; index++) queued.add(this.#entries[index]!.key);
    for (const key of this.#knownObjects.keys()) {
      const object = queued.has(key) ? undefined : this.#knownObjects.getByKey(key);
      if (object !== undefined) this.#append('Sync', object);
    }
  }

  pop(): Popped<T> | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#entries[this.#head++] = undefined;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return { key: entry.key, deltas: [entry], isInInitialList: !this.hasSynced };
  }

  /** Synced means dealt with, not only taken. */
  processed(): void {
    if (this.#initialPopulationCount > 0) this.#initialPopulationCount--;
  }

  close(): void {
    this.#closed = true;
  }

  #append(type: DeltaType, object: T, finalStateUnknown = false): void {
    if (this.#closed) return;
    this.#entries.push({ type, object, finalStateUnknown, key: this.#keyFunc(object) });
  }
}
