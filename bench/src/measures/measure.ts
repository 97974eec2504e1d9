// What every measure gets and gives.
import type { RawClient } from '../raw-client.ts';
import type { Target } from '../target.ts';

export interface MeasureContext {
  readonly target: Target;
  readonly client: RawClient;
  /** Config maps in the server; they are all there when a measure begins. */
  readonly objects: number;
  readonly watchers: number;
  readonly log: (line: string) => void;
}

/** Figures by the id of their budget. */
export type Figures = Readonly<Record<string, number | undefined>>;

export interface Measure {
  readonly name: string;
  run(context: MeasureContext): Promise<Figures>;
}

/** Waits for a condition that only the passing of time and I/O can bring about. */
export async function waitUntil(condition: () => boolean, timeoutMs: number, what: string): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
