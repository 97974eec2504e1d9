// Which number literals fit Go's integer types.

const INT_LIMITS: ReadonlyMap<string, readonly [low: bigint, high: bigint]> = new Map([
  ['int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['uint32', [0n, 2n ** 32n - 1n]],
  ['uint8', [0n, 255n]],
]);
const INT64: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Digits only, in range; `1.0` and `1e3` are no integers to Go. Named integer types count as int64. */
export function fitsInteger(text: string, typeText: string): boolean {
  if (!/^-?\d+$/.test(text)) return false;
  if (text.length < 10) return true;
  const [low, high] = INT_LIMITS.get(typeText) ?? INT64;
  const value = BigInt(text);
  return value >= low && value <= high;
}
