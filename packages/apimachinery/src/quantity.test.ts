import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity, parseQuantity, Quantity, QuantityError } from './quantity.ts';

const digits = fc.stringMatching(/^[0-9]{0,22}$/);
const suffix = fc.constantFrom(
  '',
  'n',
  'u',
  'm',
  'k',
  'M',
  'G',
  'T',
  'P',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'Pi',
  'e3',
  'e-2',
  'E5',
);
const written = fc
  .tuple(fc.constantFrom('', '-', '+'), digits, fc.option(digits), suffix)
  .map(([sign, whole, fraction, unit]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${unit}`);
const nano = (text: string): bigint => parseQuantity(text).value(-9);

describe('Quantity', () => {
  it('writes the largest suffix that needs no fraction', () => {
    expect(canonicalQuantity('1.5Gi')).toBe('1536Mi');
    expect(canonicalQuantity('0.5')).toBe('500m');
    expect(canonicalQuantity('1000000')).toBe('1M');
    expect(canonicalQuantity('0.1e6')).toBe('100e3');
  });

  it('keeps a text upstream would keep, canonical or not', () => {
    expect(canonicalQuantity('1.100')).toBe('1.100');
    expect(canonicalQuantity('+5')).toBe('+5');
  });

  it('rounds away from zero', () => {
    expect(parseQuantity('1500m').value()).toBe(2n);
    expect(parseQuantity('-1500m').value()).toBe(-2n);
    expect(parseQuantity('0.1n').value(-9)).toBe(1n);
    expect(parseQuantity('1.5').value(-3)).toBe(1500n);
  });

  it('compares across units, also where numbers of the language would not', () => {
    expect(parseQuantity('1Gi').compare(parseQuantity('1073741824'))).toBe(0);
    expect(parseQuantity('9007199254740993').compare(parseQuantity('9007199254740992'))).toBe(1);
    expect(parseQuantity('-1').compare(parseQuantity('-2'))).toBe(1);
    expect(parseQuantity('0Ki').equals(parseQuantity('0'))).toBe(true);
  });

  it('compares numbers whose digits would fill the memory', () => {
    const huge = parseQuantity('1e2000000000');
    expect(huge.compare(parseQuantity('2e2000000000'))).toBe(-1);
    expect(huge.compare(parseQuantity('1'))).toBe(1);
    expect(parseQuantity('1e-2000000000').toString()).toBe('1e-9');
  });

  it('reads megabytes of digits without delay', () => {
    const zeros = '0'.repeat(1_000_000);
    expect(parseQuantity(`${zeros}1`).equals(parseQuantity('1'))).toBe(true);
    expect(canonicalQuantity(`1${zeros}`)).toBe('10');
    expect(() => parseQuantity(`${zeros}x`)).toThrow(QuantityError);
    expect(() => parseQuantity(`1${zeros}!`)).toThrow(QuantityError);
  });

  it.each([
    ['', 'FORMAT', /^quantities must match the regular expression '/],
    ['1 Gi', 'FORMAT', /^quantities must match/],
    ['1Zi', 'FORMAT', /^quantities must match/],
    ['5mm', 'SUFFIX', /^unable to parse quantity's suffix$/],
    ['e-12', 'NUMERIC', /^unable to parse numeric part of quantity$/],
  ])('refuses %j with the code %s', (text, code, message) => {
    let caught: unknown;
    try {
      parseQuantity(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(QuantityError);
    expect(caught).toMatchObject({ code, text, message: expect.stringMatching(message) });
  });

  it('is made from a number and written in a format', () => {
    expect(Quantity.of(2048, 0, 'BinarySI').toString()).toBe('2Ki');
    expect(Quantity.of(15, -1).toString()).toBe('1500m');
    expect(Quantity.of(1500, 3, 'DecimalExponent').toString()).toBe('1500e3');
    expect(JSON.stringify({ cpu: Quantity.of(5) })).toBe('{"cpu":"5"}');
    expect(parseQuantity('1.5Gi').toNumber()).toBe(1.5 * 2 ** 30);
  });

  it('keeps its value when it is written and read again', () => {
    fc.assert(
      fc.property(written, (text) => {
        const quantity = parseQuantityOrSkip(text);
        const again = parseQuantity(quantity.toString());
        expect(again.compare(quantity)).toBe(0);
        expect(again.toString()).toBe(quantity.toString());
      }),
      { numRuns: 1000 },
    );
  });

  it('orders and adds as the exact numbers do', () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        const [first, second] = [parseQuantityOrSkip(a), parseQuantityOrSkip(b)];
        const difference = nano(a) - nano(b);
        expect(first.compare(second)).toBe(difference === 0n ? 0 : difference < 0n ? -1 : 1);
        expect(first.add(second).value(-9)).toBe(nano(a) + nano(b));
        expect(first.subtract(second).value(-9)).toBe(difference);
      }),
      { numRuns: 1000 },
    );
  });
});

function parseQuantityOrSkip(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch {
    fc.pre(false);
    throw new Error('unreachable');
  }
}
