// Protobuf output written from its end to its start, so that a message's length is known when its tag is written.
// Upstream: gogo/protobuf's MarshalToSizedBuffer, which k8s.io/api uses

export type WireType = 0 | 1 | 2 | 5;

/** From here on a call into the runtime costs less than a loop. */
const LONG_TEXT = 32;

export class BackwardWriter {
  #bytes: Buffer;
  /** Start of what is written; grows downwards. */
  #at: number;

  constructor(sizeHint = 1024) {
    this.#bytes = Buffer.allocUnsafe(sizeHint);
    this.#at = sizeHint;
  }

  /** Bytes written so far; the difference of two marks is a length. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  #reserve(count: number): void {
    if (count <= this.#at) return;
    const used = this.length;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, used + count));
    this.#bytes.copy(grown, grown.length - used, this.#at);
    this.#bytes = grown;
    this.#at = grown.length - used;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
  }

  string(text: string): void {
    const length = text.length;
    if (length > LONG_TEXT) {
      this.#encoded(text);
      return;
    }
    this.#reserve(length);
    const start = this.#at - length;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) {
        this.#encoded(text);
        return;
      }
      this.#bytes[start + index] = code;
    }
    this.#at = start;
  }

  #encoded(text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length, 'utf8');
  }

  /** A varint of a whole number; negative ones take ten bytes, as int32 and int64 do. */
  varint(value: number): void {
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) {
      this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#reserve(size);
    this.#at -= size;
    let at = this.#at;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80;
    this.#bytes[at] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.raw(Uint8Array.from(bytes));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  tag(id: number, wireType: WireType): void {
    this.varint(id * 8 + wireType);
  }

  /** Ends (in writing order) a length-delimited field that began at the mark. */
  delimited(id: number, mark: number): void {
    this.varint(this.length - mark);
    this.tag(id, 2);
  }
}
