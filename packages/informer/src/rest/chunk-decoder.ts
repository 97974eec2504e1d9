// The chunked transfer coding of HTTP/1.1, decoded in place: what one read of a socket brought leaves as one piece, however many
// chunks it was. A watch has a chunk for each event, and telling of each is most of what Node's own parser costs a busy watch.

const CR = 0x0d;
const LF = 0x0a;
// Eight digits are 4 GiB; nobody sends such a chunk in good faith.
const MAX_SIZE_DIGITS = 8;

type Step = 'size' | 'size-end' | 'data' | 'data-end-cr' | 'data-end-lf';

/**
 * Decodes plain chunks only. The last one, and anything that is not plain (extensions, a wrong digit), it leaves: `push` then returns the
 * bytes from the start of that chunk's size on, which is where another parser that has seen no chunk at all can go on.
 */
export class ChunkDecoder {
  readonly #emit: (payload: Buffer) => void;
  #step: Step = 'size';
  #size = 0;
  /** Digits of a size that came in parts; the bytes of an earlier read are gone. */
  #digits = '';
  #left = 0;

  constructor(emit: (payload: Buffer) => void) {
    this.#emit = emit;
  }

  /** Overwrites `bytes`. Undefined while all is plain; after anything else the decoder is of no use. */
  push(bytes: Buffer): Buffer | undefined {
    let read = 0;
    let written = 0;
    let rest: Buffer | undefined;
    while (read < bytes.length) {
      if (this.#step === 'data') {
        const count = Math.min(this.#left, bytes.length - read);
        if (written !== read) bytes.copyWithin(written, read, read + count);
        written += count;
        read += count;
        this.#left -= count;
        if (this.#left === 0) this.#step = 'data-end-cr';
      } else if (this.#frame(bytes[read]!)) {
        read++;
      } else {
        rest = this.#refuse(bytes.subarray(read));
        break;
      }
    }
    if (written > 0) this.#emit(bytes.subarray(0, written));
    return rest;
  }

  /** A byte between the data of two chunks; false when it is not one a plain chunk has there. */
  #frame(byte: number): boolean {
    switch (this.#step) {
      case 'size': {
        if (byte === CR && this.#size > 0) {
          this.#step = 'size-end';
          return true;
        }
        const digit = hexDigit(byte);
        if (digit < 0 || this.#digits.length === MAX_SIZE_DIGITS) return false;
        this.#digits += String.fromCharCode(byte);
        this.#size = this.#size * 16 + digit;
        return true;
      }
      case 'size-end':
        if (byte !== LF) return false;
        this.#left = this.#size;
        this.#size = 0;
        this.#digits = '';
        this.#step = 'data';
        return true;
      case 'data-end-cr':
        if (byte !== CR) return false;
        this.#step = 'data-end-lf';
        return true;
      default:
        if (byte !== LF) return false;
        this.#step = 'size';
        return true;
    }
  }

  #refuse(from: Buffer): Buffer {
    // Data that does not end where it should: to a parser that has not seen it, only what is no digit says that something is wrong.
    const before = this.#step === 'size' ? this.#digits : `${this.#digits}\r`;
    return before === '' ? from : Buffer.concat([Buffer.from(before, 'latin1'), from]);
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
