// A store whose objects are forgotten some time after they were put.
// Upstream: client-go@v0.30.3:tools/cache/expiration_cache.go#ExpirationCache
// Differs: bounded; expired keys are not listed either.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { OptionsError, realClock } from '@kube-rx/apimachinery';
import { LRUCache } from 'lru-cache';
import type { KeyFunc } from './key-func.ts';
import { metaNamespaceKeyFunc } from './key-func.ts';

export interface ExpirationCacheOptions<T> {
  /** How long an object stays, ms. */
  readonly ttlMs: number;
  /** Above this many objects the one used least lately goes. @defaultValue 10 000 */
  readonly max?: number | undefined;
  /** @defaultValue namespace/name */
  readonly keyFunc?: KeyFunc<T> | undefined;
  readonly clock?: Clock | undefined;
}

export class ExpirationCache<T extends KubernetesObject> {
  readonly #cache: LRUCache<string, T>;
  readonly #keyFunc: KeyFunc<T>;

  constructor(options: ExpirationCacheOptions<T>) {
    const { ttlMs, max = 10_000, keyFunc = metaNamespaceKeyFunc, clock = realClock } = options;
    if (!(ttlMs > 0)) throw new OptionsError('ttlMs', ttlMs, 'a number above 0');
    this.#keyFunc = keyFunc;
    this.#cache = new LRUCache({ max, ttl: ttlMs, ...onClock(clock) });
  }

  /** Puts an object; its time starts anew. */
  add(object: T): void {
    this.#cache.set(this.#keyFunc(object), object);
  }
  update(object: T): void {
    this.add(object);
  }
  delete(object: T): void {
    this.#cache.delete(this.#keyFunc(object));
  }
  /** An expired object is forgotten by being asked for. */
  getByKey(key: string): T | undefined {
    return this.#cache.get(key);
  }
  get(object: T): T | undefined {
    return this.getByKey(this.#keyFunc(object));
  }
  list(): T[] {
    this.#cache.purgeStale();
    return [...this.#cache.values()].reverse();
  }
  keys(): string[] {
    return [...this.#cache.keys()].reverse();
  }
  replace(items: readonly T[]): void {
    this.#cache.clear();
    for (const item of items) this.add(item);
  }
}

/** Settings that let an lru-cache live on a Clock: it would read the machine's, and remember it for a millisecond by a timer. */
export function onClock(clock: Clock): { readonly perf: { now(): number }; readonly ttlResolution: 0 } {
  return { perf: { now: () => clock.now() }, ttlResolution: 0 };
}
