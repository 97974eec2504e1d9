import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { TransportError } from '../errors.ts';
import { ListWatch } from './list-watch.ts';
import type { RestClientOptions } from './rest-client.ts';
import { RestClient } from './rest-client.ts';
import type { BodySink, Transport, TransportBody, TransportRequest, TransportResponse } from './transport.ts';

type Answer = TransportResponse | Error;

function setup(answers: Answer[], options: Partial<RestClientOptions> = {}) {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  const times: number[] = [];
  const start = clock.now();
  const transport: Transport = {
    send: async (request) => {
      requests.push(request);
      times.push(clock.now() - start);
      request.signal?.throwIfAborted();
      const answer = answers.shift() ?? jsonResponse(200, {});
      if (answer instanceof Error) throw answer;
      return answer;
    },
    close() {},
  };
  const client = new RestClient({ server: 'http://api.test/base', transport, clock, ...options });
  return { client, clock, requests, times };
}
const busy = (retryAfter: string, status = 503): TransportResponse =>
  jsonResponse(
    status,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason: 'ServiceUnavailable' },
    { 'retry-after': retryAfter },
  );
const reset = (): TransportError => new TransportError('RESET', 'reset');

describe('RestClient, retries', () => {
  it('waits as long as Retry-After says', async () => {
    const { client, clock, times } = setup([busy('2'), busy('3', 429), jsonResponse(200, { ok: 1 })]);
    const answer = client.json({ path: '/x' });
    await clock.advance(5000);
    expect(await answer).toEqual({ ok: 1 });
    expect(times).toEqual([0, 2000, 5000]);
  });

  it('gives up after ten repetitions with what the server said', async () => {
    const { client, clock, requests } = setup(Array.from({ length: 20 }, () => busy('1')));
    const answer = client.json({ path: '/x' });
    const failed = expect(answer).rejects.toMatchObject({ name: 'StatusError', code: 503 });
    await clock.advance(20_000);
    await failed;
    expect(requests).toHaveLength(11);
  });

  it.each([
    ['without the header', jsonResponse(503, {})],
    ['with a date', busy('Wed, 21 Oct 2015 07:28:00 GMT')],
    ['for a status below 500 other than 429', busy('1', 403)],
  ])('does not repeat %s', async (_, response) => {
    const { client, requests } = setup([response]);
    await expect(client.json({ path: '/x' })).rejects.toMatchObject({ name: 'StatusError' });
    expect(requests).toHaveLength(1);
  });

  it('repeats a GET whose connection died after a second, and no other method', async () => {
    const { client, clock, times } = setup([reset(), jsonResponse(200, { ok: 1 })]);
    const answer = client.json({ path: '/x' });
    await clock.advance(1000);
    expect(await answer).toEqual({ ok: 1 });
    expect(times).toEqual([0, 1000]);
    await expect(setup([reset()]).client.json({ method: 'POST', path: '/x', body: {} })).rejects.toMatchObject({
      code: 'RESET',
    });
  });

  it('repeats a timeout for a watch only', async () => {
    const timeout = new TransportError('TIMEOUT', 'late');
    await expect(setup([timeout]).client.send({ path: '/x' })).rejects.toMatchObject({ code: 'TIMEOUT' });
    const { client, clock } = setup([timeout, jsonResponse(200, {})]);
    const answer = client.send({ path: '/x', purpose: 'watch' });
    await clock.advance(1000);
    expect((await answer).status).toBe(200);
  });

  it('does nothing more when it is aborted while it waits', async () => {
    const { client, clock, requests } = setup([busy('100')]);
    const controller = new AbortController();
    const answer = client.json({ path: '/x', signal: controller.signal });
    const failed = expect(answer).rejects.toBe('enough');
    await settle();
    controller.abort('enough');
    await failed;
    expect(requests).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  // Upstream test: client-go@v0.30.3:rest/request_test.go#TestRequestDoWithWrapPreviousError
  it('says in its error why it was tried again', async () => {
    const refused = new TransportError('REFUSED', 'refused');
    const failures: [Answer[], string][] = [
      [[reset(), refused], 'refused - error from a previous attempt: reset'],
      [[reset(), busy('1'), refused], 'refused - error from a previous attempt: status 503'],
      [[busy('1', 429), refused], 'refused - error from a previous attempt: status 429'],
      [[reset(), reset(), reset()], 'reset'],
      [[refused], 'refused'],
    ];
    for (const [answers, message] of failures) {
      const { client, clock } = setup(answers, { maxRetries: 2 });
      const failed = client.json({ path: '/x' }).catch((error: unknown) => error);
      await clock.advance(2000);
      const error = (await failed) as TransportError;
      expect(error.message).toBe(message);
      expect(error.code).toBe(message.startsWith('reset') ? 'RESET' : 'REFUSED');
      if (error.message.includes('previous')) expect(error.cause).toBe(refused);
    }
  });

  it('says in its error why it was tried again also when its time ends while it waits, and leaves the reason of a caller alone', async () => {
    const { client, clock } = setup([reset(), busy('100')], { timeoutMs: 5000 });
    const failed = client.json({ path: '/x' }).catch((error: unknown) => error);
    await clock.advance(5000);
    expect(await failed).toMatchObject({
      code: 'TIMEOUT',
      message: 'no answer to /x within 5000 ms - error from a previous attempt: status 503',
    });
    const other = setup([reset(), busy('100')], { timeoutMs: 5000 });
    const controller = new AbortController();
    const reason = new TransportError('ABORTED', 'enough');
    const aborted = other.client.json({ path: '/x', signal: controller.signal }).catch((error: unknown) => error);
    await other.clock.advance(2000);
    controller.abort(reason);
    expect(await aborted).toBe(reason);
  });

  it('asks for fresh credentials once after 401', async () => {
    let token = 1;
    const auth = { headers: () => ({ authorization: `Bearer ${token}` }), rejected: () => ++token > 0 };
    const { client, requests } = setup([jsonResponse(401, {}), jsonResponse(200, { ok: 1 })], { auth });
    expect(await client.json({ path: '/x' })).toEqual({ ok: 1 });
    expect(requests.map((request) => request.headers['authorization'])).toEqual(['Bearer 1', 'Bearer 2']);
    const twice = setup([jsonResponse(401, {}), jsonResponse(401, {})], { auth });
    await expect(twice.client.json({ path: '/x' })).rejects.toMatchObject({ code: 401 });
  });
});

describe('RestClient, requests', () => {
  it('sends accept, agent, impersonation and the headers it was given', async () => {
    const { client, requests } = setup([], {
      userAgent: 'test/1',
      headers: { 'X-One': '1' },
      impersonate: { user: 'eve', groups: ['a', 'b'], extra: { 'Team/Red': ['x'] } },
    });
    await client.json({ path: '/x', headers: { Accept: 'text/x' } });
    expect(requests[0]?.headers).toEqual({
      accept: 'text/x',
      'user-agent': 'test/1',
      'x-one': '1',
      'impersonate-user': 'eve',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-team%2Fred': ['x'],
    });
  });

  it('follows redirects of a GET and leaves the credentials at home when the host changes', async () => {
    const to = (location: string): TransportResponse => jsonResponse(307, '', { location });
    const { client, requests } = setup(
      [to('/other?x=1'), to('http://elsewhere.test/y'), jsonResponse(200, { ok: 1 })],
      {
        auth: { headers: () => ({ authorization: 'secret' }) },
      },
    );
    expect(await client.json({ path: '/x' })).toEqual({ ok: 1 });
    expect(requests.map((request) => [request.url, request.headers['authorization']])).toEqual([
      ['http://api.test/base/x', 'secret'],
      ['http://api.test/other?x=1', 'secret'],
      ['http://elsewhere.test/y', undefined],
    ]);
  });

  it('stops after ten redirects', async () => {
    const { client } = setup(Array.from({ length: 20 }, () => jsonResponse(302, '', { location: '/again' })));
    await expect(client.json({ path: '/x' })).rejects.toMatchObject({ code: 'TOO_MANY_REDIRECTS' });
  });

  it('rejects a success whose body is a failure, or no JSON', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Conflict', code: 409, message: 'm' };
    await expect(setup([jsonResponse(200, status)]).client.json({ path: '/x' })).rejects.toMatchObject({
      code: 409,
      message: 'm',
    });
    await expect(setup([jsonResponse(200, '<html>')]).client.json({ path: '/x' })).rejects.toMatchObject({
      code: 'BAD_JSON',
    });
  });

  it('makes a Status of its own when the body has none', async () => {
    await expect(
      setup([jsonResponse(502, '<html>bad gateway</html>')]).client.json({ path: '/x' }),
    ).rejects.toMatchObject({
      status: {
        code: 502,
        reason: 'InternalError',
        details: { causes: [{ reason: 'UnexpectedServerResponse', message: '<html>bad gateway</html>' }] },
      },
    });
  });

  it('ends a call after its time limit, but no watch', async () => {
    const never = new Promise<TransportResponse>(() => {});
    const clock = new VirtualClock();
    const transport: Transport = {
      send: ({ signal }) =>
        Promise.race([
          never,
          new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
        ]),
      close() {},
    };
    const client = new RestClient({ server: 'http://h', transport, clock, timeoutMs: 1000 });
    const call = expect(client.json({ path: '/x' })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await clock.advance(1000);
    await call;
    expect(clock.pendingTimers).toBe(0);
  });

  it('bounds the silence of a list and not its length', async () => {
    const clock = new VirtualClock();
    let sink: BodySink | undefined;
    let paused = 0;
    const transport: Transport = {
      send: ({ signal }) => {
        signal?.addEventListener('abort', () => sink?.error(signal.reason));
        const body: TransportBody = {
          consume(given) {
            sink = given;
          },
          pause: () => void paused++,
          resume() {},
          destroy() {},
        };
        return Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body });
      },
      close() {},
    };
    const client = new RestClient({ server: 'http://h', transport, clock, timeoutMs: 1000 });
    const configMaps = {
      apiVersion: 'v1',
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      scope: 'Namespaced',
    } as const;
    const listed = () => new ListWatch(client, configMaps).list({}, { signal: new AbortController().signal });
    const bytes = (text: string): void => sink?.data(new TextEncoder().encode(text));
    const slow = listed();
    await clock.advance(900);
    bytes('{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[');
    for (let count = 0; count < 20; count++) {
      await clock.advance(900);
      bytes(`${count === 0 ? '' : ','}{"metadata":{"name":"a${count}"}}`);
    }
    bytes(']}');
    sink?.end();
    expect((await slow).items).toHaveLength(20);
    expect(clock.pendingTimers).toBe(0);
    const silent = expect(listed()).rejects.toMatchObject({ code: 'TIMEOUT' });
    await clock.advance(500);
    bytes('{"kind":');
    await clock.advance(999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    await silent;
    expect(clock.pendingTimers).toBe(0);
    expect(paused).toBe(0);
  });

  it('hands on warnings', async () => {
    const seen: string[] = [];
    const { client } = setup([jsonResponse(200, {}, { warning: '299 - "old \\"thing\\"", 299 agent "two" "date"' })], {
      onWarning: ({ code, agent, text }) => seen.push(`${code} ${agent} ${text}`),
    });
    await client.json({ path: '/x' });
    expect(seen).toEqual(['299 - old "thing"', '299 agent two']);
  });
});
