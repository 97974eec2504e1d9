// Index name -> value -> keys.
// Upstream: client-go@v0.30.3:tools/cache/thread_safe_store.go#storeIndex
import { HandlerError, InformerStateError } from '../errors.ts';

/** Values under which an object is found. */
export type IndexFunc<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly valuesOf: IndexFunc<T>;
  readonly sets: Map<string, Set<string>>;
}

const NONE: readonly string[] = [];

/**
 * Values that no object has any more leave no empty set behind. An index function that throws costs its object the place in that index
 * only; the error goes to `onError`.
 */
export class StoreIndex<T> {
  readonly #indices = new Map<string, Index<T>>();
  readonly #onError: (error: HandlerError) => void;

  constructor(onError: (error: HandlerError) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#indices.size;
  }

  names(): string[] {
    return [...this.#indices.keys()];
  }

  /** All or none: a name that is taken throws before anything is added. */
  addIndexers(indexers: Readonly<Record<string, IndexFunc<T>>>, objects: Iterable<readonly [string, T]>): void {
    const names = Object.keys(indexers);
    const taken = names.find((name) => this.#indices.has(name));
    if (taken !== undefined)
      throw new InformerStateError('DUPLICATE_INDEX', `index ${JSON.stringify(taken)} exists already`);
    for (const name of names) this.#indices.set(name, { valuesOf: indexers[name]!, sets: new Map() });
    if (names.length === 0) return;
    for (const [key, object] of objects) {
      for (const name of names) this.#updateOne(name, this.#indices.get(name)!, key, undefined, object);
    }
  }

  update(key: string, previous: T | undefined, next: T | undefined): void {
    for (const [name, index] of this.#indices) this.#updateOne(name, index, key, previous, next);
  }

  clear(): void {
    for (const index of this.#indices.values()) index.sets.clear();
  }

  keys(name: string, value: string): ReadonlySet<string> {
    return this.#index(name).sets.get(value) ?? new Set();
  }

  values(name: string): string[] {
    return [...this.#index(name).sets.keys()];
  }

  valuesOf(name: string, object: T): readonly string[] {
    return this.#index(name).valuesOf(object);
  }

  has(name: string): boolean {
    return this.#indices.has(name);
  }

  #index(name: string): Index<T> {
    const index = this.#indices.get(name);
    if (index === undefined) throw new InformerStateError('NO_INDEX', `there is no index ${JSON.stringify(name)}`);
    return index;
  }

  #updateOne(name: string, index: Index<T>, key: string, previous: T | undefined, next: T | undefined): void {
    const before = previous === undefined ? NONE : this.#safeValues(name, index, key, previous, false);
    const after = next === undefined ? NONE : this.#safeValues(name, index, key, next, true);
    // Nearly every change leaves the values as they are.
    if (before.length === 1 && after.length === 1 && before[0] === after[0]) return;
    for (const value of before) {
      const set = index.sets.get(value);
      set?.delete(key);
      if (set?.size === 0) index.sets.delete(value);
    }
    for (const value of after) {
      const set = index.sets.get(value);
      if (set === undefined) index.sets.set(value, new Set([key]));
      else set.add(key);
    }
  }

  #safeValues(name: string, index: Index<T>, key: string, object: T, report: boolean): readonly string[] {
    try {
      return index.valuesOf(object);
    } catch (cause) {
      if (report) this.#onError(new HandlerError(`index:${name}`, key, cause));
      return NONE;
    }
  }
}
