// Bytes of a LIST answer to items, batch by batch while they arrive, so that neither the whole text nor one long JSON.parse is
// ever needed. The envelope (everything but the items) is parsed at the end.
import { DecodeError } from '../errors.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { ItemCutter } from './item-cutter.ts';
import { concatBytes } from './transport.ts';
import { utf8ToString } from './utf8.ts';

/** What the answer holds beside its items. `hasItems` is false when there is no array called items. */
export interface ListEnvelope {
  readonly value: unknown;
  readonly hasItems: boolean;
}

const ITEMS_KEY = '"items"';

/**
 * Push bytes; items come out through the callback in order; `finish` returns the envelope. Throws a DecodeError when the text is
 * no JSON object.
 */
export class ListDecoder {
  readonly #items: ItemCutter;
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

  constructor(emit: (items: unknown[]) => void, batchBytes?: number) {
    this.#items = new ItemCutter(emit, batchBytes);
  }

  push(chunk: Uint8Array): void {
    if (this.#phase === 'tail') this.#keepTail(chunk.slice());
    else if (this.#phase === 'items') this.#pushItems(chunk);
    else {
      this.#rest.append(chunk);
      this.#scanHead(this.#rest.view());
    }
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
    if (this.#phase === 'items') this.#keepTail(this.#items.finish());
    if (this.#phase === 'items') throw new DecodeError('BAD_JSON', 'list answer ended inside its items');
    const hasItems = this.#phase === 'tail';
    if (!hasItems) this.#keepHead(this.#rest.view());
    const head = utf8ToString(concatBytes(this.#head, this.#headLength));
    const tail = utf8ToString(concatBytes(this.#tail, this.#tailLength));
    return { value: parse(hasItems ? `${head}]${tail}` : head), hasItems };
  }

  #pushItems(chunk: Uint8Array): void {
    this.#keepTail(this.#items.push(chunk));
  }

  #keepTail(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) return;
    this.#phase = 'tail';
    this.#tail.push(bytes);
    this.#tailLength += bytes.length;
  }

  #keepHead(bytes: Uint8Array): void {
    this.#head.push(bytes.slice());
    this.#headLength += bytes.length;
  }

  /** Looks for `"items":[` among the keys of the outermost object. */
  #scanHead(bytes: Uint8Array): void {
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
        this.#pushItems(bytes.subarray(index));
        this.#rest.clear();
        return;
      } else if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if (byte === 0x7d || byte === 0x5d) this.#depth--;
      // Only a colon may stand between the key and its array.
      else if (byte !== 0x3a && byte > 0x20) this.#isItemsKey = false;
    }
    this.#seen = bytes.length;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError('BAD_JSON', `list answer is not JSON: ${(cause as Error).message}`, { cause });
  }
}
