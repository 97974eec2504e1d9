// Strings in the notation of Go's `%q`, in which the API server quotes values in its messages.
// Upstream: Go strconv.Quote

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
// What Go and JSON write alike. Whole documents are quoted in messages, so the quick way matters.
const SAME_AS_JSON = /^[ -~\b\f\n\r\t]*$/;

/**
 * The text in double quotes with Go's escapes: `\n`, `\x7f`, `\u00ad`, `\U000e0001`.
 *
 * @example
 * goQuote('a"b'); // "a\"b"
 */
export function goQuote(text: string): string {
  if (SAME_AS_JSON.test(text)) return JSON.stringify(text);
  let quoted = '"';
  for (const char of text) quoted += SHORT_ESCAPES.get(char) ?? quoteChar(char);
  return `${quoted}"`;
}

function quoteChar(char: string): string {
  if (PRINTABLE.test(char)) return char;
  const code = char.codePointAt(0)!;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  // Half a surrogate pair cannot be in a Go string: it came in as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
