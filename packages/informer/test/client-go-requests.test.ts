// What the profile client-go-1.30 asks of a server for each class of failure, down to the repetitions below the reflector: the requests,
// their order and their distance are those that were recorded of client-go v0.30.3. Its jitter is 0 here.
import { newStatusError, type StatusReason, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../src/errors.ts';
import { ListWatch } from '../src/rest/list-watch.ts';
import { RestClient } from '../src/rest/rest-client.ts';
import type { Transport, TransportResponse } from '../src/rest/transport.ts';
import { SharedIndexInformer } from '../src/shared-informer/shared-index-informer.ts';
import { type ConfigMap, ConfigMaps } from './support/memory-api.ts';
import { jsonResponse, MemoryBody } from './support/memory-body.ts';

type Answer = () => TransportResponse | Error;

const item = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'default', uid: name, resourceVersion },
});
const listOf = (resourceVersion: string, token = '') =>
  jsonResponse(200, {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion, ...(token === '' ? {} : { continue: token }) },
    items: [item('a', '5')],
  });
const refusal = (code: number, reason: StatusReason, details = {}) =>
  newStatusError(code, reason, `test ${code}`, details);
const http =
  (code: number, reason: StatusReason, headers: Record<string, string> = {}, details = {}): Answer =>
  () =>
    jsonResponse(code, refusal(code, reason, details).status, headers);
const fails =
  (code: ConstructorParameters<typeof TransportError>[0]): Answer =>
  () =>
    new TransportError(code, code);
