// Cuts the bytes of a list's `items` array into batches of whole items, while they arrive.
// A long list is cut with native searches: where one item ends and the next begins looks the same all along (`},{"metadata":`). Such a
// place is a guess, since an item may hold the same bytes; that the batch in front of it is JSON proves it, for no valid prefix of
// an array of values ends inside one. Where a guess fails, and in lists that look otherwise, each byte is looked at.
import { DecodeError } from '../errors.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { nodeBytes } from './node-buffer.ts';
import { utf8ToString } from './utf8.ts';

/** Items are parsed together until this much text is there: small enough for the event loop, large enough to be cheap. */
const DEFAULT_BATCH_BYTES = 64 * 1024;
const LONGEST_FIRST_KEY = 64;
const SHORT_STRING = 48;

/** Push bytes from the opening bracket on; what comes behind the closing one is handed back. */
export class ItemCutter {
  readonly #emit: (items: unknown[]) => void;
  readonly #batchBytes: number;
  // Starts with the bracket or comma in front of an item.
  readonly #rest = new ByteBuffer();
  #total = 0;
  #separator: Uint8Array | undefined;
  #guessing = false;
  // Where the scanner is in #rest, and how deep.
  #seen = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closedAt = -1;

  constructor(emit: (items: unknown[]) => void, batchBytes: number = DEFAULT_BATCH_BYTES) {
    this.#emit = emit;
    this.#batchBytes = batchBytes;
  }

  /** Returns a copy of the bytes behind the array once it is complete. Throws a DecodeError for a batch that is no JSON. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    this.#total += chunk.length;
    this.#rest.append(chunk);
    const bytes = this.#rest.view();
    if (!this.#guessing && this.#total >= 2 * this.#batchBytes) this.#startGuessing(bytes);
    let start = 0;
    if (this.#guessing) start = this.#guess(bytes);
    if (!this.#guessing) {
      start = this.#scan(bytes, start);
      if (this.#closedAt >= 0) return bytes.slice(this.#closedAt + 1);
    }
    this.#rest.consume(start);
    return undefined;
  }

  /** All bytes are here: the rest behind the array, or undefined when the array was not closed. */
  finish(): Uint8Array | undefined {
    this.#guessing = false;
    const bytes = this.#rest.view();
    this.#scan(bytes, 0);
    return this.#closedAt < 0 ? undefined : bytes.slice(this.#closedAt + 1);
  }

  /** Only where items are objects, follow each other without a space, and bytes can be searched for. */
  #startGuessing(bytes: Uint8Array): void {
    if (this.#separator !== undefined || nodeBytes(bytes) === undefined || bytes.length < LONGEST_FIRST_KEY) return;
    const colon = bytes.subarray(0, LONGEST_FIRST_KEY).indexOf(0x3a);
    const isKey = bytes[1] === 0x7b && bytes[2] === 0x22 && bytes[colon - 1] === 0x22;
    this.#separator = new Uint8Array([0x7d, 0x2c, ...bytes.subarray(1, isKey ? colon + 1 : 0)]);
    if (!isKey) return;
    this.#guessing = true;
    this.#resetScan();
  }

  /** Emits batch after batch while enough bytes are left; returns where the rest starts. */
  #guess(bytes: Uint8Array): number {
    const separator = this.#separator!;
    const batchBytes = this.#batchBytes;
    const searchable = nodeBytes(bytes)!;
    let start = 0;
    while (bytes.length - start >= batchBytes) {
      let at = searchable.lastIndexOf(separator, start + batchBytes);
      // An item that is longer than a batch.
      if (at < start) at = searchable.lastIndexOf(separator, bytes.length);
      if (at < start) return start;
      const items = parseArray(bytes, start, at + 1);
      if (items instanceof Error) {
        // Not tried again: a list with one such place has others.
        this.#guessing = false;
        return start;
      }
      this.#emit(items);
      start = at + 1;
    }
    return start;
  }

  #resetScan(): void {
    this.#seen = 0;
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  /** `start` is at the bracket or comma in front of the batch; returns where the rest starts. */
  #scan(bytes: Uint8Array, start: number): number {
    let batchStart = start;
    let batchEnd = -1;
    let depth = this.#depth;
    const length = bytes.length;
    let index = start + Math.max(this.#seen, 1);
    if (this.#inString) index = this.#skipString(bytes, index);
    for (; index < length; index++) {
      const byte = bytes[index]!;
      if (byte === 0x22) {
        index = this.#skipString(bytes, index + 1) - 1;
      } else if (byte === 0x7b || byte === 0x5b) {
        depth++;
      } else if (byte === 0x7d || byte === 0x5d) {
        if (depth === 0) {
          this.#batch(bytes, batchStart, index);
          this.#closedAt = index;
          return length;
        }
        depth--;
      } else if (byte === 0x2c && depth === 0) {
        batchEnd = index;
        if (index - batchStart >= this.#batchBytes) {
          this.#batch(bytes, batchStart, index);
          batchStart = index;
          batchEnd = -1;
        }
      }
    }
    if (batchEnd >= 0) {
      this.#batch(bytes, batchStart, batchEnd);
      batchStart = batchEnd;
    }
    this.#depth = depth;
    this.#seen = length - batchStart;
    return batchStart;
  }

  /** From inside a string to the index after its closing quote, or to the end of what is there. Most bytes of a list pass here. */
  #skipString(bytes: Uint8Array, from: number): number {
    const length = bytes.length;
    let index = from;
    if (this.#escaped && index < length) {
      this.#escaped = false;
      index++;
    }
    for (;;) {
      const near = Math.min(index + SHORT_STRING, length);
      let byte = 0;
      while (index < near) {
        byte = bytes[index]!;
        if (byte === 0x22 || byte === 0x5c) break;
        index++;
      }
      if (index === near && near < length) {
        // Beyond a short string the native search is faster; it looks for the end, backslashes in between are looked at below.
        const quote = bytes.indexOf(0x22, index);
        const end = quote < 0 ? length : quote;
        const backslash = bytes.subarray(index, end).indexOf(0x5c);
        index = backslash < 0 ? end : index + backslash;
        byte = index < length ? bytes[index]! : 0;
      }
      if (index >= length) {
        this.#inString = true;
        return length;
      }
      if (byte === 0x22) {
        this.#inString = false;
        return index + 1;
      }
      index += 2;
      if (index > length) {
        this.#inString = true;
        this.#escaped = true;
        return length;
      }
    }
  }

  #batch(bytes: Uint8Array, start: number, end: number): void {
    const items = parseArray(bytes, start, end);
    if (items instanceof Error) {
      throw new DecodeError('BAD_JSON', `list answer is not JSON: ${items.message}`, { cause: items });
    }
    if (items.length > 0) this.#emit(items);
  }
}

/**
 * The items between `start`, where a bracket or comma is, and `end`. For the time of the parse those two bytes become the brackets of
 * an array, which saves a copy of the text.
 */
function parseArray(bytes: Uint8Array, start: number, end: number): unknown[] | Error {
  const before = bytes[start]!;
  const behind = bytes[end]!;
  bytes[start] = 0x5b;
  bytes[end] = 0x5d;
  const text = utf8ToString(bytes, start, end + 1);
  bytes[start] = before;
  bytes[end] = behind;
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    return error as Error;
  }
}
