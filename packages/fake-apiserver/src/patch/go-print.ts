// A JSON value as Go's `%v` prints a decoded one, e.g. `map[a:1 b:[x y]]`; some messages of patches quote values so.
import { isObject, sortedEntries } from './json-value.ts';

export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (isObject(value)) {
    return `map[${sortedEntries(value)
      .map(([key, item]) => `${key}:${goPrint(item)}`)
      .join(' ')}]`;
  }
  return typeof value === 'number' ? goNumber(value) : String(value);
}

/** Whole numbers are int64 there, others float64 in the shortest form with an exponent of at least two digits. */
function goNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 21) return String(value);
  const text = value.toExponential();
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
