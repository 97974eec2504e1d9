// Ranges of sizes and costs; what would pass 2^64 stays there.
// Upstream: github.com/google/cel-go@v0.17.8:checker/cost.go#SizeEstimate, CostEstimate

/** Where upstream's unsigned 64 bit numbers end. */
export const MAX_UINT64: number = 2 ** 64;

export interface Estimate {
  readonly min: number;
  readonly max: number;
}

export const UNKNOWN: Estimate = { min: 0, max: MAX_UINT64 };
export const ZERO: Estimate = { min: 0, max: 0 };
export const fixed = (value: number): Estimate => ({ min: value, max: value });

const clamp = (value: number): number => Math.min(value, MAX_UINT64);
const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : clamp(a * b));

export const plus = (...parts: readonly Estimate[]): Estimate =>
  parts.reduce((sum, part) => ({ min: clamp(sum.min + part.min), max: clamp(sum.max + part.max) }), ZERO);
export const times = (a: Estimate, b: Estimate): Estimate => ({
  min: product(a.min, b.min),
  max: product(a.max, b.max),
});
export const scale = (a: Estimate, factor: number): Estimate => ({
  min: clamp(Math.ceil(a.min * factor)),
  max: clamp(Math.ceil(a.max * factor)),
});
export const union = (a: Estimate, b: Estimate): Estimate => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
