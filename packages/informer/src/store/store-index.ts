// Index name -> value -> keys.
// Upstream: client-go@v0.30.3:tools/cache/thread_safe_store.go#storeIndex
import { HandlerError, InformerStateError } from '../errors.ts';

/** Values under which an object is found. */
export type IndexFunc<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly valuesOf: IndexFunc<T>;
  /** undefined until somebody asks, for an index that is made when it is first asked for. */
  sets: Map<string, Set<string>> | undefined;
}

const NONE: readonly string[] = [];

/**
 * Values that no object has any more leave no empty set behind. An index function that throws costs its object the place in that index
 * only; the error goes to `onError`.
 */
export class StoreIndex<T> {
  readonly #indices = new Map<string, Index<T>>();
  readonly #objects: () => Iterable<readonly [string, T]>;
  readonly #onError: (error: HandlerError) => void;
  // Those that are kept up.
  #live = 0;

  /** `objects` is what there is at the moment, for an index that comes later. */
  constructor(objects: () => Iterable<readonly [string, T]>, onError: (error: HandlerError) => void) {
    this.#objects = objects;
    this.#onError = onError;
  }

  /** Whether `update` has anything to do. */
  get isLive(): boolean {
    return this.#live > 0;
  }

  names(): string[] {
    return [...this.#indices.keys()];
  }

  /** An index that costs nothing until it is first asked for. */
  addLazily(name: string, valuesOf: IndexFunc<T>): void {
    this.#indices.set(name, { valuesOf, sets: undefined });
  }

  /** All or none: a name that is taken throws before anything is added. */
  addIndexers(indexers: Readonly<Record<string, IndexFunc<T>>>): void {
    const names = Object.keys(indexers);
    const taken = names.find((name) => this.#indices.has(name));
    if (taken !== undefined)
      throw new InformerStateError('DUPLICATE_INDEX', `index ${JSON.stringify(taken)} exists already`);
    for (const name of names) this.addLazily(name, indexers[name]!);
    for (const name of names) this.#sets(name);
  }

  update(key: string, previous: T | undefined, next: T | undefined): void {
    if (this.#live === 0) return;
    for (const [name, index] of this.#indices) {
      if (index.sets !== undefined) this.#updateOne(name, index, index.sets, key, previous, next);
    }
  }

  clear(): void {
    for (const index of this.#indices.values()) index.sets?.clear();
  }

  keys(name: string, value: string): ReadonlySet<string> {
    return this.#sets(name).get(value) ?? new Set();
  }

  values(name: string): string[] {
    return [...this.#sets(name).keys()];
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

  #sets(name: string): Map<string, Set<string>> {
    const index = this.#index(name);
    if (index.sets !== undefined) return index.sets;
    const sets = new Map<string, Set<string>>();
    for (const [key, object] of this.#objects()) this.#updateOne(name, index, sets, key, undefined, object);
    index.sets = sets;
    this.#live++;
    return sets;
  }

  #updateOne(
    name: string,
    index: Index<T>,
    sets: Map<string, Set<string>>,
    key: string,
    previous: T | undefined,
    next: T | undefined,
  ): void {
    const before = previous === undefined ? NONE : this.#safeValues(name, index, key, previous, false);
    const after = next === undefined ? NONE : this.#safeValues(name, index, key, next, true);
    // Nearly every change leaves the values as they are.
    if (before.length === 1 && after.length === 1 && before[0] === after[0]) return;
    for (const value of before) {
      const set = sets.get(value);
      set?.delete(key);
      if (set?.size === 0) sets.delete(value);
    }
    for (const value of after) {
      const set = sets.get(value);
      if (set === undefined) sets.set(value, new Set([key]));
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
