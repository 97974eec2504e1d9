// Values as Go prints them: error texts of the API show `%q`, `%v` and `%#v`.
// Upstream: Go's fmt and strconv packages
import { goQuote } from '@kube-rx/apimachinery';

/** A float64 under `%v`: shortest form, an exponent of at least two digits from 1e21 on and below 1e-4. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const exponential = value.toExponential();
  const exponent = Number(exponential.slice(exponential.indexOf('e') + 1));
  if (exponent >= -4 && exponent < 21)
    return Number.isInteger(value) ? BigInt(value).toString() : decimal(value, exponent);
  const mantissa = exponential.slice(0, exponential.indexOf('e'));
  const sign = exponent < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

// String(1e-7) is exponential already from 1e-7 on, which is below Go's border of 1e-4.
const decimal = (value: number, exponent: number): string =>
  exponent < -6 ? value.toFixed(20).replace(/0+$/, '') : String(value);

const sortedEntries = (value: object): [string, unknown][] =>
  Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** `%#v` of decoded JSON. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  switch (typeof value) {
    case 'string':
      return goQuote(value);
    case 'number':
      return formatFloat(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
  }
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  return `map[string]interface {}{${sortedEntries(value as object)
    .map(([name, item]) => `${goQuote(name)}:${goSyntax(item)}`)
    .join(', ')}}`;
}

/** `%v` of decoded JSON. */
export function goString(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatFloat(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(goString).join(' ')}]`;
  return `map[${sortedEntries(value as object)
    .map(([name, item]) => `${name}:${goString(item)}`)
    .join(' ')}]`;
}
