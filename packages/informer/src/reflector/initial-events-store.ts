// Holds the objects of a streaming list until its end mark comes; the real store sees nothing before.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#watchList (temporaryStore)
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import type { ReflectorStore } from './reflector-store.ts';

export class InitialEventsStore<T extends KubernetesObject> implements ReflectorStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #store: ReflectorStore<T> | undefined;

  /** `store` is the one the objects are for. */
  constructor(store?: ReflectorStore<T>) {
    this.#store = store;
  }

  get size(): number {
    return this.#objects.size;
  }

  add(object: T): void {
    this.#objects.set(metaNamespaceKeyFunc(object), this.#store?.held?.(object) ?? object);
  }
  update(object: T): void {
    this.add(object);
  }
  delete(object: T): void {
    this.#objects.delete(metaNamespaceKeyFunc(object));
  }
  replace(items: readonly T[]): void {
    this.#objects.clear();
    for (const item of items) this.add(item);
  }
  items(): T[] {
    return [...this.#objects.values()];
  }
}