const stream = (...events: object[]): Answer => {
  return () => {
    const body = new MemoryBody();
    for (const event of events) body.write(`${JSON.stringify(event)}\n`);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
};
/** A stream that ends by itself. */
const ending = (text: string, error?: Error): Answer => {
  return () => {
    const body = new MemoryBody();
    if (text !== '') body.write(text);
    body.end(error);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
};
const modified = { type: 'MODIFIED', object: { kind: 'ConfigMap', apiVersion: 'v1', ...item('a', '12') } };
const errorEvent = (code: number, reason: StatusReason, details = {}) => ({
  type: 'ERROR',
  object: refusal(code, reason, details).status,
});
const line = (event: object): string => `${JSON.stringify(event)}\n`;
const again = (answer: Answer, times: number): Answer[] => Array.from({ length: times }, () => answer);
const tooLarge = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };

interface Row {
  readonly lists?: readonly Answer[];
  readonly watches?: readonly Answer[];
  /** After the first list and watch: `+MS REQUEST`. */
  readonly requests: readonly string[];
  readonly reported?: number;
}

/** Lists and watches without an answer of their own work: a list at version 10, then 20 and so on, and a watch that stays open. */
async function play(row: Row): Promise<{ readonly requests: string[]; readonly reported: number }> {
  const clock = new VirtualClock();
  const requests: string[] = [];
  let reported = 0;
  let last = clock.now();
  let version = 0;
  const nextList = (): TransportResponse => {
    version += 10;
    return listOf(`${version}`);
  };
  const [lists, watches] = [[...(row.lists ?? [])], [...(row.watches ?? [])]];
  const transport: Transport = {
    async send({ url }) {
      const query = new URL(url).searchParams;
      const watch = query.get('watch') === 'true';
      const parts = [watch ? 'WATCH' : 'LIST', `rv=${query.get('resourceVersion') ?? ''}`];
      for (const name of ['limit', 'continue']) if (query.has(name)) parts.push(`${name}=${query.get(name)}`);
      requests.push(`+${clock.now() - last} ${parts.join(' ')}`);
      last = clock.now();
      const answer = (watch ? watches.shift() : lists.shift()) ?? (watch ? stream() : nextList);
      const response = answer();
      if (response instanceof Error) throw response;
      return response;
    },
    close() {},
  };
  const rest = new RestClient({ server: 'http://memory.test', transport, clock });
  const listWatch = new ListWatch<ConfigMap>(rest, ConfigMaps, { decoding: 'typed', decodeWatchStatus: false });
  await using informer = new SharedIndexInformer<ConfigMap>(listWatch, {
    clock,
    random: () => 0,
    profile: 'client-go-1.30',
    initial: 'list',
    expected: ConfigMaps,
    onWatchError: () => void reported++,
  });
  informer.start();
  await clock.advance(20_000);
  return { requests, reported };
}

const ok = (): TransportResponse => listOf('10');
const first = '+0 LIST rv=0 limit=500';
const watch10 = '+0 WATCH rv=10';
const everySecond = (request: string, times: number): string[] =>
  Array.from({ length: times }, () => `+1000 ${request}`);

const rows: Record<string, Row> = {
  '410 for a list': {
    lists: [http(410, 'Expired')],
    requests: [first, '+0 LIST rv= limit=500', watch10],
  },
  '410 for a list, with the reason of old servers': {
    lists: [http(410, 'Gone')],
    requests: [first, '+0 LIST rv= limit=500', watch10],
  },
  '410 for a later page': {
    lists: [() => listOf('10', 'next'), http(410, 'Expired'), ok],
    requests: [first, '+0 LIST rv= limit=500 continue=next', '+0 LIST rv=0', watch10],
  },
  '410 for a watch': {
    lists: [ok],
    watches: [http(410, 'Expired')],
    requests: [first, watch10, '+800 LIST rv=10', watch10],
    reported: 1,
  },
  '410 in a stream': {
    lists: [ok],
    watches: [stream(modified, errorEvent(410, 'Expired'))],
    requests: [first, watch10, '+800 LIST rv=12', watch10],
  },
  '410 in a stream and for the list after it': {
    lists: [ok, http(410, 'Expired'), () => listOf('30')],
    watches: [stream(modified, errorEvent(410, 'Expired'))],
    requests: [first, watch10, '+800 LIST rv=12', '+0 LIST rv=', '+0 WATCH rv=30'],
  },
  '504 for a version that is too large, with Retry-After': {
    lists: [ok, ...again(http(504, 'Timeout', { 'retry-after': '1' }, tooLarge), 11), () => listOf('30')],
    watches: [stream(errorEvent(410, 'Expired'))],
    requests: [first, watch10, '+800 LIST rv=10', ...everySecond('LIST rv=10', 10), '+0 LIST rv=', '+0 WATCH rv=30'],
  },
  '504 in a stream': {
    lists: [ok],
    watches: [stream(errorEvent(504, 'Timeout', tooLarge))],
    requests: [first, watch10, '+800 LIST rv=10', watch10],
  },
  '429 for a list, with Retry-After': {
    lists: [...again(http(429, 'TooManyRequests', { 'retry-after': '1' }), 11), ok],
    requests: [first, ...everySecond('LIST rv=0 limit=500', 10), '+800 LIST rv=0 limit=500', watch10],
    reported: 1,
  },
  '429 for a watch': {
    lists: [ok],
    watches: again(http(429, 'TooManyRequests'), 2),
    requests: [first, watch10, '+800 WATCH rv=10', '+1600 WATCH rv=10'],
  },
  '429 for a watch, with Retry-After': {
    lists: [ok],
    watches: again(http(429, 'TooManyRequests', { 'retry-after': '1' }), 11),
    requests: [first, watch10, ...everySecond('WATCH rv=10', 10), '+800 WATCH rv=10'],
  },
  '429 in a stream': {
    lists: [ok],
    watches: again(stream(errorEvent(429, 'TooManyRequests')), 2),
    requests: [first, watch10, '+800 WATCH rv=10', '+1600 WATCH rv=10'],
  },
  '500 for a list': {
    lists: again(http(500, 'InternalError'), 3),
    requests: [first, '+800 LIST rv=0 limit=500', '+1600 LIST rv=0 limit=500', '+3200 LIST rv=0 limit=500', watch10],
    reported: 3,
  },
  '500 for a watch': {
    lists: [ok],
    watches: [http(500, 'InternalError')],
    requests: [first, watch10, '+800 LIST rv=10', watch10],
    reported: 1,
  },
  '500 in a stream': {
    lists: [ok],
    watches: [stream(modified, errorEvent(500, 'InternalError'))],
    requests: [first, watch10, '+800 LIST rv=12', watch10],
  },
  '503 for a list, with Retry-After': {
    lists: [...again(http(503, 'ServiceUnavailable', { 'retry-after': '1' }), 2), ok],
    requests: [first, ...everySecond('LIST rv=0 limit=500', 2), watch10],
  },
  ...Object.fromEntries(
    (
      [
        [401, 'Unauthorized'],
        [403, 'Forbidden'],
        [404, 'NotFound'],
        [422, 'Invalid'],
      ] as const
    ).map(([code, reason]): [string, Row] => [
      `${code}, twice`,
      {
        lists: again(http(code, reason), 2),
        requests: [first, '+800 LIST rv=0 limit=500', '+1600 LIST rv=0 limit=500', watch10],
        reported: 2,
      },
    ]),
  ),
  'a refused connection for a list': {
    lists: again(fails('REFUSED'), 2),
    requests: [first, '+800 LIST rv=0 limit=500', '+1600 LIST rv=0 limit=500', watch10],
    reported: 2,
  },
  'a refused connection for a watch': {
    lists: [ok],
    watches: again(fails('REFUSED'), 2),
    requests: [first, watch10, '+800 WATCH rv=10', '+1600 WATCH rv=10'],
  },
  'a reset connection for a list': {
    lists: again(fails('RESET'), 11),
    requests: [first, ...everySecond('LIST rv=0 limit=500', 10), '+800 LIST rv=0 limit=500', watch10],
    reported: 1,
  },
  'a reset connection for a watch': {
    lists: [ok],
    watches: again(fails('RESET'), 11),
    // What is left is taken for a watch that opened and ended ten seconds later, which is not too soon.
    requests: [first, watch10, ...everySecond('WATCH rv=10', 10), '+0 WATCH rv=10'],
  },
  'a connection that ends in the middle of a stream': {
    lists: [ok],
    watches: [ending(line(modified), new TransportError('RESET', 'cut'))],
    requests: [first, watch10, '+0 WATCH rv=12'],
  },
  'a connection that ends in the middle of an event': {
    lists: [ok],
    watches: [ending(`${line(modified)}{"type":"MODI`)],
    requests: [first, watch10, '+0 WATCH rv=12'],
  },
  'an event that is no JSON': {
    lists: [ok],
    watches: [ending(`${line(modified)}<html>\n`)],
    requests: [first, watch10, '+800 LIST rv=12', watch10],
  },
  'a stream that ends after an event': {
    lists: [ok],
    watches: again(ending(line(modified)), 3),
    requests: [first, watch10, '+0 WATCH rv=12', '+0 WATCH rv=12', '+0 WATCH rv=12'],
  },
  'streams that end at once with nothing': {
    lists: [ok],
    watches: again(ending(''), 2),
    requests: [first, watch10, '+800 LIST rv=10', watch10, '+1600 LIST rv=10', '+0 WATCH rv=20'],
  },
};

describe('the profile client-go-1.30 over', () => {
  it.each(Object.entries(rows))('%s', async (_name, row) => {
    expect(await play(row)).toEqual({ requests: row.requests, reported: row.reported ?? 0 });
  });
});
