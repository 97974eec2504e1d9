import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';
import { configMap, makeNamespace, open, send, sendRaw } from '../support/client.ts';

const MAPS = '/api/v1/namespaces/test/configmaps';
let server: FakeApiServer;

beforeAll(async () => {
  server = await startFakeApiServer({ insecure: true });
  await makeNamespace(server);
});
afterAll(() => server.destroy());

/** Every test ends with this: whatever came in, the server goes on. */
async function stillServes(): Promise<void> {
  expect((await send(server, '/readyz')).text).toBe('ok');
}

describe('bytes that are no request', () => {
  it.each([
    ['a bad request line', 'HELLO\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['a broken escape in the path', 'GET /api/%zz HTTP/1.1\r\nHost: x\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['a header that never ends', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(1_100_000)}`, 'HTTP/1.1 431 '],
  ])('%s gets a bare answer', async (_name, bytes, start) => {
    expect((await sendRaw(server, bytes)).slice(0, start.length)).toBe(start);
    await stillServes();
  });

  it('half a request and a hang-up leave nothing behind', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 100\r\n\r\n{`,
    );
    await once(socket, 'connect');
    socket.destroy();
    await stillServes();
  });
});

describe('WebSocket handshakes', () => {
  const shake = (headers: Readonly<Record<string, string>>): Promise<string> => {
    const all = { Host: 'x', Connection: 'Upgrade', Upgrade: 'websocket', ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return sendRaw(server, `GET ${MAPS}?watch=1&timeoutSeconds=1 HTTP/1.1\r\n${lines.join('')}\r\n`);
  };
  const key = { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' };

  it.each([
    [{ 'Sec-WebSocket-Version': '13' }, '400 Bad Request\r\n\r\nmismatch challenge/response'],
    [
      { 'Sec-WebSocket-Version': '8', ...key },
      '400 Bad Request\r\nSec-WebSocket-Version: 13\r\n\r\nmissing or bad WebSocket Version',
    ],
  ])('say what is wrong with %j', async (headers, answer) => {
    expect(await shake({ Authorization: `Bearer ${server.token}`, ...headers })).toBe(`HTTP/1.1 ${answer}`);
  });

  it.each([
    ['no protocol to answer with', (bearer: string) => bearer],
    ['a second token', (bearer: string) => `${bearer}, ${bearer}, base64.binary.k8s.io`],
    ['a token that is no base64', (bearer: string) => `${bearer}=, base64.binary.k8s.io`],
  ])('bring no token with %s', async (_what, protocols) => {
    const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(server.token).toString('base64url')}`;
    const headers = { 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Protocol': protocols(bearer), ...key };
    expect(await shake(headers)).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
  });
});

describe('paths', () => {
  it.each([
    ['/api/v1/namespaces/test/configmaps/a%2fb', 404],
    ['/api/v1/namespaces/test/configmaps/a/b/c/d', 404],
    ['/api/v1//configmaps', 404],
    ['/apis/apps/v1/namespaces/test/__proto__', 404],
    ['/api/v1/__proto__', 404],
    ['/api/constructor/pods', 404],
    ['/apis/toString/v1/x', 404],
    ['/%00', 404],
    ['/apis//', 404],
  ])('%s is answered with %s', async (path, status) => {
    expect((await send(server, path)).status).toBe(status);
    await stillServes();
  });

  it.each(['..', '.', '%2e%2e', 'a%25b'])('the name %s is refused', async (name) => {
    const raw = await sendRaw(
      server,
      `GET ${MAPS}/${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`,
    );
    expect(raw).toMatch(/^HTTP\/1\.1 (400|404) /);
    await stillServes();
  });

  it.each(['TRACE', 'PROPFIND', 'OPTIONS', 'HEAD', 'PUT'])('%s on a collection is a 405', async (method) => {
    expect((await send(server, MAPS, { method })).status).toBe(405);
  });
});

describe('bodies', () => {
  it('past 3 MiB get a 413, over the whole wire', async () => {
    const answer = await send(server, MAPS, { method: 'POST', body: 'x'.repeat(3 * 1024 * 1024 + 1) });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text).message).toBe('Request entity too large: limit is 3145728');
    await stillServes();
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['nonsense', 415],
    ['application/json; charset=utf-8', 201],
  ])('of type %s are answered with %s', async (type, status) => {
    const body = configMap(`t-${status}`);
    expect((await send(server, MAPS, { method: 'POST', body, headers: { 'content-type': type } })).status).toBe(status);
  });

  it.each([
    '{"metadata":{"name":"p","annotations":{"__proto__":"x"}}}',
    '{"__proto__":{"a":1},"metadata":{"name":"q"}}',
    '{"metadata":{"name":"r"},"data":{"__proto__":"1","constructor":"2"}}',
  ])('with keys that mean something to JavaScript pollute nothing: %s', async (body) => {
    const answer = await send(server, MAPS, { method: 'POST', body });
    expect([201, 422]).toContain(answer.status);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
    await stillServes();
  });

  it('as deep as a stack are refused, not fatal', async () => {
    const body = `{"metadata":{"name":"deep"},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect((await send(server, MAPS, { method: 'POST', body })).status).toBe(400);
    await stillServes();
  });

  it.each([
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ])('that are no %s are refused', async (type) => {
    await send(server, MAPS, { method: 'POST', body: configMap('patched') });
    for (const body of [
      '',
      '{',
      'null',
      '5',
      '"x"',
      '[]',
      '[1]',
      '{"metadata":5}',
      '{"metadata":{"name":"other"}}',
      '\u0000',
    ]) {
      const path = `${MAPS}/patched?fieldManager=m`;
      const answer = await send(server, path, { method: 'PATCH', body, headers: { 'content-type': type } });
      expect([200, 400, 404, 409, 415, 422, 500]).toContain(answer.status);
      expect(answer.headers['content-type']).toBe('application/json');
    }
    await stillServes();
  });
});

describe('a client that never reads', () => {
  it('does not hold up the others, and costs bounded memory', async () => {
    const stuck = await open(server, `${MAPS}?watch=1`);
    stuck.body.pause();
    const big = { k: 'x'.repeat(500_000) };
    await send(server, MAPS, { method: 'POST', body: configMap('big', big) });
    for (let n = 0; n < 40; n++) {
      const body = configMap('big', { ...big, n: String(n) });
      expect((await send(server, `${MAPS}/big`, { method: 'PUT', body })).status).toBe(200);
    }
    stuck.body.destroy();
    await stillServes();
  });
});

describe('a slow request', () => {
  it('ends at its timeout with the text of the filter', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${MAPS}?timeout=200ms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    const [chunk] = await once(socket, 'data');
    expect(String(chunk)).toContain('HTTP/1.1 504 ');
    expect(String(chunk)).toContain('"Timeout: request did not complete within the allotted timeout"');
    socket.destroy();
    await stillServes();
  });
});
