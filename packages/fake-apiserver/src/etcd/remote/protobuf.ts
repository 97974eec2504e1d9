// The few parts of the protobuf wire format that etcd's messages use: varints, length-delimited fields.
// Revisions are int64 on the wire and safe integers here, which takes longer than a cluster lives to run out.

const SEVEN_BITS = 128;

export class ProtoWriter {
  readonly #parts: Buffer[] = [];

  /** Zero values are left out, as proto3 does. */
  int(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8), varint(value));
    return this;
  }

  /** A 64-bit identifier kept as decimal text because it does not fit a number. */
  id(field: number, value: string): this {
    if (value !== '' && value !== '0') this.#parts.push(varint(field * 8), bigVarint(BigInt(value)));
    return this;
  }

  bool(field: number, value: boolean | undefined): this {
    return this.int(field, value ? 1 : 0);
  }

  bytes(field: number, value: Buffer): this {
    if (value.length > 0) this.#delimited(field, value);
    return this;
  }

  text(field: number, value: string | undefined): this {
    return this.bytes(field, Buffer.from(value ?? ''));
  }

  /** Written even when empty: an empty message in a oneof says which one it is. */
  message(field: number, value: ProtoWriter): this {
    this.#delimited(field, value.finish());
    return this;
  }

  /** Bytes that are fields already. */
  raw(fields: Buffer): this {
    this.#parts.push(fields);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #delimited(field: number, value: Buffer): void {
    this.#parts.push(varint(field * 8 + 2), varint(value.length), value);
  }
}

/** Walks the fields of one message; those the caller does not read are skipped. */
export class ProtoReader {
  readonly #buffer: Buffer;
  #at = 0;
  #wireType = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** Number of the next field, 0 at the end. Each field must be read or skipped before the next call. */
  next(): number {
    if (this.#at >= this.#buffer.length) return 0;
    const tag = this.int();
    this.#wireType = tag % 8;
    return Math.floor(tag / 8);
  }

  /** Values past 2^53 lose digits; negative ones come out as large ones. */
  int(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#buffer.readUInt8(this.#at++);
      value += (byte % SEVEN_BITS) * factor;
      if (byte < SEVEN_BITS) return value;
      factor *= SEVEN_BITS;
    }
  }

  /** A 64-bit value as decimal text, signed. */
  id(): string {
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const byte = this.#buffer.readUInt8(this.#at++);
      value |= BigInt(byte % SEVEN_BITS) << shift;
      if (byte < SEVEN_BITS) return BigInt.asIntN(64, value).toString();
      shift += 7n;
    }
  }

  bool(): boolean {
    return this.int() !== 0;
  }

  /** A view of the message, not a copy. */
  bytes(): Buffer {
    const length = this.int();
    const start = this.#at;
    this.#at += length;
    return this.#buffer.subarray(start, this.#at);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  message(): ProtoReader {
    return new ProtoReader(this.bytes());
  }

  skip(): void {
    if (this.#wireType === 0) this.id();
    else if (this.#wireType === 1) this.#at += 8;
    else if (this.#wireType === 2) this.bytes();
    else if (this.#wireType === 5) this.#at += 4;
    else throw new RangeError(`unknown protobuf wire type ${this.#wireType}`);
  }
}

function varint(value: number): Buffer {
  if (value < 0) return bigVarint(BigInt(value));
  const bytes: number[] = [];
  let rest = value;
  while (rest >= SEVEN_BITS) {
    bytes.push((rest % SEVEN_BITS) + SEVEN_BITS);
    rest = Math.floor(rest / SEVEN_BITS);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function bigVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 128n) {
    bytes.push(Number(rest % 128n) + SEVEN_BITS);
    rest /= 128n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
