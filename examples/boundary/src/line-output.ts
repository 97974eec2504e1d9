// Output for pipes: JSON lines for programs, plain lines for logs.
import type { BoundaryEvent, Output, Summary } from './events.ts';
import { describeEvent, describeSummary } from './format.ts';

type Write = (text: string) => void;

/** Each event one line of JSON, the last line the summary. Errors for people go elsewhere. */
export function jsonOutput(write: Write, now: () => Date): Output {
  const line = (value: object): void => write(`${JSON.stringify(value)}\n`);
  return {
    tell: (event: BoundaryEvent) => line({ time: now().toISOString(), ...event }),
    end: (summary: Summary) => line(summary),
  };
}

export function plainOutput(write: Write, now: () => Date): Output {
  const line = (text: string): void => write(`${now().toISOString().slice(11, 23)} ${text}\n`);
  return {
    tell: (event) => line(describeEvent(event)),
    end: (summary) => line(describeSummary(summary)),
  };
}
