// HTTP/2 with prior knowledge against Node's server: what each end of a connection does to the requests on it.
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { FaultProxy } from '@kube-rx/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Http2TransportOptions } from '../../src/rest/http2-options.ts';
import { createHttp2Transport } from '../../src/rest/http2-transport.ts';
import type { TlsMaterial } from '../../src/rest/tls-material.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/rest/transport.ts';
import { readBody } from '../../src/rest/transport.ts';
import { utf8ToString } from '../../src/rest/utf8.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Handler = (stream: ServerHttp2Stream, headers: Headers) => void;

const text = async (response: TransportResponse): Promise<string> =>
  utf8ToString(await readBody(response.body, 1 << 26, () => new Error('long')));

/** Waits for a condition that a socket will make true. */
async function until(condition: () => boolean): Promise<void> {
  for (let count = 0; count < 1000 && !condition(); count++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
}

/** What a body said, in order: text, `<end>`, `<error CODE>`. */
function recorded(response: TransportResponse): string[] {
  const log: string[] = [];
  response.body.consume({
    data: (chunk) => void log.push(Buffer.from(chunk).toString()),
    end: () => void log.push('<end>'),
    error: (error) => void log.push(`<error ${(error as { code?: string }).code}>`),
  });
  return log;
}

describe('createHttp2Transport', () => {
  let server: Http2Server;
  let sessions: ServerHttp2Session[];
  let streams: ServerHttp2Stream[];
  let sockets: Socket[];
  let handler: Handler;
  let url: string;
  let transport: Transport;
  let maxConcurrentStreams: number;

  beforeEach(async () => {
    maxConcurrentStreams = 100;
    await listen();
    use();
  });
  afterEach(async () => {
    transport.close();
    for (const session of sessions) session.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  async function listen(port = 0): Promise<void> {
    sessions = [];
    streams = [];
    sockets = [];
    handler = (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/json' });
      stream.end('{}');
    };
    server = createServer({ settings: { maxConcurrentStreams } });
    server.on('connection', (socket: Socket) => sockets.push(socket));
    server.on('session', (session) => {
      sessions.push(session);
      session.on('error', () => {});
    });
    server.on('stream', (stream, headers) => {
      streams.push(stream);
      stream.on('error', () => {});
      handler(stream, headers as Headers);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  function use(options: Http2TransportOptions = {}): void {
    transport?.close();
    transport = createHttp2Transport({ priorKnowledge: true, ...options });
  }
  const send = (more: Partial<TransportRequest> = {}) =>
    transport.send({ method: 'GET', url: `${url}/x?a=1`, headers: {}, purpose: 'call', ...more });
  const watch = (more: Partial<TransportRequest> = {}) => send({ purpose: 'watch', ...more });
  /** Answers and stays open. */
  const hold: Handler = (stream) => {
    stream.respond({ ':status': 200 });
    stream.write('hello');
  };

  it('sends method, path, headers and body, but none that belong to a connection', async () => {
    let seen: Headers = {};
    let body = '';
    handler = (stream, headers) => {
      seen = headers;
      stream.on('data', (chunk) => {
        body += chunk;
      });
      stream.on('end', () => {
        stream.respond({ ':status': 201, link: ['<a>', '<b>'] });
        stream.end('done');
      });
    };
    const headers = {
      'impersonate-group': ['a', 'b'],
      connection: 'close',
      host: 'elsewhere',
      authorization: 'Bearer t',
    };
    const answer = await send({ method: 'POST', headers, body: '{"a":"ä"}' });
    expect([answer.status, answer.headers['link'], await text(answer)]).toEqual([201, '<a>, <b>', 'done']);
    expect(body).toBe('{"a":"ä"}');
    expect(seen).toMatchObject({
      ':method': 'POST',
      ':path': '/x?a=1',
      'impersonate-group': 'a, b',
      authorization: 'Bearer t',
    });
    expect(seen[':authority']).toBe(new URL(url).host);
    expect(seen['connection'] ?? seen['host']).toBeUndefined();
  });

  it('gives failures and answers without a body as answers', async () => {
    handler = (stream) => stream.respond({ ':status': 410 }, { endStream: true });
    const answer = await send();
    expect([answer.status, await text(answer)]).toEqual([410, '']);
  });

  it('unpacks gzip, and calls a packed body that stops half way an error', async () => {
    const packed = gzipSync('a long text '.repeat(5000));
    handler = (stream, headers) => {
      expect(headers['accept-encoding']).toBe('gzip');
      stream.respond({ ':status': 200, 'content-encoding': 'gzip' });
      if (streams.length === 1) stream.end(packed);
      else stream.write(packed.subarray(0, packed.length >> 1), () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    };
    use({ compression: 'gzip' });
    const whole = await send();
    expect(whole.headers['content-encoding']).toBeUndefined();
    expect(await text(whole)).toBe('a long text '.repeat(5000));
    await expect(text(await send())).rejects.toMatchObject({ name: 'TransportError' });
  });

  it('has all requests on one connection', async () => {
    handler = hold;
    const logs = (await Promise.all(Array.from({ length: 60 }, () => watch()))).map(recorded);
    handler = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('call');
    };
    expect(await text(await send())).toBe('call');
    await until(() => logs.every((log) => log.length === 1));
    expect(sessions).toHaveLength(1);
  });

  it('opens another connection when the streams of one are used up, so that watches never starve a call', async () => {
    server.close();
    maxConcurrentStreams = 10;
    await listen();
    handler = hold;
    await Promise.all(Array.from({ length: 25 }, () => watch()));
    expect(sessions).toHaveLength(3);
    expect(streams).toHaveLength(25);
    handler = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('call');
    };
    expect(await text(await send())).toBe('call');
    expect(sessions).toHaveLength(3);
  });

  it('leaves nothing behind when a watch is aborted, before and after its headers', async () => {
    handler = () => {};
    const waiting = new AbortController();
    const before = watch({ signal: waiting.signal });
    await until(() => streams.length === 1);
    waiting.abort(new Error('enough'));
    await expect(before).rejects.toThrow('enough');
    await until(() => streams[0]!.destroyed);
    handler = hold;
    const reading = new AbortController();
    const log = recorded(await watch({ signal: reading.signal }));
    await until(() => log.length === 1);
    reading.abort();
    await until(() => streams[1]!.destroyed);
    expect([streams[1]!.rstCode, sessions.length]).toEqual([constants.NGHTTP2_CANCEL, 1]);
    expect(await text(await overHold())).toBe('{}');
  });
  const overHold = (): Promise<TransportResponse> => {
    handler = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('{}');
    };
    return send();
  };

  it('destroying a body ends its stream alone, quietly', async () => {
    handler = hold;
    const [one, other] = await Promise.all([watch(), watch()]);
    const logs = [recorded(one), recorded(other)];
    await until(() => logs.every((log) => log.length === 1));
    one.body.destroy();
    one.body.destroy();
    await until(() => streams.filter((stream) => stream.destroyed).length === 1);
    streams.find((stream) => !stream.destroyed)!.end('bye');
    await until(() => logs[1]!.includes('<end>'));
    expect(logs).toEqual([['hello'], ['hello', 'bye', '<end>']]);
  });

  it('tells a body that ended from one that was cut', async () => {
    handler = hold;
    const log = recorded(await watch());
    await until(() => log.length === 1);
    streams[0]!.destroy(new Error('broken'));
    await until(() => log.length === 2);
    expect(log).toEqual(['hello', '<error EOF>']);
  });

  it('does not read while paused: the server gets no more than a window rid of, and other streams go on', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    handler = (stream) => {
      stream.respond({ ':status': 200 });
      const more = (): void => {
        while (sent < 16 * 1024 * 1024 && !stream.destroyed) {
          sent += chunk.length;
          if (!stream.write(chunk)) {
            stream.once('drain', more);
            return;
          }
        }
        stream.end();
      };
      more();
    };
    const answer = await watch();
    let received = 0;
    let ended = false;
    answer.body.consume({
      data(bytes) {
        received += bytes.length;
      },
      end() {
        ended = true;
      },
      error() {},
    });
    answer.body.pause();
    await overHold().then(text);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent).toBeLessThan(4 * 1024 * 1024);
    expect(await text(await send())).toBe('{}');
    answer.body.resume();
    await until(() => ended);
    expect(received).toBe(16 * 1024 * 1024);
  });

  it('sends a request that the server did not look at again, whatever it does, on another connection', async () => {
    let refusals = 0;
    handler = (stream) => {
      if (refusals++ === 0) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      stream.respond({ ':status': 201 });
      stream.end();
    };
    expect((await send({ method: 'POST', body: 'x' })).status).toBe(201);
    expect(refusals).toBe(2);
  });

  it('after GOAWAY takes new requests elsewhere and lets those that run go on', async () => {
    handler = hold;
    const log = recorded(await watch());
    await until(() => log.length === 1);
    sessions[0]!.goaway(constants.NGHTTP2_NO_ERROR);
    expect(await text(await overHold())).toBe('{}');
    await until(() => sessions.length === 2);
    streams[0]!.end('last');
    await until(() => log.at(-1) === '<end>');
    expect(log).toEqual(['hello', 'last', '<end>']);
  });

  it('repeats a GET on a new connection when the old one has died unnoticed, and no other method', async () => {
    await send().then(text);
    handler = (stream) => {
      if (sessions.length === 1) {
        sessions[0]!.destroy();
        return;
      }
      stream.respond({ ':status': 200 });
      stream.end('again');
    };
    expect(await text(await send())).toBe('again');
    expect(sessions).toHaveLength(2);
    handler = () => sessions.at(-1)!.destroy();
    await expect(send({ method: 'POST', body: 'x' })).rejects.toMatchObject({ code: 'EOF' });
  });

  it('a lost connection is an error of every body on it, and the next request makes a new one', async () => {
    await using proxy = await FaultProxy.listen({ targetPort: Number(new URL(url).port) });
    url = `http://127.0.0.1:${proxy.port}`;
    for (const end of [() => proxy.cut(), () => sockets.at(-1)!.destroy()]) {
      handler = hold;
      const logs = [recorded(await watch()), recorded(await watch())];
      await until(() => logs.every((log) => log.length === 1));
      end();
      await until(() => logs.every((log) => log.length === 2));
      for (const log of logs) expect(log[1]).toMatch(/<error (UNEXPECTED_EOF|EOF|RESET)>/);
    }
    expect(await text(await overHold())).toBe('{}');
    expect(sessions).toHaveLength(3);
  });

  it('says that nobody listens', async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await expect(send()).rejects.toMatchObject({ name: 'TransportError', code: 'REFUSED' });
    await listen();
  });

  describe('liveness', () => {
    it('gives up a connection whose ping is not answered, with all its streams', async () => {
      const clock = new VirtualClock();
      use({ clock });
      handler = hold;
      await using proxy = await FaultProxy.listen({ targetPort: Number(new URL(url).port) });
      url = `http://127.0.0.1:${proxy.port}`;
      const log = recorded(await watch());
      await until(() => log.length === 1);
      proxy.mode = 'silent';
      await clock.advance(30_000);
      expect(log).toEqual(['hello']);
      await clock.advance(15_000);
      await until(() => log.length === 2);
      expect(log[1]).toBe('<error TIMEOUT>');
    });

    it('does not send what follows down a connection on which a request was given up in silence', async () => {
      const clock = new VirtualClock();
      use({ clock });
      handler = hold;
      await using proxy = await FaultProxy.listen({ targetPort: Number(new URL(url).port) });
      url = `http://127.0.0.1:${proxy.port}`;
      const stop = new AbortController();
      const logs = [recorded(await watch({ signal: stop.signal })), recorded(await watch())];
      await until(() => logs.every((log) => log.length === 1));
      proxy.mode = 'silent';
      await clock.advance(10_000);
      stop.abort();
      await until(() => proxy.swallowedBytes > 0);
      proxy.mode = 'pass';
      const next = overHold();
      await clock.advance(999);
      expect(sessions).toHaveLength(1);
      await clock.advance(1);
      expect(await text(await next)).toBe('{}');
      expect(sessions).toHaveLength(2);
      // The other watch of that connection ends with the ping.
      await clock.advance(14_000);
      await until(() => logs[1]!.length === 2);
      expect(logs[1]).toEqual(['hello', '<error TIMEOUT>']);
    });

    it('trusts it again as soon as the ping is answered, and asks nothing where bytes have just come', async () => {
      const clock = new VirtualClock();
      use({ clock });
      handler = hold;
      let pings = 0;
      for (const quietMs of [999, 1_000]) {
        const answer = await watch();
        const log = recorded(answer);
        await until(() => log.length === 1);
        sessions[0]!.removeAllListeners('ping').on('ping', () => pings++);
        await clock.advance(quietMs);
        answer.body.destroy();
        expect(await text(await overHold())).toBe('{}');
        handler = hold;
      }
      expect([pings, sessions.length]).toEqual([1, 1]);
    });

    it('keeps one that answers, and one that sends', async () => {
      const clock = new VirtualClock();
      use({ clock });
      handler = hold;
      const log = recorded(await watch());
      await until(() => log.length === 1);
      let pings = 0;
      sessions[0]!.on('ping', () => pings++);
      for (let round = 1; round <= 3; round++) {
        await clock.advance(30_000);
        await until(() => pings === round);
        await until(() => clock.pendingTimers === 1);
        await settle();
      }
      await clock.advance(29_000);
      streams[0]!.write('news');
      await until(() => log.length === 2);
      await clock.advance(29_000);
      expect(pings).toBe(3);
      expect(log).toEqual(['hello', 'news']);
    });

    it('closes a connection that nobody has used for a while', async () => {
      const clock = new VirtualClock();
      use({ clock, pingAfterMs: 0 });
      await send().then(text);
      let closed = false;
      sessions[0]!.on('close', () => {
        closed = true;
      });
      await clock.advance(90_000);
      await until(() => closed);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  it('moves to new connections when certificates change: watches at once, calls after their end', async () => {
    let material: TlsMaterial = {};
    use({ tls: () => material });
    handler = hold;
    const watched = recorded(await watch());
    const called = recorded(await send());
    await until(() => watched.length === 1 && called.length === 1);
    material = {};
    expect(await text(await overHold())).toBe('{}');
    expect(sessions).toHaveLength(2);
    await until(() => watched.length === 2);
    expect(watched[1]).toBe('<error EOF>');
    streams[1]!.end('done');
    await until(() => called.at(-1) === '<end>');
  });

  it('close ends idle connections, lets running ones finish, and does not end the transport', async () => {
    handler = hold;
    const log = recorded(await watch());
    await until(() => log.length === 1);
    transport.close();
    streams[0]!.end('last');
    await until(() => log.at(-1) === '<end>');
    expect(await text(await overHold())).toBe('{}');
  });

  it('speaks HTTP/1.1 to plain servers unless it is told otherwise', async () => {
    const asked: string[] = [];
    const http1: Transport = {
      send(request) {
        asked.push(request.url);
        return Promise.reject(new Error('over http1'));
      },
      close() {},
    };
    use({ priorKnowledge: false, http1 });
    await expect(send()).rejects.toThrow('over http1');
    expect(asked).toEqual([`${url}/x?a=1`]);
  });
});
