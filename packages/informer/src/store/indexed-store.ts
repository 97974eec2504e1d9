// Objects by key with secondary indices; the informer's cache.
// Upstream: client-go@v0.30.3:tools/cache/thread_safe_store.go#threadSafeMap
// Differs: no locks, since nothing here awaits; snapshots; an index function that throws is reported, not a panic.
import type { KubernetesObject, LabelSelector } from '@kube-rx/apimachinery';
import { parseLabelSelector } from '@kube-rx/apimachinery';
import type { HandlerError } from '../errors.ts';
import type { Live } from '../rest/resource-type.ts';
import type { KeyFunc } from './key-func.ts';
import { keyOf, metaNamespaceKeyFunc } from './key-func.ts';
import type { ObjectTable } from './object-table.ts';
import { MapObjectTable } from './object-table.ts';
import type { ReadonlyStore, SelectOptions } from './store.ts';
import type { IndexFunc } from './store-index.ts';
import { StoreIndex } from './store-index.ts';

export type Indexers<T extends KubernetesObject, I extends string = string> = Readonly<Record<I, IndexFunc<Live<T>>>>;

export interface IndexedStoreOptions<T extends KubernetesObject, I extends string = never> {
  /** More indices beside `namespace`, which is always there. */
  readonly indexers?: Indexers<T, I> | undefined;
  /** @defaultValue namespace/name */
  readonly keyFunc?: KeyFunc<T> | undefined;
  /** An index function threw. @defaultValue nothing happens */
  readonly onError?: ((error: HandlerError) => void) | undefined;
  /** Where the objects are kept. @defaultValue a Map */
  readonly table?: ObjectTable<Live<T>> | undefined;
}

/** `namespace` of an object as index values. */
export const metaNamespaceIndexFunc: IndexFunc<KubernetesObject> = (object) => [object.metadata?.namespace ?? ''];

/**
 * @example
 * const store = new IndexedStore<Pod, 'node'>({ indexers: { node: (pod) => [pod.spec?.nodeName ?? ''] } });
 * store.add(pod);
 * store.by('node', 'worker-1');
 */
export class IndexedStore<T extends KubernetesObject, I extends string = never> implements ReadonlyStore<T, I> {
  readonly #keyFunc: KeyFunc<T>;
  readonly #index: StoreIndex<Live<T>>;
  readonly #onError: (error: HandlerError) => void;
  #table: ObjectTable<Live<T>>;
  // A snapshot shares the table; the next write then leaves it to the snapshot and works on a copy.
  #shared = false;

  constructor(options: IndexedStoreOptions<T, I> = {}) {
    this.#keyFunc = options.keyFunc ?? metaNamespaceKeyFunc;
    this.#onError = options.onError ?? (() => {});
    this.#table = options.table ?? new MapObjectTable();
    this.#index = new StoreIndex(() => this.#table.entries(), this.#onError);
    // Most informers are never asked by namespace, or have one only.
    this.#index.addLazily('namespace', metaNamespaceIndexFunc);
    if (options.indexers !== undefined) this.addIndexers(options.indexers);
  }

  get size(): number {
    return this.#table.size;
  }

  keyOf(object: T): string {
    return this.#keyFunc(object);
  }

  /** Same as `update`: puts the object under its key. */
  add(object: T): void {
    const key = this.#keyFunc(object);
    // A table that decodes on access must not be asked for what nobody compares.
    this.#put(key, object as Live<T>, this.#index.isLive ? this.#table.get(key) : undefined);
  }

  /** Puts the object under its key, which the caller knows, and returns what was there. */
  swap(key: string, object: T): Live<T> | undefined {
    const previous = this.#table.get(key);
    this.#put(key, object as Live<T>, previous);
    return previous;
  }

