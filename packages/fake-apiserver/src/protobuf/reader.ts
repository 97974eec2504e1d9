// Protobuf input: fields of one message, bounds checked.

/** Bytes that are no message of the expected type; the message is upstream's. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const EOF = 'unexpected EOF';
const decoder = new TextDecoder();

export class ProtobufReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** A varint as a whole number; 64-bit two's complement for negative ones. */
  varint(): number {
    let low = 0;
    let factor = 1;
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw new ProtobufError(EOF);
      const byte = this.#bytes[this.#at++]!;
      if (index >= 7) return this.#longVarint(index, byte);
      low += (byte & 0x7f) * factor;
      if (byte < 0x80) return low;
      factor *= 0x80;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  /** From the eighth byte on a number may leave the safe range or be negative. */
  #longVarint(index: number, last: number): number {
    let value = 0n;
    for (let back = index; back >= 0; back--) {
      const byte = this.#bytes[this.#at - 1 - (index - back)]!;
      value = (value << 7n) | BigInt(byte & 0x7f);
    }
    let shift = BigInt((index + 1) * 7);
    let byte = last;
    while (byte >= 0x80) {
      if (shift >= 64n) throw new ProtobufError('proto: integer overflow');
      if (this.#at >= this.#end) throw new ProtobufError(EOF);
      byte = this.#bytes[this.#at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
    }
    return Number(BigInt.asIntN(64, value));
  }

  double(): number {
    if (this.#at + 8 > this.#end) throw new ProtobufError(EOF);
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, 8);
    this.#at += 8;
    return view.getFloat64(0, true);
  }

  bytes(): Uint8Array {
    const { start, end } = this.#block();
    return this.#bytes.subarray(start, end);
  }

  string(): string {
    const { start, end } = this.#block();
    return decoder.decode(this.#bytes.subarray(start, end));
  }

  message(): ProtobufReader {
    const { start, end } = this.#block();
    return new ProtobufReader(this.#bytes, start, end);
  }

  #block(): { readonly start: number; readonly end: number } {
    const length = this.varint();
    if (length < 0) throw new ProtobufError('proto: negative length found during unmarshaling');
    const start = this.#at;
    if (length > this.#end - start) throw new ProtobufError(EOF);
    this.#at = start + length;
    return { start, end: this.#at };
  }

  /** Steps over a field nobody knows. */
  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        this.varint();
        return;
      case 1:
        this.#advance(8);
        return;
      case 2:
        this.#block();
        return;
      case 5:
        this.#advance(4);
        return;
      default:
        throw new ProtobufError(`proto: illegal wireType ${wireType}`);
    }
  }

  #advance(count: number): void {
    if (this.#at + count > this.#end) throw new ProtobufError(EOF);
    this.#at += count;
  }
}
