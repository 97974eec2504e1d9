// JSON text exactly as Go's encoding/json writes it.
// Upstream: Go encoding/json#HTMLEscape
//
// Numbers need no work: both languages write the shortest form and switch to exponents at 1e-6 and 1e21.
// Differs: -0 is written `0` (Go keeps the sign of a float). Order of fields is the order in the object.

// In the output of JSON.stringify an escape of a surrogate stands for half a pair: whole pairs are written as they are.
const NEEDS_WORK = /[<>&\u2028\u2029]|\\ud[89a-f]/;
// The middle branch steps over other escapes, so that the text `\\ud800` is not taken for one.
const PIECES = /\\ud[89a-f][0-9a-f]{2}|\\.|[<>&\u2028\u2029]/g;

const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['<', '\\u003c'],
  ['>', '\\u003e'],
  ['&', '\\u0026'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
]);

/**
 * As `JSON.stringify`, with `<`, `>`, `&` and the two line separators escaped, and half surrogate pairs as U+FFFD.
 * `indent` is the string for one level. A value without a JSON form (undefined, a function) gives `null`.
 *
 * @example
 * goJsonStringify({ a: '<b>' }); // {"a":"\u003cb\u003e"}
 */
export function goJsonStringify(value: unknown, indent?: string): string {
  // The declared return type of JSON.stringify leaves out undefined.
  const text = (JSON.stringify(value, undefined, indent) as string | undefined) ?? 'null';
  return NEEDS_WORK.test(text) ? text.replace(PIECES, replacePiece) : text;
}

function replacePiece(piece: string): string {
  const replacement = REPLACEMENTS.get(piece);
  if (replacement !== undefined) return replacement;
  return piece.length > 2 ? '\ufffd' : piece;
}

const encoder = new TextEncoder();

/** {@link goJsonStringify} as UTF-8. */
export function goJsonBytes(value: unknown, indent?: string): Uint8Array {
  return encoder.encode(goJsonStringify(value, indent));
}
