// Keeps objects as JSON bytes outside the JavaScript heap and decodes them on access; the objects asked for lately stay decoded.
// For caches of many objects of which few are looked at: about a tenth of the heap, at the price of a parse for a cold object.
import { OptionsError } from '@kube-rx/apimachinery';
import { LRUCache } from 'lru-cache';
import { utf8ToString } from '../rest/utf8.ts';
import type { ObjectTable } from './object-table.ts';

export interface CompactObjectTableOptions {
  /** Objects that stay decoded. @defaultValue 1000 */
  readonly hotObjects?: number | undefined;
}

const SLAB_BYTES = 1 << 20;
// Below this much garbage a compaction would not pay.
const MIN_GARBAGE_BYTES = 4 << 20;
const encoder = new TextEncoder();

/** Where the bytes of one slot are; three numbers instead of an object for each key. */
class Slots {
  slabs: Uint32Array;
  offsets: Uint32Array;
  lengths: Uint32Array;

  constructor(capacity: number) {
    this.slabs = new Uint32Array(capacity);
    this.offsets = new Uint32Array(capacity);
    this.lengths = new Uint32Array(capacity);
  }

  copy(capacity: number = this.slabs.length): Slots {
    const copy = new Slots(capacity);
    copy.slabs.set(this.slabs);
    copy.offsets.set(this.offsets);
    copy.lengths.set(this.lengths);
    return copy;
  }
}

/**
 * An object that was evicted comes back as an equal one, not as the same one. What it holds must be JSON.
 *
 * @example
 * const store = new IndexedStore<Pod>({ table: new CompactObjectTable() });
 */
export class CompactObjectTable<V extends object> implements ObjectTable<V> {
  readonly #hotObjects: number;
  readonly #hot: LRUCache<string, V>;
  #slotOf = new Map<string, number>();
  #slots = new Slots(1024);
  #free: number[] = [];
  #nextSlot = 0;
  // Bytes once written are never changed, so copies share them.
  #slabs: Uint8Array[] = [];
  #used = 0;
  #liveBytes = 0;
  #writtenBytes = 0;

  constructor(options: CompactObjectTableOptions = {}) {
    this.#hotObjects = options.hotObjects ?? 1000;
    if (!Number.isInteger(this.#hotObjects) || this.#hotObjects < 1) {
      throw new OptionsError('hotObjects', options.hotObjects, 'a whole number of at least 1');
    }
    this.#hot = new LRUCache({ max: this.#hotObjects });
  }

  get size(): number {
    return this.#slotOf.size;
  }

  /** Bytes of the objects, and of the buffers they are in. */
  get bytes(): { readonly live: number; readonly allocated: number } {
    return { live: this.#liveBytes, allocated: this.#slabs.reduce((sum, slab) => sum + slab.length, 0) };
  }

  get(key: string): V | undefined {
    const hot = this.#hot.get(key);
    if (hot !== undefined) return hot;
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return undefined;
    const value = this.#decode(slot);
    this.#hot.set(key, value);
    return value;
  }

  has(key: string): boolean {
    return this.#slotOf.has(key);
  }

  set(key: string, value: V): void {
    const known = this.#slotOf.get(key);
    if (known !== undefined) this.#liveBytes -= this.#slots.lengths[known]!;
    const slot = known ?? this.#takeSlot();
    this.#write(slot, JSON.stringify(value));
    this.#slotOf.set(key, slot);
    this.#hot.set(key, value);
    this.#compactIfDue();
  }

  delete(key: string): void {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return;
    this.#slotOf.delete(key);
    this.#hot.delete(key);
    this.#liveBytes -= this.#slots.lengths[slot]!;
    this.#free.push(slot);
    this.#compactIfDue();
  }

  clear(): void {
    this.#slotOf = new Map();
    this.#slots = new Slots(1024);
    this.#free = [];
    this.#nextSlot = 0;
    this.#slabs = [];
    this.#used = 0;
    this.#liveBytes = 0;
    this.#writtenBytes = 0;
    this.#hot.clear();
  }

  keys(): Iterable<string> {
    return this.#slotOf.keys();
  }

  *values(): Generator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  /** A walk over all objects leaves the hot ones alone. */
  *entries(): Generator<readonly [string, V]> {
    for (const [key, slot] of this.#slotOf) yield [key, this.#hot.peek(key) ?? this.#decode(slot)];
  }

  copy(): CompactObjectTable<V> {
    const copy = new CompactObjectTable<V>({ hotObjects: this.#hotObjects });
    copy.#slotOf = new Map(this.#slotOf);
    copy.#slots = this.#slots.copy();
    copy.#free = [...this.#free];
    copy.#nextSlot = this.#nextSlot;
    copy.#slabs = [...this.#slabs];
    // Both go on writing in slabs of their own.
    copy.#used = SLAB_BYTES;
    this.#used = SLAB_BYTES;
    copy.#liveBytes = this.#liveBytes;
    copy.#writtenBytes = this.#writtenBytes;
    return copy;
  }

  #decode(slot: number): V {
    const offset = this.#slots.offsets[slot]!;
    const slab = this.#slabs[this.#slots.slabs[slot]!]!;
    return JSON.parse(utf8ToString(slab, offset, offset + this.#slots.lengths[slot]!)) as V;
  }

  #takeSlot(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#nextSlot === this.#slots.slabs.length) this.#slots = this.#slots.copy(this.#nextSlot * 2);
    return this.#nextSlot++;
  }

  #write(slot: number, text: string): void {
    // A character becomes three bytes at most (a surrogate pair four).
    const room = text.length * 3;
    let slab = this.#slabs.at(-1);
    if (slab === undefined || this.#used + room > slab.length) {
      slab = new Uint8Array(Math.max(SLAB_BYTES, room));
      this.#slabs.push(slab);
      this.#used = 0;
    }
    const { written } = encoder.encodeInto(text, slab.subarray(this.#used));
    this.#slots.slabs[slot] = this.#slabs.length - 1;
    this.#slots.offsets[slot] = this.#used;
    this.#slots.lengths[slot] = written;
    this.#used += written;
    this.#liveBytes += written;
    this.#writtenBytes += written;
  }

  /** Copies what is alive into new slabs once most of what was written is garbage. */
  #compactIfDue(): void {
    const garbage = this.#writtenBytes - this.#liveBytes;
    if (garbage < MIN_GARBAGE_BYTES || garbage < this.#liveBytes) return;
    const old = { slabs: this.#slabs, slots: this.#slots.copy() };
    this.#slabs = [];
    this.#used = 0;
    this.#writtenBytes = this.#liveBytes;
    for (const slot of this.#slotOf.values()) {
      const offset = old.slots.offsets[slot]!;
      const length = old.slots.lengths[slot]!;
      let slab = this.#slabs.at(-1);
      if (slab === undefined || this.#used + length > slab.length) {
        slab = new Uint8Array(Math.max(SLAB_BYTES, length));
        this.#slabs.push(slab);
        this.#used = 0;
      }
      slab.set(old.slabs[old.slots.slabs[slot]!]!.subarray(offset, offset + length), this.#used);
      this.#slots.slabs[slot] = this.#slabs.length - 1;
      this.#slots.offsets[slot] = this.#used;
      this.#used += length;
    }
  }
}
