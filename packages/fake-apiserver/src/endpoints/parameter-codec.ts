// How single query parameters turn into typed fields.
// Upstream: apimachinery@v0.30.3:pkg/runtime/conversion.go, pkg/apis/meta/v1/conversion.go
import { goQuote, newBadRequest } from '@kube-rx/apimachinery';
import type { Query } from './query.ts';

/** Absent, `0` and `false` are false; everything else, also the empty string, is true. */
export function decodeBool(query: Query, name: string): boolean {
  return decodeOptionalBool(query, name) ?? false;
}

export function decodeOptionalBool(query: Query, name: string): boolean | undefined {
  const value = query.first(name);
  if (value === undefined) return undefined;
  return value !== '0' && value.toLowerCase() !== 'false';
}

const INT64_MAX = 9223372036854775807n;

/** Undefined when absent; a 400 with Go's text when it is no 64-bit integer. */
export function decodeOptionalInt64(query: Query, name: string): number | undefined {
  const exact = readOptionalInt64(query, name);
  return exact === undefined ? undefined : Number(exact);
}

/** The same with all its digits. */
export function readOptionalInt64(query: Query, name: string): bigint | undefined {
  const value = query.first(name);
  if (value === undefined) return undefined;
  if (!/^[+-]?[0-9]+$/.test(value)) {
    throw newBadRequest(`strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`);
  }
  const parsed = BigInt(value.startsWith('+') ? value.slice(1) : value);
  if (parsed > INT64_MAX || parsed < -INT64_MAX - 1n) {
    throw newBadRequest(`strconv.ParseInt: parsing ${goQuote(value)}: value out of range`);
  }
  return parsed;
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(char: string): boolean {
  return char === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}
