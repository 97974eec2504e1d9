// Finds where a JSON object ends, byte by byte and across chunks, without building anything.
// It checks structure only; JSON.parse has the last word about numbers and escapes.

export type ScanResult =
  | { readonly kind: 'complete'; readonly end: number }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly at: number };

type Expect =
  | 'start'
  | 'value'
  | 'value-or-end'
  | 'key'
  | 'key-or-end'
  | 'colon'
  | 'comma-or-end'
  | 'string'
  | 'escape';

const OBJECT = 0x7b;
const ARRAY = 0x5b;
const incomplete: ScanResult = { kind: 'incomplete' };

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
function isScalar(byte: number): boolean {
  // digits, letters of the literals and of exponents, sign, point
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x45 ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}
function startsScalar(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x74 || byte === 0x66 || byte === 0x6e;
}

/** Feed it consecutive bytes; it remembers its place until the object is complete, then start anew with `reset`. */
export class JsonObjectScanner {
  #expect: Expect = 'start';
  #stringIsKey = false;
  readonly #stack: number[] = [];

  reset(): void {
    this.#expect = 'start';
    this.#stack.length = 0;
  }

  /** Scans `bytes[from..to)`; `end` is the index after the closing brace, `at` that of the byte that cannot be there. */
  scan(bytes: Uint8Array, from: number, to: number): ScanResult {
    for (let index = from; index < to; index++) {
      const byte = bytes[index]!;
      if (this.#expect === 'string') {
        if (byte === 0x22) this.#expect = this.#stringIsKey ? 'colon' : 'comma-or-end';
        else if (byte === 0x5c) this.#expect = 'escape';
        else if (byte < 0x20) return { kind: 'invalid', at: index };
      } else if (this.#expect === 'escape') {
        this.#expect = 'string';
      } else if (!isSpace(byte) && !this.#structural(byte)) {
        return { kind: 'invalid', at: index };
      } else if (this.#stack.length === 0 && this.#expect === 'comma-or-end') {
        return { kind: 'complete', end: index + 1 };
      }
    }
    return incomplete;
  }

  #structural(byte: number): boolean {
    switch (this.#expect) {
      case 'start':
        return byte === OBJECT && this.#open(byte);
      case 'key-or-end':
        return byte === 0x7d ? this.#close(OBJECT) : byte === 0x22 && this.#string(true);
      case 'key':
        return byte === 0x22 && this.#string(true);
      case 'colon':
        if (byte !== 0x3a) return false;
        this.#expect = 'value';
        return true;
      case 'value-or-end':
        return byte === 0x5d ? this.#close(ARRAY) : this.#value(byte);
      case 'value':
        return this.#value(byte);
      default:
        return this.#afterValue(byte);
    }
  }

  #value(byte: number): boolean {
    if (byte === OBJECT || byte === ARRAY) return this.#open(byte);
    if (byte === 0x22) return this.#string(false);
    if (!startsScalar(byte)) return false;
    this.#expect = 'comma-or-end';
    return true;
  }

  #afterValue(byte: number): boolean {
    if (byte === 0x2c) {
      this.#expect = this.#stack.at(-1) === OBJECT ? 'key' : 'value';
      return true;
    }
    if (byte === 0x7d) return this.#close(OBJECT);
    if (byte === 0x5d) return this.#close(ARRAY);
    return isScalar(byte);
  }

  #open(byte: number): boolean {
    this.#stack.push(byte);
    this.#expect = byte === OBJECT ? 'key-or-end' : 'value-or-end';
    return true;
  }

  #close(opened: number): boolean {
    if (this.#stack.at(-1) !== opened) return false;
    this.#stack.pop();
    this.#expect = 'comma-or-end';
    return true;
  }

  #string(isKey: boolean): boolean {
    this.#stringIsKey = isKey;
    this.#expect = 'string';
    return true;
  }
}
