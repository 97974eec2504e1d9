import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually, startTestServer } from '../../test/support/http-server.ts';
import { RecordingSink } from '../../test/support/recording-sink.ts';
import type { FetchTransportOptions, PlatformWebSocket } from './fetch-transport.ts';
import { createFetchTransport } from './fetch-transport.ts';
import type { TransportRequest } from './transport.ts';

const request = (url: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  url,
  headers: {},
  purpose: 'call',
  ...more,
});

describe('createFetchTransport', () => {
  it('sends method, headers and body, and hands on status, headers and body', async () => {
    const seen: { method?: string | undefined; headers?: IncomingMessage['headers']; body: string } = { body: '' };
    await using server = await startTestServer((incoming, response) => {
      Object.assign(seen, { method: incoming.method, headers: incoming.headers });
      incoming.on('data', (chunk) => {
        seen.body += String(chunk);
      });
      incoming.on('end', () => {
        response.writeHead(418, { 'X-Thing': ['a', 'b'], 'content-type': 'application/json' });
        response.end('{"a":1}');
      });
    });
    const transport = createFetchTransport();
    const response = await transport.send(
      request(server.url, { method: 'POST', headers: { 'x-group': ['one', 'two'], accept: 'x/y' }, body: '{"ä":1}' }),
    );
    expect(seen).toMatchObject({ method: 'POST', body: '{"ä":1}', headers: { 'x-group': 'one, two', accept: 'x/y' } });
    expect(response).toMatchObject({ status: 418, headers: { 'x-thing': 'a, b', 'content-type': 'application/json' } });
    const sink = new RecordingSink();
    response.body.consume(sink);
    await eventually(() => sink.ended !== 'open');
    expect([sink.text, sink.ended]).toEqual(['{"a":1}', 'end']);
    transport.close();
  });

  it('streams, and reads no further while it is paused', async () => {
    let answer: ServerResponse | undefined;
    await using server = await startTestServer((_incoming, response) => {
      answer = response;
      response.write('one\n');
    });
    const { body } = await createFetchTransport().send(request(server.url, { purpose: 'watch' }));
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.text === 'one\n');
    body.pause();
    const chunk = 'x'.repeat(1024 * 1024);
    let accepted = 0;
    for (let n = 0; n < 40; n++) if (answer!.write(chunk)) accepted++;
    await eventually(() => answer!.writableLength > 0);
    expect(accepted).toBeLessThan(40);
    // One read was under way when the pause came.
    expect(sink.text.length).toBeLessThan(2 * 1024 * 1024);
    body.resume();
    answer!.end('end');
    await eventually(() => sink.ended === 'end');
    expect(sink.text.length).toBe(4 + 40 * chunk.length + 3);
  });

  it('closes the connection when the body is destroyed, and says nothing any more', async () => {
    await using server = await startTestServer((_incoming, response) => void response.write('one\n'));
    const { body } = await createFetchTransport().send(request(server.url, { purpose: 'watch' }));
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.text === 'one\n');
    body.destroy();
    body.destroy();
    await eventually(() => server.sockets.size === 0);
    expect(sink.ended).toBe('open');
  });

  it('names a connection that is refused or breaks', async () => {
    const gone = await startTestServer(() => {});
    await gone[Symbol.asyncDispose]();
    await expect(createFetchTransport().send(request(gone.url))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'REFUSED',
    });
    await using server = await startTestServer((_incoming, response) => {
      response.write('half');
      setImmediate(() => response.destroy());
    });
    const { body } = await createFetchTransport().send(request(server.url, { purpose: 'watch' }));
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ name: 'TransportError', code: 'EOF' });
  });

  it('rejects with the reason of the signal, and ends the connection by it', async () => {
    let open = 0;
    await using server = await startTestServer((incoming, response) => {
      open++;
      response.once('close', () => open--);
      if (incoming.url === '/answered') response.write('one\n');
    });
    const abort = new AbortController();
    const waiting = createFetchTransport().send(request(`${server.url}/silent`, { signal: abort.signal }));
    const answered = await createFetchTransport().send(request(`${server.url}/answered`, { signal: abort.signal }));
    const sink = new RecordingSink();
    answered.body.consume(sink);
    await eventually(() => open === 2);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await eventually(() => open === 0 && sink.ended !== 'open');
    await expect(createFetchTransport().send(request(server.url, { signal: abort.signal }))).rejects.toThrow('enough');
  });

  it('works with any fetch, and with answers that have no body', async () => {
    const transport = createFetchTransport({ fetch: async () => new Response(null, { status: 204 }) });
    const response = await transport.send(request('http://in-process/x'));
    const sink = new RecordingSink();
    response.body.consume(sink);
    await eventually(() => sink.ended === 'end');
    expect(response.status).toBe(204);
    const failing = createFetchTransport({ fetch: async () => Response.error() });
    await expect(failing.send(request('http://in-process/x'))).rejects.toMatchObject({ code: 'NETWORK' });
  });
});

describe('createFetchTransport over WebSocket', () => {
  const webSocket = WebSocket as unknown as new (url: string, protocols?: string[]) => PlatformWebSocket;
  const options: FetchTransportOptions = { watchOver: 'websocket', webSocket };

  it('reads a watch as messages, with the token as a subprotocol', async () => {
    await using server = await startTestServer(() => {});
    const sockets = new WebSocketServer({ server: server.server });
    let protocols = '';
    sockets.on('connection', (socket, incoming) => {
      protocols = String(incoming.headers['sec-websocket-protocol']);
      socket.send('{"n":1}\n');
      socket.send(Buffer.from('{"n":2}\n'), { binary: true });
      socket.close(1000);
    });
    const response = await createFetchTransport(options).send(
      request(`${server.url}/api/v1/pods?watch=true`, { purpose: 'watch', headers: { authorization: 'Bearer a?b>c' } }),
    );
    expect(response.status).toBe(200);
    const sink = new RecordingSink();
    response.body.pause();
    response.body.consume(sink);
    expect(sink.text).toBe('');
    response.body.resume();
    await eventually(() => sink.ended === 'end');
    expect(sink.text).toBe('{"n":1}\n{"n":2}\n');
    expect(protocols).toBe('base64url.bearer.authorization.k8s.io.YT9iPmM,base64.binary.k8s.io');
    sockets.close();
  });

  it('fails when the handshake is refused or the connection breaks, and ends by its signal', async () => {
    await using server = await startTestServer((_incoming, response) => response.end());
    await expect(createFetchTransport(options).send(request(server.url, { purpose: 'watch' }))).rejects.toMatchObject({
      code: 'NETWORK',
    });
    await using other = await startTestServer(() => {});
    const sockets = new WebSocketServer({ server: other.server });
    const abort = new AbortController();
    const response = await createFetchTransport(options).send(
      request(other.url, { purpose: 'watch', signal: abort.signal }),
    );
    const broken = await createFetchTransport(options).send(request(other.url, { purpose: 'watch' }));
    const sink = new RecordingSink();
    broken.body.consume(sink);
    response.body.consume(new RecordingSink());
    abort.abort();
    await eventually(() => sockets.clients.size === 1);
    for (const socket of sockets.clients) socket.terminate();
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ code: 'UNEXPECTED_EOF' });
    sockets.close();
  });
});
