// Watchers that are up to date, arranged so that a change finds those it concerns without asking the others.
// Upstream: etcd@v3.5.15:server/storage/mvcc/watcher_group.go#watcherGroup
// Differs: ranges that are prefixes ending in '/' (all that an API server watches) are found by the parts of the key.
import { prefixEnd } from '../../client.ts';

export interface Watched {
  readonly key: string;
  readonly rangeEnd: string | undefined;
}

export class WatcherGroup<W extends Watched> {
  readonly #byKey = new Map<string, Set<W>>();
  readonly #byPrefix = new Map<string, Set<W>>();
  readonly #ranges = new Set<W>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(watcher: W): void {
    const [map, key] = this.#home(watcher);
    this.#size++;
    if (map === undefined) {
      this.#ranges.add(watcher);
      return;
    }
    const set = map.get(key);
    if (set === undefined) map.set(key, new Set([watcher]));
    else set.add(watcher);
  }

  delete(watcher: W): boolean {
    const [map, key] = this.#home(watcher);
    const set = map === undefined ? this.#ranges : map.get(key);
    if (set?.delete(watcher) !== true) return false;
    this.#size--;
    if (map !== undefined && set.size === 0) map.delete(key);
    return true;
  }

  /** Those that want changes of `key`. */
  match(key: string, visit: (watcher: W) => void): void {
    const exact = this.#byKey.get(key);
    if (exact !== undefined) for (const watcher of exact) visit(watcher);
    if (this.#byPrefix.size > 0) {
      for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
        const set = this.#byPrefix.get(key.slice(0, slash + 1));
        if (set !== undefined) for (const watcher of set) visit(watcher);
      }
    }
    for (const watcher of this.#ranges) {
      if (key >= watcher.key && (watcher.rangeEnd === '\0' || key < watcher.rangeEnd!)) visit(watcher);
    }
  }

  *[Symbol.iterator](): IterableIterator<W> {
    for (const set of this.#byKey.values()) yield* set;
    for (const set of this.#byPrefix.values()) yield* set;
    yield* this.#ranges;
  }

  #home(watcher: W): [Map<string, Set<W>> | undefined, string] {
    if (watcher.rangeEnd === undefined) return [this.#byKey, watcher.key];
    if (watcher.key.endsWith('/') && watcher.rangeEnd === prefixEnd(watcher.key)) return [this.#byPrefix, watcher.key];
    return [undefined, ''];
  }
}
