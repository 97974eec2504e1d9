// Amounts such as `500m`, `1.5Gi` or `2e3`, exact at any size.
// Upstream: apimachinery@v0.30.3:pkg/api/resource/quantity.go
//
// A value is mantissa x 10^exponent with a BigInt mantissa: `1e1000000000` costs nothing until someone asks for all its
// digits. Differs: comparing never expands such a number, upstream does.
import type { Decimal } from './decimal.ts';
import { addDecimals, compareDecimals, removeFactors, roundAwayFromZero, signOf } from './decimal.ts';

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export type QuantityErrorCode = 'FORMAT' | 'NUMERIC' | 'SUFFIX';

const ERROR_TEXTS: Readonly<Record<QuantityErrorCode, string>> = {
  FORMAT: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  NUMERIC: 'unable to parse numeric part of quantity',
  SUFFIX: "unable to parse quantity's suffix",
};

/** A text that is no quantity; the message is what the API server says. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
  readonly code: QuantityErrorCode;
  readonly text: string;

  constructor(code: QuantityErrorCode, text: string) {
    super(ERROR_TEXTS[code]);
    this.code = code;
    this.text = text;
  }
}

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const BINARY_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);
const DECIMAL_BY_EXPONENT: ReadonlyMap<number, string> = new Map([...DECIMAL_SUFFIXES].map(([s, e]) => [e, s]));
const BINARY_BY_EXPONENT: ReadonlyMap<number, string> = new Map([...BINARY_SUFFIXES].map(([s, e]) => [e, s]));

const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
// Digits that always fit an int64, and how many of them upstream trusts to stay exact with a binary suffix.
const MAX_DECIMAL_DIGITS = 18;
const MAX_BINARY_DIGITS = 15;

/** Immutable. Made by {@link parseQuantity}; its text keeps the kind of suffix it was written with. */
export class Quantity {
  /** How {@link toString} writes it. */
  readonly format: QuantityFormat;
  readonly #value: Decimal;
  #text: string | undefined;

  private constructor(value: Decimal, format: QuantityFormat, text: string | undefined) {
    this.#value = value;
    this.format = format;
    this.#text = text;
  }

  /** See {@link parseQuantity}. */
  static parse(text: string): Quantity {
    const { value, format, canonical } = parseValue(text);
    return new Quantity(value, format, canonical ? text : undefined);
  }

  /** `mantissa` x 10^`exponent`. */
  static of(mantissa: bigint | number, exponent = 0, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity({ mantissa: BigInt(mantissa), exponent }, format, undefined);
  }