  #put(key: string, object: Live<T>, previous: Live<T> | undefined): void {
    this.#unshare();
    this.#table.set(key, object);
    this.#index.update(key, previous, object);
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T): void {
    this.deleteKey(this.#keyFunc(object));
  }

  deleteKey(key: string): void {
    const previous = this.#table.get(key);
    if (previous === undefined) return;
    this.#unshare();
    this.#table.delete(key);
    this.#index.update(key, previous, undefined);
  }

  /** Swaps the whole content; indices are built anew. */
  replace(items: readonly T[]): void {
    this.#unshare();
    this.#table.clear();
    this.#index.clear();
    for (const item of items) this.add(item);
  }

  get(name: string, namespace = ''): Live<T> | undefined {
    return this.#table.get(keyOf(name, namespace));
  }

  getByKey(key: string): Live<T> | undefined {
    return this.#table.get(key);
  }

  has(key: string): boolean {
    return this.#table.has(key);
  }

  list(options: SelectOptions = {}): Live<T>[] {
    const { namespace, labels } = options;
    const objects = namespace === undefined ? [...this.#table.values()] : this.by('namespace', namespace);
    const selector = typeof labels === 'string' ? parseLabelSelector(labels) : labels;
    return selector === undefined || selector.empty ? objects : objects.filter((object) => matches(selector, object));
  }

  keys(): string[] {
    return [...this.#table.keys()];
  }

  /** Adds indices at any time; objects already there are indexed at once. A name that exists throws and adds nothing. */
  addIndexers(indexers: Readonly<Record<string, IndexFunc<Live<T>>>>): void {
    this.#index.addIndexers(indexers);
  }

  indexNames(): string[] {
    return this.#index.names();
  }

  by(index: I | 'namespace', value: string): Live<T>[] {
    const objects: Live<T>[] = [];
    for (const key of this.#index.keys(index, value)) {
      const object = this.#table.get(key);
      if (object !== undefined) objects.push(object);
    }
    return objects;
  }

  /** Objects that share at least one value of the index with the given one; each once. */
  index(index: I | 'namespace', object: T): Live<T>[] {
    const keys = new Set<string>();
    for (const value of this.#index.valuesOf(index, object as Live<T>)) {
      for (const key of this.#index.keys(index, value)) keys.add(key);
    }
    return [...keys].map((key) => this.#table.get(key)!);
  }

  indexKeys(index: I | 'namespace', value: string): string[] {
    return [...this.#index.keys(index, value)];
  }

  indexValues(index: I | 'namespace'): string[] {
    return this.#index.values(index);
  }

  snapshot(): ReadonlyStore<T, I> {
    this.#shared = true;
    return new StoreSnapshot<T, I>(this.#table, this.#index, this.#onError);
  }

  #unshare(): void {
    if (!this.#shared) return;
    this.#shared = false;
    this.#table = this.#table.copy();
  }
}

/** A frozen table; its indices are built when first asked for. */
class StoreSnapshot<T extends KubernetesObject, I extends string> implements ReadonlyStore<T, I> {
  readonly #table: ObjectTable<Live<T>>;
  readonly #source: StoreIndex<Live<T>>;
  readonly #onError: (error: HandlerError) => void;
  #built: IndexedStore<T, I> | undefined;

  constructor(table: ObjectTable<Live<T>>, source: StoreIndex<Live<T>>, onError: (error: HandlerError) => void) {
    this.#table = table;
    this.#source = source;
    this.#onError = onError;
  }

  get size(): number {
    return this.#table.size;
  }
  get(name: string, namespace = ''): Live<T> | undefined {
    return this.#table.get(keyOf(name, namespace));
  }
  getByKey(key: string): Live<T> | undefined {
    return this.#table.get(key);
  }
  keys(): string[] {
    return [...this.#table.keys()];
  }
  list(options: SelectOptions = {}): Live<T>[] {
    return options.namespace === undefined && options.labels === undefined
      ? [...this.#table.values()]
      : this.#indexed().list(options);
  }
  by(index: I | 'namespace', value: string): Live<T>[] {
    return this.#indexed().by(index, value);
  }
  indexKeys(index: I | 'namespace', value: string): string[] {
    return this.#indexed().indexKeys(index, value);
  }
  indexValues(index: I | 'namespace'): string[] {
    return this.#indexed().indexValues(index);
  }
  snapshot(): this {
    return this;
  }

  #indexed(): IndexedStore<T, I> {
    if (this.#built === undefined) {
      const built = new IndexedStore<T, I>({ table: this.#table, onError: this.#onError });
      const names = this.#source.names().filter((name) => name !== 'namespace');
      built.addIndexers(
        Object.fromEntries(names.map((name) => [name, (object: Live<T>) => this.#source.valuesOf(name, object)])),
      );
      this.#built = built;
    }
    return this.#built;
  }
}

function matches(selector: LabelSelector, object: KubernetesObject): boolean {
  return selector.matches(object.metadata?.labels);
}
