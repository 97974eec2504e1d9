// The command: options in, exit code out. Everything a user can get wrong ends in one line on stderr and code 1.
import { setMaxListeners } from 'node:events';
import { messageOf } from './api-error.ts';
import type { Output, Summary } from './events.ts';
import type { Fleet } from './fleet.ts';
import { jsonOutput, plainOutput } from './line-output.ts';
import { LiveView } from './live-view.ts';
import { type BoundaryOptions, HELP, parseOptions } from './options.ts';
import { run } from './run.ts';

const now = (): Date => new Date();
const write = (text: string): void => void process.stdout.write(text);

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  if (options === undefined) {
    write(HELP);
    return 0;
  }
  const abort = new AbortController();
  // Every request of the run hears of the end.
  setMaxListeners(0, abort.signal);
  let interrupted = 0;
  const onInterrupt = (): void => {
    interrupted++;
    if (interrupted > 1) process.exit(130);
    abort.abort();
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  let fleet: Fleet | undefined;
  const { output, close } = outputFor(options, () => fleet?.rows() ?? []);
  // A reader that left, as `head` does, ends the run.
  process.stdout.on('error', () => process.exit(1));
  try {
    return await run(options, {
      output,
      onFleet: (started) => {
        fleet = started;
      },
      warn: options.json || !process.stdout.isTTY ? (line) => void process.stderr.write(`${line}\n`) : () => {},
      signal: abort.signal,
    });
  } catch (error) {
    if (abort.signal.aborted && interrupted > 0) return 130;
    throw error;
  } finally {
    close();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}

function outputFor(options: BoundaryOptions, rows: () => ReturnType<Fleet['rows']>): { output: Output; close(): void } {
  if (options.json) return { output: jsonOutput(write, now), close() {} };
  if (!process.stdout.isTTY) return { output: plainOutput(write, now), close() {} };
  const screen = {
    write,
    get columns() {
      return process.stdout.columns;
    },
    get rows() {
      return process.stdout.rows;
    },
  };
  const view = new LiveView(screen, rows);
  const output: Output = { tell: (event) => view.tell(event), end: (summary: Summary) => view.end(summary) };
  return { output, close: () => view.close() };
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`kube-rx: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
