// Per key all changes since the consumer last took that key; keys in the order in which they were first touched.
// Upstream: client-go@v0.30.3:tools/cache/delta_fifo.go#DeltaFIFO
// Differs: the transform belongs to the informer and runs before the queue, so it never meets a tombstone (rule of 1.31).
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { KeyFunc } from '../store/key-func.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { Deltas, DeltaType } from './delta.ts';
import { dedupDeltas, delta } from './delta.ts';
import type { KnownObjects, Popped, Queue } from './queue.ts';

export interface DeltaFIFOOptions<T extends KubernetesObject> {
  readonly keyFunc?: KeyFunc<T> | undefined;
  /** Without it, deletions of keys that are not queued are ignored, and `resync` does nothing. */
  readonly knownObjects?: KnownObjects<T> | undefined;
  /** Items of a list come as Replaced; as Sync when false. @defaultValue true */
  readonly emitDeltaTypeReplaced?: boolean | undefined;
}

export class DeltaFIFO<T extends KubernetesObject> implements Queue<T> {
  readonly #keyFunc: KeyFunc<T>;
  readonly #knownObjects: KnownObjects<T> | undefined;
  readonly #replacedType: DeltaType;
  // Insertion order is the queue; a key is here exactly while it has deltas.
  readonly #items = new Map<string, Deltas<T>>();
  #populated = false;
  #initialPopulationCount = 0;
  #closed = false;

  constructor(options: DeltaFIFOOptions<T> = {}) {
    this.#keyFunc = options.keyFunc ?? metaNamespaceKeyFunc;
    this.#knownObjects = options.knownObjects;
    this.#replacedType = (options.emitDeltaTypeReplaced ?? true) ? 'Replaced' : 'Sync';
  }

  get length(): number {
    return this.#items.size;
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
    const key = this.#keyFunc(object);
    this.#populated = true;
    // Both have forgotten it: nobody can be told anything new.
    if (!this.#items.has(key) && !(this.#knownObjects?.has(key) ?? false)) return;
    this.#append('Deleted', object);
  }

  replace(given: readonly T[], _resourceVersion?: string, prepare?: (item: T) => T | undefined): void {
    const items = prepare === undefined ? given : given.map(prepare).filter((item) => item !== undefined);
    const listed = new Set<string>();
    for (const item of items) {
      listed.add(this.#keyFunc(item));
      this.#append(this.#replacedType, item);
    }
    let deletions = 0;
    for (const [key, deltas] of [...this.#items]) {
      if (listed.has(key)) continue;
      deletions++;
      // The newest state seen, which may itself be a deletion.
      this.#append('Deleted', deltas.at(-1)!.object, true);
      listed.add(key);
    }
    for (const key of this.#knownObjects?.keys() ?? []) {
      if (listed.has(key)) continue;
      const object = this.#knownObjects!.getByKey(key);
      if (object === undefined) continue;
      deletions++;
      this.#append('Deleted', object, true);
    }
    if (!this.#populated) {
      this.#populated = true;
      this.#initialPopulationCount = new Set([...items].map((item) => this.#keyFunc(item))).size + deletions;
    }
  }

  resync(): void {
    for (const key of this.#knownObjects?.keys() ?? []) {
      // What waits is newer than what the consumer holds.
      if (this.#items.has(key)) continue;
      const object = this.#knownObjects!.getByKey(key);
      if (object !== undefined) this.#append('Sync', object);
    }
  }

  pop(): Popped<T> | undefined {
    const first = this.#items.entries().next();
    if (first.done) return undefined;
    const [key, deltas] = first.value;
    // Before counting, so that the last item of the list still belongs to it.
    const isInInitialList = !this.hasSynced;
    this.#items.delete(key);
    if (this.#initialPopulationCount > 0) this.#initialPopulationCount--;
    return { key, deltas, isInInitialList };
  }

  processed(): void {}

  close(): void {
    this.#closed = true;
  }

  #append(type: DeltaType, object: T, finalStateUnknown = false): void {
    if (this.#closed) return;
    const key = this.#keyFunc(object);
    const deltas = this.#items.get(key);
    const entry = delta(type, object, finalStateUnknown);
    if (deltas === undefined) {
      this.#items.set(key, [entry]);
      return;
    }
    deltas.push(entry);
    dedupDeltas(deltas);
  }
}
