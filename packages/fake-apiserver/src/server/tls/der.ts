// Just enough DER to write certificates.
// Upstream: ITU-T X.690

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag, length, content. */
export function tlv(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...items: readonly Buffer[]): Buffer => tlv(TAG.sequence, ...items);
export const set = (...items: readonly Buffer[]): Buffer => tlv(TAG.set, ...items);
export const boolean = (value: boolean): Buffer => tlv(TAG.boolean, Buffer.from([value ? 0xff : 0]));
export const octetString = (bytes: Buffer): Buffer => tlv(TAG.octetString, bytes);
export const utf8String = (text: string): Buffer => tlv(TAG.utf8String, Buffer.from(text));
export const nullValue = (): Buffer => tlv(TAG.null);

/** Of an unsigned number, given as its bytes. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  return tlv(TAG.integer, trimmed[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return tlv(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let high = arc >>> 7; high > 0; high >>>= 7) groups.unshift((high & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(TAG.oid, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime from then on, as RFC 5280 wants it. */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  const utc = Number(digits.slice(0, 4)) < 2050;
  return tlv(utc ? 0x17 : 0x18, Buffer.from(utc ? digits.slice(2) : digits));
}

/** `[n]` around its content. */
export const explicit = (n: number, ...content: readonly Buffer[]): Buffer => tlv(0xa0 | n, ...content);
/** `[n]` instead of the primitive's own tag. */
export const implicit = (n: number, bytes: Buffer): Buffer => tlv(0x80 | n, bytes);
