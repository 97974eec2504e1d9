// The command line of the bench.
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Config maps in the server. */
  readonly objects: number;
  readonly watchers: number;
  /** Names of measures; empty means all. */
  readonly only: readonly string[];
  readonly withClientNode: boolean;
  /** A program that takes the flags of informer-program.ts, e.g. one of client-go. */
  readonly goClient: readonly string[] | undefined;
  /** A server to measure beside ours; its data is left behind. */
  readonly reference: { readonly url: string; readonly token: string; readonly pid: number | undefined } | undefined;
  readonly json: boolean;
}

export const HELP = `npm run bench -- [options]

Measures the budgets of budgets.json on our side and prints them with their ratios to whatever else is measured in this run.

  --objects N             config maps in the server (default 5000; the budgets are for 50000)
  --watchers N            watchers of the fan-out (default 500; the budgets are for 1000)
  --full                  50000 objects and 1000 watchers
  --only A,B,...          list, watch, fan-out, updates, start, idle, informer
  --with-client-node      installs @kubernetes/client-node 1.4.0 under bench/.tmp and measures its informer too
  --go-client "COMMAND"   measures the informer program COMMAND too; it takes --server, --token, --ns, --kind, --updates,
                          --ready-file and prints a line of JSON with sync_ms, peak_rss_mib, heap_bytes_per_object, burst_cpu_s, events
  --reference URL         measures that server too; with --reference-token T, --reference-pid PID for CPU and memory
  --json                  one line of JSON per budget instead of the table
  --help
`;

export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      objects: { type: 'string' },
      watchers: { type: 'string' },
      full: { type: 'boolean' },
      only: { type: 'string' },
      'with-client-node': { type: 'boolean' },
      'go-client': { type: 'string' },
      reference: { type: 'string' },
      'reference-token': { type: 'string' },
      'reference-pid': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const full = values.full ?? false;
  const pid = values['reference-pid'];
  return {
    objects: whole('--objects', values.objects ?? (full ? '50000' : '5000')),
    watchers: whole('--watchers', values.watchers ?? (full ? '1000' : '500')),
    only: (values.only ?? '').split(',').filter((name) => name !== ''),
    withClientNode: values['with-client-node'] ?? false,
    goClient: values['go-client']?.split(' ').filter((part) => part !== ''),
    reference:
      values.reference === undefined
        ? undefined
        : {
            url: values.reference.replace(/\/+$/, ''),
            token: values['reference-token'] ?? '',
            pid: pid === undefined ? undefined : whole('--reference-pid', pid),
          },
    json: values.json ?? false,
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${name} must be a whole number of at least 1, not "${text}"`);
  return value;
}
