// Read your own writes: what a write returned covers the cache's older state until the watch has caught up.
// Upstream: client-go@v0.30.3:tools/cache/mutation_cache.go#MutationCache
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { compareResourceVersions, OptionsError, realClock, resourceVersionOf } from '@kube-rx/apimachinery';
import { LRUCache } from 'lru-cache';
import type { Live } from '../rest/resource-type.ts';
import { onClock } from './expiration-cache.ts';
import { keyOf, metaNamespaceKeyFunc } from './key-func.ts';
import type { ReadonlyStore } from './store.ts';
import type { IndexFunc } from './store-index.ts';

export interface MutationCacheOptions<T extends KubernetesObject, I extends string = never> {
  /** How long a write is remembered, ms. @defaultValue 300 000 */
  readonly ttlMs?: number | undefined;
  /** Writes that are remembered. @defaultValue 100 */
  readonly max?: number | undefined;
  /** `by` also gives written objects that the cache has not seen at all. @defaultValue true */
  readonly includeAdds?: boolean | undefined;
  /** Index functions of the indices that `by` is asked for, as the store has them. */
  readonly indexers?: Readonly<Record<I, IndexFunc<Live<T>>>> | undefined;
  readonly clock?: Clock | undefined;
}

/** What happened to a cache; the events of an informer are such. */
export type CacheChange<T extends KubernetesObject> =
  | { readonly type: 'added' | 'updated' | 'deleted'; readonly object: Live<T> }
  | { readonly type: 'synced' };

/**
 * @example
 * const recent = new MutationCache(pods.store);
 * recent.mutation(await client.update(pod));
 * recent.get('web', 'shop');   // the version that was written, or a newer one
 */
export class MutationCache<T extends KubernetesObject, I extends string = never> {
  readonly #store: ReadonlyStore<T, I>;
  readonly #options: MutationCacheOptions<T, I>;
  readonly #writes: LRUCache<string, Live<T>>;
  /** Last known states of objects that were seen to go: an answer that comes after its object's deletion must not bring it back. */
  readonly #gone: LRUCache<string, Live<T>>;

  constructor(store: ReadonlyStore<T, I>, options: MutationCacheOptions<T, I> = {}) {
    const { ttlMs = 300_000, max = 100, clock = realClock } = options;
    if (!(ttlMs > 0)) throw new OptionsError('ttlMs', ttlMs, 'a number above 0');
    if (!(max >= 1)) throw new OptionsError('max', max, 'a number of at least 1');
    this.#store = store;
    this.#options = options;
    this.#writes = new LRUCache({ max, ttl: ttlMs, ...onClock(clock) });
    this.#gone = new LRUCache({ max, ttl: ttlMs, ...onClock(clock) });
  }

  /** Remembers what a write returned. An older state than the one remembered changes nothing. */
  mutation(object: Live<T>): void {
    const key = metaNamespaceKeyFunc(object);
    const known = this.#writes.peek(key);
    if (known !== undefined && isNewer(known, object)) return;
    const gone = this.#gone.get(key);
    if (gone !== undefined && (isSameObject(gone, object) || !isNewer(object, gone))) return;
    this.#writes.set(key, object);
  }

  /**
   * Optional: told of every change of the cache it also forgets a write whose object was deleted, and takes no answer for new that
   * comes after that. Without it such a write is shown until its time is up, where `includeAdds` is on.
   *
   * @example informer.handle((event) => recent.observe(event))
   */
  observe(event: CacheChange<T>): void {
    if (event.type === 'synced') return;
    const { object } = event;
    const key = metaNamespaceKeyFunc(object);
    const written = this.#writes.peek(key);
    if (event.type !== 'deleted') {
      this.#gone.delete(key);
      if (written !== undefined && !isNewer(written, object)) this.#writes.delete(key);
      return;
    }
    // A newer write of another object under that name may still exist.
    if (written !== undefined && isNewer(written, object) && !isSameObject(written, object)) return;
    this.#writes.delete(key);
    this.#gone.set(key, object);
  }

  get(name: string, namespace = ''): Live<T> | undefined {
    return this.getByKey(keyOf(name, namespace));
  }

  /** The newer of the cache's state and the remembered write. */
  getByKey(key: string): Live<T> | undefined {
    return this.#newer(key, this.#store.getByKey(key));
  }

  /** Objects under a value of an index, with writes laid over them; a write that left the value is left out. */
  by(index: I | 'namespace', value: string): Live<T>[] {
    const valuesOf = this.#valuesOf(index);
    const found = new Map<string, Live<T>>();
    for (const object of this.#store.by(index, value)) {
      const key = metaNamespaceKeyFunc(object);
      const newest = this.#newer(key, object);
      if (newest !== undefined && (newest === object || valuesOf(newest).includes(value))) found.set(key, newest);
    }
    for (const [key, written] of this.#writes.entries()) {
      if (found.has(key) || !valuesOf(written).includes(value)) continue;
      const cached = this.#store.getByKey(key);
      // One that the cache knows under another value by now is not wanted here.
      if (cached === undefined ? (this.#options.includeAdds ?? true) : !isNewer(cached, written))
        found.set(key, written);
    }
    return [...found.values()];
  }

  #newer(key: string, cached: Live<T> | undefined): Live<T> | undefined {
    const written = this.#writes.get(key);
    if (written === undefined) return cached;
    if (cached === undefined) return (this.#options.includeAdds ?? true) ? written : undefined;
    if (!isNewer(cached, written) && resourceVersionOf(cached) !== resourceVersionOf(written)) return written;
    // The watch has caught up: the write is of no more use.
    this.#writes.delete(key);
    return cached;
  }

  #valuesOf(index: I | 'namespace'): IndexFunc<Live<T>> {
    if (index === 'namespace') return (object) => [object.metadata.namespace ?? ''];
    const valuesOf = this.#options.indexers?.[index as I];
    if (valuesOf === undefined)
      throw new OptionsError('indexers', index, `an object with the index function ${JSON.stringify(index)}`);
    return valuesOf;
  }
}

const isSameObject = (a: KubernetesObject, b: KubernetesObject): boolean => a.metadata?.uid === b.metadata?.uid;

function isNewer(a: KubernetesObject, b: KubernetesObject): boolean {
  return (compareResourceVersions(resourceVersionOf(a), resourceVersionOf(b)) ?? 0) > 0;
}
