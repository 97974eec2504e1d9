// Bytes of a LIST answer to items, batch by batch while they arrive, so that neither the whole text nor one long JSON.parse is
// ever needed. The envelope (everything but the items) is parsed at the end.
import { DecodeError } from '../errors.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { concatBytes } from './transport.ts';
import { utf8ToString } from './utf8.ts';

/** What the answer holds beside its items. `hasItems` is false when there is no array called items. */
export interface ListEnvelope {
  readonly value: unknown;
  readonly hasItems: boolean;
}

// Items are parsed together until this much text is there: small enough for the event loop, large enough to be cheap.
const BATCH_BYTES = 64 * 1024;
const ITEMS_KEY = '"items"';
const SHORT_STRING = 48;

/**
 * Push bytes; items come out through the callback in order; `finish` returns the envelope. Throws a DecodeError when the text is
 * no JSON object.
 */
export class ListDecoder {
  readonly #emit: (items: unknown[]) => void;
  readonly #rest = new ByteBuffer();
  readonly #head: Uint8Array[] = [];
  readonly #tail: Uint8Array[] = [];
  #headLength = 0;
  #headValue: unknown;
  #tailLength = 0;
  #phase: 'head' | 'items' | 'tail' = 'head';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #seen = 0;
  #stringStart = -1;
  #isItemsKey = false;
  // Start of the batch, and whether an item of it has begun.
  #hasItems = false;

  constructor(emit: (items: unknown[]) => void) {
    this.#emit = emit;
  }

  push(chunk: Uint8Array): void {
    if (this.#phase === 'tail') {
      this.#tail.push(chunk);
      this.#tailLength += chunk.length;
      return;
    }
    let bytes = chunk;
    const buffered = this.#rest.length > 0;
    if (buffered) {
      this.#rest.append(chunk);
      bytes = this.#rest.view();
    }
    const start = this.#phase === 'head' ? this.#scanHead(bytes) : this.#scanItems(bytes, 0);
    if (buffered) this.#rest.consume(start);
    else if (start < bytes.length) this.#rest.append(bytes.subarray(start));
  }

  /** The envelope's fields that came before the items, undefined while none can be told. */
  get head(): unknown {
    if (this.#phase === 'head') return undefined;
    this.#headValue ??= parse(`${utf8ToString(concatBytes(this.#head, this.#headLength))}]}`);
    return this.#headValue;
  }

  /** Not one byte came. */
  get empty(): boolean {
    return this.#phase === 'head' && this.#rest.length === 0;
  }

  finish(): ListEnvelope {
    if (this.#phase === 'items') throw new DecodeError('BAD_JSON', 'list answer ended inside its items');
    if (this.#phase === 'head') this.#keepHead(this.#rest.view());
    const head = concatBytes(this.#head, this.#headLength);
    const tail = concatBytes(this.#tail, this.#tailLength);
    const text = utf8ToString(head) + (this.#hasItems ? ']' : '') + utf8ToString(tail);
    return { value: parse(text), hasItems: this.#hasItems };
  }

  #keepHead(bytes: Uint8Array): void {
    this.#head.push(bytes.slice());
    this.#headLength += bytes.length;
  }

  /** Looks for `"items":[` among the keys of the outermost object. */
  #scanHead(bytes: Uint8Array): number {
    for (let index = this.#seen; index < bytes.length; index++) {
      const byte = bytes[index]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === 0x5c) this.#escaped = true;
        else if (byte === 0x22) {
          this.#inString = false;
          this.#isItemsKey =
            this.#depth === 1 &&
            index - this.#stringStart === ITEMS_KEY.length - 1 &&
            utf8ToString(bytes, this.#stringStart, index + 1) === ITEMS_KEY;
        }
      } else if (byte === 0x22) {
        this.#inString = true;
        this.#stringStart = index;
        this.#isItemsKey = false;
      } else if (byte === 0x5b && this.#isItemsKey) {
        this.#keepHead(bytes.subarray(0, index + 1));
        this.#phase = 'items';
        this.#hasItems = true;
        this.#depth = 0;
        this.#seen = index + 1;
        return this.#scanItems(bytes, index + 1);
      } else if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if (byte === 0x7d || byte === 0x5d) this.#depth--;
      // Only a colon may stand between the key and its array.
      else if (byte !== 0x3a && byte > 0x20) this.#isItemsKey = false;
    }
    this.#seen = bytes.length;
    return 0;
  }

  /** Cuts the array into batches of whole items; `start` is where the first item of the batch may begin. */
  #scanItems(bytes: Uint8Array, start: number): number {
    let batchStart = start;
    let batchEnd = -1;
    let depth = this.#depth;
    const length = bytes.length;
    let index = Math.max(this.#seen, start);
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
          this.#phase = 'tail';
          this.#tail.push(bytes.slice(index + 1));
          this.#tailLength += length - index - 1;
          return length;
        }
        depth--;
      } else if (byte === 0x2c && depth === 0) {
        batchEnd = index;
        if (index - batchStart >= BATCH_BYTES) {
          this.#batch(bytes, batchStart, index);
          batchStart = index + 1;
          batchEnd = -1;
        }
      }
    }
    if (batchEnd >= 0) {
      this.#batch(bytes, batchStart, batchEnd);
      batchStart = batchEnd + 1;
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
    const items = parse(`[${utf8ToString(bytes, start, end)}]`) as unknown[];
    if (items.length > 0) this.#emit(items);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError('BAD_JSON', `list answer is not JSON: ${(cause as Error).message}`, { cause });
  }
}
