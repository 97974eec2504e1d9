// Watchers by what they are about, so that a change is offered to those it can concern and to no others.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#indexedWatchers, #startDispatching
import type { CacheWatcher } from './cache-watcher.ts';
import type { StoreElement } from './store-element.ts';
import { scopeKey } from './watch-scope.ts';

export type TriggerFunc = (element: StoreElement) => string;

export class IndexedWatchers {
  readonly #byScope = new Map<string, Set<CacheWatcher>>();
  readonly #byTrigger = new Map<string, Set<CacheWatcher>>();
  readonly #trigger: TriggerFunc | undefined;
  #size = 0;

  /** With a trigger, watchers that pin its field to one value are found by that value alone. */
  constructor(trigger: TriggerFunc | undefined) {
    this.#trigger = trigger;
  }

  get size(): number {
    return this.#size;
  }

  add(watcher: CacheWatcher): void {
    const [map, key] = this.#home(watcher);
    const set = map.get(key);
    if (set === undefined) map.set(key, new Set([watcher]));
    else set.add(watcher);
    this.#size++;
  }

  delete(watcher: CacheWatcher): void {
    const [map, key] = this.#home(watcher);
    const set = map.get(key);
    if (set?.delete(watcher) !== true) return;
    this.#size--;
    if (set.size === 0) map.delete(key);
  }

  /** Those a change from `previous` to `element` can concern. */
  match(element: StoreElement, previous: StoreElement | undefined, visit: (watcher: CacheWatcher) => void): void {
    if (this.#size === 0) return;
    const { namespace, name } = element;
    if (this.#byScope.size > 0) {
      this.#visit(this.#byScope, scopeKey('', ''), visit);
      if (namespace !== '') this.#visit(this.#byScope, scopeKey(namespace, ''), visit);
      this.#visit(this.#byScope, scopeKey('', name), visit);
      if (namespace !== '') this.#visit(this.#byScope, scopeKey(namespace, name), visit);
    }
    if (this.#trigger === undefined || this.#byTrigger.size === 0) return;
    const now = this.#trigger(element);
    this.#visit(this.#byTrigger, now, visit);
    if (previous === undefined) return;
    const before = this.#trigger(previous);
    if (before !== now) this.#visit(this.#byTrigger, before, visit);
  }

  *[Symbol.iterator](): IterableIterator<CacheWatcher> {
    for (const set of this.#byScope.values()) yield* set;
    for (const set of this.#byTrigger.values()) yield* set;
  }

  #visit(map: Map<string, Set<CacheWatcher>>, key: string, visit: (watcher: CacheWatcher) => void): void {
    const set = map.get(key);
    if (set !== undefined) for (const watcher of set) visit(watcher);
  }

  #home(watcher: CacheWatcher): [Map<string, Set<CacheWatcher>>, string] {
    if (watcher.triggerValue !== undefined) return [this.#byTrigger, watcher.triggerValue];
    return [this.#byScope, scopeKey(watcher.scope.namespace, watcher.scope.name)];
  }
}
