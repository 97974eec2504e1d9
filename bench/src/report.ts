// The table at the end.
import { type Budget, verdictOf } from './budgets.ts';
import { figure } from './figures.ts';

export interface Result {
  readonly budget: Budget;
  readonly ours: number | undefined;
  readonly reference: number | undefined;
  /** Who the reference is, when it was measured in this run. */
  readonly referenceName: string | undefined;
}

export function ratioOf({ ours, reference }: Result): number | undefined {
  return ours === undefined || reference === undefined ? undefined : ours / reference;
}

export function jsonLine(result: Result): string {
  const { budget, ours, reference, referenceName } = result;
  const { id, unit, must, aim, recorded } = budget;
  const ratio = ratioOf(result);
  return JSON.stringify({
    id,
    unit,
    ours,
    reference,
    referenceName,
    ratio,
    must,
    aim,
    recorded,
    verdict: verdictOf(budget, ratio),
  });
}

export function table(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const { budget, ours, reference, referenceName } = result;
    const ratio = ratioOf(result);
    const recorded = budget.recorded === undefined ? '' : `${figure(budget.recorded.value)}${sizeOf(budget.recorded)}`;
    return [
      budget.what,
      `${figure(ours)} ${budget.unit}`,
      reference === undefined ? '' : `${figure(reference)} (${referenceName})`,
      figure(ratio),
      `${budget.better === 'lower' ? '<=' : '>='} ${figure(budget.must)}, aim ${figure(budget.aim)}`,
      recorded,
      verdictOf(budget, ratio),
    ];
  });
  const head = ['what', 'ours', 'reference, this run', 'ratio', 'budget', 'recorded once', 'verdict'];
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function sizeOf(recorded: NonNullable<Budget['recorded']>): string {
  if (recorded.objects !== undefined) return ` at ${figure(recorded.objects)} objects`;
  return recorded.watchers === undefined ? '' : ` at ${figure(recorded.watchers)} watchers`;
}
