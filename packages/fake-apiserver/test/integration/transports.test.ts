import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';
import { configMap, http2Session, makeNamespace, open, send, sendHttp2, watchEvents } from '../support/client.ts';

const MAPS = '/api/v1/namespaces/test/configmaps';

describe.each([
  ['TLS', {}],
  ['plain HTTP', { insecure: true }],
])('over %s', (_name, options) => {
  it('serves create, read, watch and delete over HTTP/1.1', async () => {
    await using server = await startFakeApiServer(options);
    await makeNamespace(server);
    const created = await send(server, MAPS, { method: 'POST', body: configMap('a', { k: '1' }) });
    expect(created.status).toBe(201);
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.headers['cache-control']).toBe('no-cache, private');
    const { resourceVersion } = JSON.parse(created.text).metadata;
    const watch = await open(server, `${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
    expect(watch.headers).toMatchObject({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    const events = watchEvents(watch.body);
    await send(server, `${MAPS}/a`, { method: 'DELETE' });
    expect((await events.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } });
    expect((await send(server, `${MAPS}/a`)).status).toBe(404);
    watch.body.destroy();
  });

  it('serves HTTP/2, several streams on one connection', async () => {
    await using server = await startFakeApiServer(options);
    await makeNamespace(server);
    const session = http2Session(server);
    const watch = session.request({ ':path': `${MAPS}?watch=1`, authorization: `Bearer ${server.token}` });
    const [headers] = await once(watch, 'response');
    expect(headers[':status']).toBe(200);
    const created = await sendHttp2(session, server, MAPS, { method: 'POST', body: configMap('b') });
    expect(created.status).toBe(201);
    const events = watchEvents(watch);
    expect((await events.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
    watch.close();
    expect((await sendHttp2(session, server, '/version')).status).toBe(200);
    session.destroy();
  });

  it('sends watch events as text messages over WebSocket and closes with 1000', async () => {
    await using server = await startFakeApiServer(options);
    await makeNamespace(server);
    await send(server, MAPS, { method: 'POST', body: configMap('c') });
    const url = `${server.url.replace('http', 'ws')}${MAPS}?watch=1&timeoutSeconds=1`;
    const socket = new WebSocket(url, {
      ca: server.ca,
      origin: 'http://test.local',
      headers: { authorization: `Bearer ${server.token}` },
    });
    const [message, binary] = await once(socket, 'message');
    expect(binary).toBe(false);
    expect(String(message)).toMatch(/^\{"type":"ADDED",.*\}\n$/);
    const [code] = await once(socket, 'close');
    expect(code).toBe(1000);
  });
});

// Upstream test: apiserver@v0.30.3:pkg/endpoints/watch_test.go#TestWatchWebsocketClientClose
it('ends the watch of a WebSocket that its client closes', async () => {
  await using server = await startFakeApiServer({ insecure: true });
  const headers = { authorization: `Bearer ${server.token}` };
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${MAPS}?watch=1`, { headers, origin: server.url });
  await once(socket, 'open');
  const open = async (): Promise<string | undefined> =>
    /^apiserver_longrunning_requests\{.*resource="configmaps".*\} (\d+)$/m.exec(
      (await send(server, '/metrics')).text,
    )?.[1];
  await expect.poll(open).toBe('1');
  socket.close();
  await expect.poll(open).toBe('0');
});

describe('WebSocket subprotocols', () => {
  it('takes a token from a WebSocket subprotocol and echoes the other one, as browsers need it', async () => {
    await using server = await startFakeApiServer({ insecure: true, anonymousAuth: false });
    const url = `${server.url.replace('http', 'ws')}${MAPS}?watch=1&timeoutSeconds=1`;
    const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(server.token).toString('base64url')}`;
    const socket = new WebSocket(url, [bearer, 'base64.binary.k8s.io'], { origin: server.url });
    await once(socket, 'open');
    expect(socket.protocol).toBe('base64.binary.k8s.io');
    await once(socket, 'close');
  });
});

describe('in process', () => {
  it('serves the same without a socket', async () => {
    await using server = await startFakeApiServer({ listen: false });
    await makeNamespace(server);
    const abort = new AbortController();
    const watch = await server.fetch(`${MAPS}?watch=1`, { signal: abort.signal });
    expect(watch.headers.get('content-type')).toBe('application/json');
    const headers = { 'content-type': 'application/json' };
    await server.fetch(MAPS, { method: 'POST', headers, body: configMap('d') });
    const reader = watch.body!.getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value!).toString()).toMatch(/^\{"type":"ADDED"/);
    await reader.cancel();
    const anonymous = await server.fetch(MAPS, { headers: { authorization: '' } });
    expect(anonymous.status).toBe(403);
    abort.abort();
  });

  it('runs a watch of hours in virtual time', async () => {
    await using server = await startFakeApiServer({ listen: false, clock: 'virtual', random: () => 0 });
    const watch = await server.fetch('/api/v1/configmaps?watch=1');
    const done = watch.text();
    const advance = (advanceMs: number): Promise<Response> =>
      server.fetch('/_fake/clock', { method: 'POST', body: JSON.stringify({ advanceMs }) });
    await advance(1_799_999);
    expect(await Promise.race([done, 'open'])).toBe('open');
    await advance(1);
    expect(await done).toBe('');
  });
});

describe('client certificates', () => {
  async function whoAmI(server: FakeApiServer, commonName: string, organizations: string[]): Promise<number> {
    const { request } = await import('node:https');
    const { certPem, keyPem } = server.issueClientCertificate({ commonName, organizations })!;
    const call = request(`${server.url}/api/v1/nodes`, { ca: server.ca, cert: certPem, key: keyPem, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    response.resume();
    return response.statusCode;
  }

  it('take the user from the common name and its groups from the organizations', async () => {
    await using server = await startFakeApiServer();
    expect(await whoAmI(server, 'root', ['system:masters'])).toBe(200);
    expect(await whoAmI(server, 'alice', ['dev'])).toBe(403);
  });

  it('of another authority are no credentials', async () => {
    await using server = await startFakeApiServer();
    await using other = await startFakeApiServer();
    const { request } = await import('node:https');
    const { certPem, keyPem } = other.issueClientCertificate({ commonName: 'x', organizations: ['system:masters'] })!;
    const call = request(`${server.url}/api/v1/nodes`, { ca: server.ca, cert: certPem, key: keyPem, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    response.resume();
    expect(response.statusCode).toBe(401);
  });
});

describe('connections', () => {
  it('tell a plain request on a TLS port what it is', async () => {
    await using server = await startFakeApiServer();
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [chunk] = await once(socket, 'data');
    expect(String(chunk)).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  });

  it('of HTTP/2 are told to go away by chance, and keep their streams', async () => {
    await using server = await startFakeApiServer({ insecure: true, goawayChance: 0.02, random: () => 0.01 });
    const session = http2Session(server);
    const goaway = once(session, 'goaway');
    const watch = session.request({ ':path': '/api/v1/configmaps?watch=1', authorization: `Bearer ${server.token}` });
    await once(watch, 'response');
    await goaway;
    await makeNamespace(server);
    await send(server, MAPS, { method: 'POST', body: configMap('late') });
    expect((await watchEvents(watch).next()).value).toMatchObject({ type: 'ADDED' });
    session.destroy();
  });

  it('of HTTP/1.1 serve one request after the other, also after a watch', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    socket.write(`GET /api/v1/configmaps?watch=1&timeoutSeconds=1 ${head}GET /readyz ${head}`);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (text.endsWith('ok')) socket.end();
    });
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n.*ok$/s);
  });
});
