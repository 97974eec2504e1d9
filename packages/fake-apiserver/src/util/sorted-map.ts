// A map from strings to values that is walked in key order: the ordered keys of the embedded etcd and of each watch cache.
// Keys live in chunks, so an insert moves at most one chunk's worth of entries, whatever the size of the map.
// Upstream: etcd@v3.5.15:server/storage/mvcc/index.go#treeIndex (a B-tree there)

const MAX_CHUNK = 256;

interface Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

/** Iteration must not run across a change of the map; the walking methods are synchronous for that reason. */
export class SortedMap<V> {
  // Never empty as a whole, and no chunk is empty unless it is the only one.
  #chunks: Chunk<V>[] = [{ keys: [], values: [] }];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)]!;
    const index = lowerBound(chunk.keys, key);
    return chunk.keys[index] === key ? chunk.values[index] : undefined;
  }

  has(key: string): boolean {
    const { keys } = this.#chunks[this.#chunkOf(key)]!;
    return keys[lowerBound(keys, key)] === key;
  }

  set(key: string, value: V): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    const { keys, values } = chunk;
    const index = lowerBound(keys, key);
    if (keys[index] === key) {
      values[index] = value;
      return;
    }
    if (index === keys.length) {
      keys.push(key);
      values.push(value);
    } else {
      keys.splice(index, 0, key);
      values.splice(index, 0, value);
    }
    this.#size++;
    if (keys.length > MAX_CHUNK) this.#split(at, index === keys.length - 1);
  }

  delete(key: string): boolean {
    const at = this.#chunkOf(key);
    const { keys, values } = this.#chunks[at]!;
    const index = lowerBound(keys, key);
    if (keys[index] !== key) return false;
    keys.splice(index, 1);
    values.splice(index, 1);
    this.#size--;
    if (keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
    return true;
  }

  clear(): void {
    this.#chunks = [{ keys: [], values: [] }];
    this.#size = 0;
  }

  /** Calls `visit` in key order for `from <= key < to` (no upper end when `to` is undefined) until it returns false. */
  scan(from: string, to: string | undefined, visit: (value: V, key: string) => boolean | undefined): void {
    const chunks = this.#chunks;
    let at = this.#chunkOf(from);
    let index = lowerBound(chunks[at]!.keys, from);
    for (; at < chunks.length; at++, index = 0) {
      const { keys, values } = chunks[at]!;
      for (; index < keys.length; index++) {
        const key = keys[index]!;
        if (to !== undefined && key >= to) return;
        if (visit(values[index]!, key) === false) return;
      }
    }
  }

  /** Number of keys with `from <= key < to`, without walking the entries. */
  countRange(from: string, to: string | undefined): number {
    const chunks = this.#chunks;
    const first = this.#chunkOf(from);
    const skipped = lowerBound(chunks[first]!.keys, from);
    if (to === undefined) {
      let count = -skipped;
      for (let at = first; at < chunks.length; at++) count += chunks[at]!.keys.length;
      return count;
    }
    if (to <= from) return 0;
    const last = this.#chunkOf(to);
    let count = lowerBound(chunks[last]!.keys, to) - skipped;
    for (let at = first; at < last; at++) count += chunks[at]!.keys.length;
    return count;
  }

  /** All values in key order. */
  values(): V[] {
    const all: V[] = [];
    for (const chunk of this.#chunks) for (const value of chunk.values) all.push(value);
    return all;
  }

  /** The chunk that holds `key` or would: the last one that starts at or before it. */
  #chunkOf(key: string): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (chunks[middle]!.keys[0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Keys that arrive in order leave full chunks behind; others leave halves with room to grow. */
  #split(at: number, ascending: boolean): void {
    const chunk = this.#chunks[at]!;
    const keep = ascending ? MAX_CHUNK : MAX_CHUNK >>> 1;
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(keep), values: chunk.values.splice(keep) });
  }
}

/** Index of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
