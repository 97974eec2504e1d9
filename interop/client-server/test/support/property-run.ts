// Properties over seeds: some in every run, thousands in the long one, and those that once failed always.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { it } from 'vitest';

/** How many inputs the first property gets. */
export const RUNS: number = Number(process.env['RUNS'] ?? 200);
const SEED = process.env['SEED'];
// One test each, so that a long run tells where it is and one failure does not hide the rest.
const CHUNK = 250;

interface Kept {
  readonly property: string;
  readonly input: unknown;
}

const FILE = fileURLToPath(new URL('../data/kept-seeds.json', import.meta.url));
const read = (): Kept[] => JSON.parse(readFileSync(FILE, 'utf8')) as Kept[];

/** A failing input is written to data/kept-seeds.json in its smallest form: commit it with the fix. */
function keep(kept: Kept): void {
  const all = read();
  if (all.some((each) => JSON.stringify(each) === JSON.stringify(kept))) return;
  writeFileSync(FILE, `[\n${[...all, kept].map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]\n`);
}

/**
 * Declares the tests of a property: one for the inputs that were kept, then `share` of as many as RUNS asks for (200 without it). SEED
 * fixes the inputs.
 */
export function property<T extends unknown[]>(
  name: string,
  inputs: { [K in keyof T]: fc.Arbitrary<T[K]> },
  predicate: (...input: T) => Promise<void>,
  share = 1,
): void {
  const runs = Math.ceil(RUNS * share);
  const kept = read().filter((each) => each.property === name);
  if (kept.length > 0) {
    it(`${name}: what once failed`, async () => {
      for (const { input } of kept) await predicate(...(input as T));
    }, 600_000);
  }
  for (let from = 0; from < runs; from += CHUNK) {
    const numRuns = Math.min(CHUNK, runs - from);
    it(`${name}: ${from + 1} to ${from + numRuns}`, async () => {
      const details = await fc.check(
        fc.asyncProperty(fc.tuple<T>(...inputs), (input) => predicate(...input)),
        {
          numRuns,
          ...(SEED === undefined ? {} : { seed: Number(SEED) + from }),
        },
      );
      if (details.counterexample !== null) keep({ property: name, input: details.counterexample[0] });
      if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
    }, 900_000);
  }
}
