// Small arithmetic on samples.

export function quantile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

/** Three significant digits; whole numbers above a thousand. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}