  /** -1, 0 or 1. */
  get sign(): -1 | 0 | 1 {
    return signOf(this.#value.mantissa);
  }

  /** Negative, 0 or positive as this is less than, equal to or more than `other`. */
  compare(other: Quantity): -1 | 0 | 1 {
    return compareDecimals(this.#value, other.#value);
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** The sum, in this format; a zero takes the format of `other`. */
  add(other: Quantity): Quantity {
    const format = this.sign === 0 ? other.format : this.format;
    return new Quantity(addDecimals(this.#value, other.#value), format, undefined);
  }

  /** The difference, in this format; a zero takes the format of `other`. */
  subtract(other: Quantity): Quantity {
    const { mantissa, exponent } = other.#value;
    const format = this.sign === 0 ? other.format : this.format;
    return new Quantity(addDecimals(this.#value, { mantissa: -mantissa, exponent }), format, undefined);
  }

  /** Whole units, rounded away from zero; `scale` -3 gives thousandths. Differs: upstream overflows at 64 bits. */
  value(scale = 0): bigint {
    return roundAwayFromZero(this.#value, scale);
  }

  /** Nearest number; infinite when it is out of range. */
  toNumber(): number {
    return Number(`${this.#value.mantissa}e${this.#value.exponent}`);
  }

  /** As the API server writes it: the largest suffix without a fraction, or the text as it was where that was fine. */
  toString(): string {
    this.#text ??= formatCanonical(this.#value, this.format);
    return this.#text;
  }

  toJSON(): string {
    return this.toString();
  }
}

/**
 * Reads a quantity. Finer than nano is rounded away from zero, a binary suffix is capped at 2^63-1.
 *
 * @throws QuantityError
 * @example
 * parseQuantity('1.5Gi').toString(); // 1536Mi
 * parseQuantity('0.5').compare(parseQuantity('500m')); // 0
 */
export function parseQuantity(text: string): Quantity {
  return Quantity.parse(text);
}

// The same few amounts come over and over again.
const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 20;
const known = new Map<string, string>();

/** The text the API server would store for `text`. Throws as {@link parseQuantity}. */
export function canonicalQuantity(text: string): string {
  let canonical = known.get(text);
  if (canonical !== undefined) return canonical;
  canonical = Quantity.parse(text).toString();
  if (text.length <= MAX_KNOWN_LENGTH) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, canonical);
  }
  return canonical;
}

interface ParsedValue {
  readonly value: Decimal;
  readonly format: QuantityFormat;
  /** The text may be kept as it is. */
  readonly canonical: boolean;
}

// Two steps without backtracking, since the text may be megabytes long. What the suffix means comes later.
const NUMBER = /^([+-]?)([0-9]*)(?:\.([0-9]*))?/;
const SUFFIX = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

function parseValue(text: string): ParsedValue {
  const [number, sign, digits, fraction = ''] = NUMBER.exec(text)!;
  const suffixText = text.slice(number.length);
  if (text === '' || !SUFFIX.test(suffixText)) throw new QuantityError('FORMAT', text);
  const whole = withoutLeadingZeros(digits!);
  const suffix = interpretSuffix(suffixText);
  if (suffix === undefined) throw new QuantityError('SUFFIX', text);

  const shifted = whole + fraction;
  const isBlank = digits === '' && fraction === '';
  const signed = (mantissa: bigint): bigint => (sign === '-' ? -mantissa : mantissa);

  if (suffix.format === 'BinarySI') {
    const magnitude = BigInt(shifted);
    const mantissa = magnitude << BigInt(suffix.exponent);
    const spare = MAX_BINARY_DIGITS - whole.length - Math.trunc((suffix.exponent * 3) / 10) - 1;
    if (fraction === '' && spare >= 0) {
      const canonical = (magnitude & 7n) !== 0n;
      return { value: { mantissa: signed(mantissa), exponent: 0 }, format: 'BinarySI', canonical };
    }
    if (isBlank) throw new QuantityError('NUMERIC', text);
    const rounded = roundToNano({ mantissa, exponent: -fraction.length });
    const capped = compareDecimals(rounded, { mantissa: MAX_INT64, exponent: 0 }) > 0;
    const value = capped ? { mantissa: MAX_INT64, exponent: 0 } : rounded;
    const belowOne = value.mantissa > 0n && compareDecimals(value, { mantissa: 1n, exponent: 0 }) < 0;
    return {
      value: { mantissa: signed(value.mantissa), exponent: value.exponent },
      format: belowOne ? 'DecimalSI' : 'BinarySI',
      canonical: false,
    };
  }

  const exponent = suffix.exponent - fraction.length;
  const value = decimalOf(shifted, exponent);
  const isShort = whole.length + fraction.length <= MAX_DECIMAL_DIGITS && exponent >= NANO;
  if (!isShort && isBlank) throw new QuantityError('NUMERIC', text);
  const { mantissa, exponent: kept } = isShort ? value : roundToNano(value);
  const canonical = isShort && exponent % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
  return { value: { mantissa: signed(mantissa), exponent: kept }, format: suffix.format, canonical };
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === '0') start++;
  return digits.slice(start) || '0';
}

/** Trailing zeros go to the exponent before they become a number: dividing them out later would be slow. */
function decimalOf(digits: string, exponent: number): Decimal {
  let end = digits.length;
  while (end > 1 && digits[end - 1] === '0') end--;
  return { mantissa: BigInt(digits.slice(0, end)), exponent: exponent + digits.length - end };
}

function interpretSuffix(suffix: string): { readonly exponent: number; readonly format: QuantityFormat } | undefined {
  const decimal = DECIMAL_SUFFIXES.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY_SUFFIXES.get(suffix);
  if (binary !== undefined) return { exponent: binary, format: 'BinarySI' };
  if (!/^[eE][+-]?[0-9]+$/.test(suffix)) return undefined;
  const exponent = BigInt(suffix.slice(suffix[1] === '+' ? 2 : 1));
  if (exponent > MAX_INT64 || exponent < -MAX_INT64 - 1n) return undefined;
  // Upstream keeps 32 bits of it.
  return { exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' };
}

function roundToNano(value: Decimal): Decimal {
  if (value.exponent >= NANO) return value;
  return { mantissa: roundAwayFromZero(value, NANO), exponent: NANO };
}

function formatCanonical(value: Decimal, format: QuantityFormat): string {
  if (value.mantissa === 0n) return '0';
  if (format === 'BinarySI' && isBinaryPresentable(value)) {
    const { quotient, times } = removeFactors(roundAwayFromZero(value, 0), 1024n);
    return `${quotient}${BINARY_BY_EXPONENT.get(times * 10) ?? ''}`;
  }
  const { quotient, times } = removeFactors(value.mantissa, 10n);
  const exponent = value.exponent + times;
  // Down to a multiple of three.
  const surplus = ((exponent % 3) + 3) % 3;
  const number = quotient * 10n ** BigInt(surplus);
  const multiple = exponent - surplus;
  if (format === 'DecimalExponent') return multiple === 0 ? `${number}` : `${number}e${multiple}`;
  // NB: as upstream 0.30, an exponent beyond the suffixes is lost: 1000E comes out as 1.
  return `${number}${DECIMAL_BY_EXPONENT.get(multiple) ?? ''}`;
}

/** Small values and fractions are written with decimal suffixes, whatever they were written with. */
function isBinaryPresentable(value: Decimal): boolean {
  const limit = { mantissa: 1024n, exponent: 0 };
  const isSmall = compareDecimals(value, limit) < 0 && compareDecimals(value, { ...limit, mantissa: -1024n }) > 0;
  if (isSmall) return false;
  if (value.exponent >= 0) return true;
  return compareDecimals({ mantissa: roundAwayFromZero(value, 0), exponent: 0 }, value) === 0;
}
