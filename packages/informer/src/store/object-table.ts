// Where a store keeps its objects: a Map, or something that keeps them smaller.

export interface ObjectTable<V> {
  readonly size: number;
  get(key: string): V | undefined;
  has(key: string): boolean;
  set(key: string, value: V): void;
  delete(key: string): void;
  clear(): void;
  keys(): Iterable<string>;
  values(): Iterable<V>;
  entries(): Iterable<readonly [string, V]>;
  /** An independent table with the same content. */
  copy(): ObjectTable<V>;
}

/** Keeps the objects as they are. */
export class MapObjectTable<V> implements ObjectTable<V> {
  readonly #map: Map<string, V>;

  constructor(entries: Iterable<readonly [string, V]> = []) {
    this.#map = new Map(entries);
  }

  get size(): number {
    return this.#map.size;
  }
  get(key: string): V | undefined {
    return this.#map.get(key);
  }
  has(key: string): boolean {
    return this.#map.has(key);
  }
  set(key: string, value: V): void {
    this.#map.set(key, value);
  }
  delete(key: string): void {
    this.#map.delete(key);
  }
  clear(): void {
    this.#map.clear();
  }
  keys(): Iterable<string> {
    return this.#map.keys();
  }
  values(): Iterable<V> {
    return this.#map.values();
  }
  entries(): Iterable<readonly [string, V]> {
    return this.#map.entries();
  }
  copy(): MapObjectTable<V> {
    return new MapObjectTable(this.#map);
  }
}
