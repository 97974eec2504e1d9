// What a run did, in the form of the recorded transcripts.
import { createHash } from 'node:crypto';
import { DecodeError, TransportError } from '../../src/errors.ts';
import type { Gap, Lines, Transcript } from './scenario.ts';
import type { ServedRequest } from './scripted-server.ts';

// From, up to, in ms. On a clock that stands still while work is done, what comes at once comes at the same instant.
const GAPS: Readonly<Record<Exclude<Gap, 'any'>, readonly [number, number]>> = {
  now: [0, 0],
  '1s': [1000, 1000],
  b1: [800, 1600],
  b2: [1600, 3200],
  b3: [3200, 6400],
};

export function requestLine(request: ServedRequest, expected: Gap): Transcript['requests'][number] {
  const { verb, accept, gapMs } = request;
  return { verb, query: queryLine(request.query), accept, gap: gapClass(gapMs, expected) };
}

/** The expected class when the gap is of it, else the gap itself. */
function gapClass(gapMs: number | undefined, expected: Gap): Transcript['requests'][number]['gap'] {
  if (expected === 'any') return expected;
  const [from, to] = GAPS[expected];
  return gapMs !== undefined && gapMs >= from && gapMs <= to ? expected : `${gapMs ?? 0} ms`;
}

function queryLine(query: URLSearchParams): string {
  const parameters = [...query].map(([name, value]) => {
    if (name !== 'timeoutSeconds') return `${name}=${value}`;
    const seconds = Number(value);
    return `${name}=${seconds >= 300 && seconds <= 600 ? '300..600' : `out-of-range:${value}`}`;
  });
  return parameters.sort().join('&');
}

export function errorClass(error: Error): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each.name === 'StatusError') {
      const { code, reason } = each as Error & { code: number; reason: string };
      return `status:${code}:${reason}`;
    }
    if (each.name === 'UnexpectedStatusCodeError') return 'unexpected-http-code';
    if (each instanceof DecodeError) {
      // client-go has no word of its own for these.
      return ['EMPTY_BODY', 'UNKNOWN_KIND', 'BAD_ITEMS'].includes(each.code) ? 'other' : 'decode';
    }
    if (each instanceof TransportError) return each.code.toLowerCase().replace('_', '-');
  }
  return 'other';
}

export interface Call {
  readonly key: string;
  readonly text: string;
  readonly at: number;
}

export interface CallOrder {
  /** Calls for different keys may come in any order. */
  readonly perKey: boolean;
  /** How often a call is repeated does not count, only whether the repetitions came at least half a second apart. */
  readonly collapseRepeats: boolean;
}

export function callLines(calls: readonly Call[], order: CallOrder): Lines {
  const ordered = order.perKey ? [...calls].sort((a, b) => compareText(a.key, b.key)) : calls;
  return digest(order.collapseRepeats ? collapse(ordered) : ordered.map(({ text }) => text), 120, 3);
}

function collapse(calls: readonly Call[]): string[] {
  const runs: Call[][] = [];
  for (const call of calls) {
    const run = runs.at(-1);
    if (run?.[0]?.text === call.text) run.push(call);
    else runs.push([call]);
  }
  return runs.map((run) => {
    const text = run[0]!.text;
    if (run.length === 1) return text;
    const apart = run.every((call, index) => index === 0 || call.at - run[index - 1]!.at >= 500);
    return `${text} (repeated, ${apart ? 'at least 0.5 s apart' : 'less than 0.5 s apart'})`;
  });
}

export function storeLines(items: readonly { readonly key: string; readonly rv: string }[]): Lines {
  const sorted = [...items].sort((a, b) => compareText(a.key, b.key));
  return digest(
    sorted.map(({ key, rv }) => `${key} ${rv}`),
    120,
    2,
  );
}

function digest(lines: readonly string[], atMost: number, ends: number): Lines {
  if (lines.length <= atMost) return lines;
  return {
    count: lines.length,
    sha256_16: createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16),
    first: lines.slice(0, ends),
    last: lines.slice(-ends),
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
