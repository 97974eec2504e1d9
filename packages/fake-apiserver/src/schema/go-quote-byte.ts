// One byte of a text as Go's JSON scanner quotes it: it works on bytes, so a character beyond ASCII shows as its first byte.
const encoder = new TextEncoder();

const NAMED: ReadonlyMap<string, string> = new Map([
  ["'", "\\'"],
  ['"', '"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** The quoted byte at which the character at `at` starts, e.g. `'h'`, `'\n'`, `'\x00'`, `'Ã'`. */
export function goQuoteByte(text: string, at: number): string {
  const point = text.codePointAt(at) ?? 0;
  const byte = point < 0x80 ? point : encoder.encode(String.fromCodePoint(point))[0]!;
  const char = String.fromCharCode(byte);
  const named = NAMED.get(char);
  if (named !== undefined) return `'${named}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  // Go takes the byte for a code point; of those from 0x80 to 0x9f, 0xa0 and the soft hyphen none is printable.
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`;
  return `'${char}'`;
}
