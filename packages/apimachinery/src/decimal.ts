// Decimal numbers of any size: mantissa x 10^exponent. The number of digits written out is bounded by what is asked for.

export interface Decimal {
  readonly mantissa: bigint;
  readonly exponent: number;
}

export function signOf(value: bigint): -1 | 0 | 1 {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

function digitCount(mantissa: bigint): number {
  return (mantissa < 0n ? -mantissa : mantissa).toString().length;
}

/** In units of 10^`scale`. */
export function roundAwayFromZero({ mantissa, exponent }: Decimal, scale: number): bigint {
  if (mantissa === 0n) return 0n;
  if (exponent >= scale) return mantissa * 10n ** BigInt(exponent - scale);
  const shift = scale - exponent;
  if (shift > digitCount(mantissa)) return BigInt(signOf(mantissa));
  const divisor = 10n ** BigInt(shift);
  const quotient = mantissa / divisor;
  return quotient * divisor === mantissa ? quotient : quotient + BigInt(signOf(mantissa));
}

export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const sign = signOf(a.mantissa);
  const otherSign = signOf(b.mantissa);
  if (sign !== otherSign) return sign < otherSign ? -1 : 1;
  if (sign === 0) return 0;
  // The place of the first digit decides unless it is the same; only then do both have to be brought to one exponent.
  const difference = digitCount(a.mantissa) + a.exponent - digitCount(b.mantissa) - b.exponent;
  if (difference !== 0) return difference > 0 === sign > 0 ? 1 : -1;
  const exponent = Math.min(a.exponent, b.exponent);
  return signOf(roundAwayFromZero(a, exponent) - roundAwayFromZero(b, exponent));
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.mantissa === 0n) return b;
  if (b.mantissa === 0n) return a;
  const exponent = Math.min(a.exponent, b.exponent);
  return { mantissa: roundAwayFromZero(a, exponent) + roundAwayFromZero(b, exponent), exponent };
}

export function removeFactors(value: bigint, factor: bigint): { readonly quotient: bigint; readonly times: number } {
  let quotient = value;
  let times = 0;
  while (quotient !== 0n && quotient % factor === 0n) {
    quotient /= factor;
    times++;
  }
  return { quotient, times };
}
