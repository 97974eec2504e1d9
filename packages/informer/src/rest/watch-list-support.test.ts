import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { streamsLists, watchListSupportOf } from './watch-list-support.ts';

/** Answers `/version` as told; nothing at all means a server that never answers. */
class VersionServer implements Transport {
  readonly requests: string[] = [];
  answer: { readonly status: number; readonly body: string } | undefined;

  send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(new URL(request.url).pathname);
    const { answer } = this;
    if (answer === undefined) {
      return new Promise((_, reject) => {
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason), { once: true });
      });
    }
    return Promise.resolve({
      status: answer.status,
      headers: { 'content-type': 'application/json' },
      body: {
        consume(sink) {
          sink.data(new TextEncoder().encode(answer.body));
          sink.end();
        },
        pause() {},
        resume() {},
        destroy() {},
      },
    });
  }
  close(): void {}
}

function setUp(body?: string, status = 200) {
  const clock = new VirtualClock();
  const server = new VersionServer();
  if (body !== undefined) server.answer = { status, body };
  const client = new RestClient({ server: 'http://api', transport: server, clock });
  return { clock, server, client, support: watchListSupportOf(client, 'pods.v1') };
}
const { signal } = new AbortController();
const V30 = '{"major":"1","minor":"30"}';
const V34 = '{"major":"1","minor":"34+","gitVersion":"v1.34.2-eks-1"}';

describe('watchListSupportOf', () => {
  it.each([
    [V30, false],
    ['{"major":"1","minor":"33"}', false],
    [V34, true],
    ['{"major":"2","minor":"0"}', true],
    ['{"major":"","minor":""}', false],
    ['{}', false],
  ])('reads %s as %s', (version, expected) => {
    expect(streamsLists(JSON.parse(version))).toBe(expected);
  });

  it('asks once for all resources of a client and remembers the answer', async () => {
    const { clock, server, client, support } = setUp(V34);
    expect(support.known(clock.now())).toBeUndefined();
    const others = ['secrets.v1', 'nodes.v1'].map((each) => watchListSupportOf(client, each));
    expect(await Promise.all([support, ...others].map((each) => each.ask(signal)))).toEqual([true, true, true]);
    expect(others.map((each) => each.known(clock.now()))).toEqual([true, true]);
    expect(server.requests).toEqual(['/version']);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['refused', '{}', 403],
    ['absent', '{}', 404],
    ['no JSON', '<html>', 200],
  ])('takes an answer that is %s for a no, for half a minute', async (_, body, status) => {
    const { clock, server, support } = setUp(body, status);
    expect(await support.ask(signal)).toBe(false);
    expect(support.known(clock.now())).toBe(false);
    await clock.advance(30_000);
    expect(support.known(clock.now())).toBeUndefined();
    server.answer = { status: 200, body: V34 };
    expect(await support.ask(signal)).toBe(true);
  });

  it('gives up a server that never answers', async () => {
    const { clock, support } = setUp();
    const asked = support.ask(signal);
    await clock.advance(5_000);
    expect(await asked).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends the question with the last who asks, and can be asked again', async () => {
    const { clock, server, support } = setUp();
    const [one, other] = [new AbortController(), new AbortController()];
    const asked = [support.ask(one.signal), support.ask(other.signal)];
    await settle();
    one.abort();
    await settle();
    expect(clock.pendingTimers).toBe(1);
    other.abort();
    expect(await Promise.all(asked)).toEqual([false, false]);
    expect(clock.pendingTimers).toBe(0);
    expect(await support.ask(one.signal)).toBe(false);
    server.answer = { status: 200, body: V34 };
    expect(await support.ask(signal)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it('a streaming list that worked settles it, whatever the version', async () => {
    const { clock, client, support } = setUp(V30);
    support.worked();
    expect(watchListSupportOf(client, 'secrets.v1').known(clock.now())).toBe(true);
    expect(await support.ask(signal)).toBe(true);
  });

  it('one that failed counts for its resource alone, for its time', async () => {
    const { clock, client, support } = setUp(V34);
    await support.ask(signal);
    support.failed(clock.now() + 1000);
    expect(support.known(clock.now())).toBe(false);
    expect(watchListSupportOf(client, 'secrets.v1').known(clock.now())).toBe(true);
    await clock.advance(1000);
    expect(support.known(clock.now())).toBe(true);
    await settle();
  });
});
