// The table of budgets, and the verdict on a figure.
import { readFileSync } from 'node:fs';

export interface Budget {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly against: string;
  /** Bounds of ours divided by the reference. */
  readonly must: number;
  readonly aim: number;
  /** From another run, for orientation only. */
  readonly recorded?: { readonly value: number; readonly objects?: number; readonly watchers?: number };
}

/** `pending` when there is nothing to compare with in this run. */
export type Verdict = 'aim' | 'met' | 'missed' | 'pending';

export function readBudgets(): readonly Budget[] {
  const text = readFileSync(new URL('../budgets.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { budgets: Budget[] }).budgets;
}

export function verdictOf({ better, must, aim }: Budget, ratio: number | undefined): Verdict {
  if (ratio === undefined || !Number.isFinite(ratio)) return 'pending';
  const within = (bound: number): boolean => (better === 'lower' ? ratio <= bound : ratio >= bound);
  return within(aim) ? 'aim' : within(must) ? 'met' : 'missed';
}
