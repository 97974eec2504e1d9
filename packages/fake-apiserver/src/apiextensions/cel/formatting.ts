// `'%s is %d'.format([...])`
// Upstream: github.com/google/cel-go@v0.17.8:ext/strings.go#stringFormatter
import { goQuote } from '@kube-rx/apimachinery';
import { toCelString } from './conversions.ts';
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  noSuchOverload,
  typeName,
} from './values.ts';

const DEFAULT_PRECISION = 6;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

export function format([template, list]: readonly CelValue[]): CelValue {
  if (typeof template !== 'string' || !(list instanceof CelList)) throw noSuchOverload();
  let next = 0;
  return template.replace(/%(?:%|(?:\.(\d+))?([a-zA-Z]?))/g, (whole, precision?: string, clause?: string) => {
    if (whole === '%%') return '%';
    const value = list.items[next];
    if (value === undefined) throw new CelError(`index ${next} out of range`);
    next += 1;
    return clauseOf(clause ?? '', value, precision === undefined ? DEFAULT_PRECISION : Number(precision));
  });
}

const failed = (text: string, value: CelValue): CelError =>
  new CelError(`error during formatting: ${text}, was given ${typeName(value)}`);
const integer = (value: CelValue): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof CelUint ? value.value : undefined;

function clauseOf(clause: string, value: CelValue, precision: number): string {
  switch (clause) {
    case 's':
      return display(value);
    case 'd':
      return decimal(value);
    case 'f':
      return fixedPoint(value, precision);
    case 'e':
      return scientific(value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return inBase(value, 2, 'only integers and bools can be formatted as binary');
    case 'o':
      return inBase(value, 8, 'octal clause can only be used on integers');
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${clause}"`);
  }
}

function decimal(value: CelValue): string {
  const number = integer(value);
  if (number === undefined) throw failed('decimal clause can only be used on integers', value);
  return String(number);
}

function inBase(value: CelValue, base: number, text: string): string {
  const number = integer(value);
  if (number === undefined) throw failed(text, value);
  return number.toString(base);
}

function hex(value: CelValue): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return Buffer.from(value as string).toString('hex');
  return inBase(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
}

function double(value: CelValue, text: string): number {
  if (typeof value === 'number') return value;
  const known = new Map([
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
  ]).get(value as string);
  if (known === undefined) throw failed(text, value);
  return known;
}

const special = (value: number): string => (Number.isNaN(value) ? 'NaN' : value < 0 ? '-∞' : '∞');

/** In the way of American English, as upstream's printer has it. */
function fixedPoint(value: CelValue, precision: number): string {
  const number = double(value, 'fixed-point clause can only be used on doubles');
  if (!Number.isFinite(number)) return special(number);
  const [whole = '', fraction] = number.toFixed(precision).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: CelValue, precision: number): string {
  const number = double(value, 'scientific clause can only be used on doubles');
  if (!Number.isFinite(number)) return special(number);
  const [mantissa = '', exponent = ''] = number.toExponential(precision).split('e');
  const digits = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!);
  return `${mantissa} × 10${exponent.startsWith('-') ? '⁻' : ''}${digits}`;
}

function display(value: CelValue): string {
  if (value === null) return 'null';
  if (value instanceof CelList) return `[${value.items.map(literal).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = value.entries().map(([key, item]) => [literal(key), literal(item)] as const);
    entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, item]) => `${key}:${item}`).join(', ')}}`;
  }
  if (value instanceof CelTypeValue) return value.typeName;
  if (
    typeof value !== 'object' ||
    value instanceof CelUint ||
    value instanceof CelDuration ||
    value instanceof CelTimestamp ||
    value instanceof Uint8Array
  ) {
    return String(toCelString(value));
  }
  const types = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';
  throw failed(`string clause can only be used on ${types}`, value);
}

/** A value inside a list or a map, as CEL would write it. */
function literal(value: CelValue): string {
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(display(value))}`;
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(display(value))})`;
  if (value instanceof CelDuration) return `duration(${goQuote(display(value))})`;
  if (typeof value !== 'number') return display(value);
  return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : goQuote(String(value));
}
