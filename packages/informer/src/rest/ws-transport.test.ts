import type { IncomingMessage } from 'node:http';
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import { eventually, startTestServer } from '../../test/support/http-server.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { RecordingSink } from '../../test/support/recording-sink.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { readBody } from './transport.ts';
import type { WsTransportOptions } from './ws-transport.ts';
import { createWsTransport } from './ws-transport.ts';

const calls: Transport = { send: async () => jsonResponse(200, { from: 'calls' }), close() {} };
const watch = (url: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  url,
  headers: { authorization: 'Bearer t', 'impersonate-group': ['a', 'b'], accept: 'application/json' },
  purpose: 'watch',
  ...more,
});

async function setUp(
  connected: (socket: WebSocket, request: IncomingMessage) => void,
  options: Partial<WsTransportOptions> = {},
) {
  const server = await startTestServer((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end('{"kind":"Status","code":403}');
  });
  const sockets = new WebSocketServer({ server: server.server });
  sockets.on('connection', connected);
  return { server, sockets, transport: createWsTransport({ calls, ...options }) };
}

describe('createWsTransport', () => {
  it('sends everything but watches through the other transport', async () => {
    const response = await createWsTransport({ calls }).send(watch('http://127.0.0.1:1/', { purpose: 'call' }));
    expect(response.status).toBe(200);
  });

  it('sends the headers and an origin, and makes one stream of the messages', async () => {
    let headers: IncomingMessage['headers'] = {};
    const { server, transport } = await setUp((socket, request) => {
      headers = request.headers;
      socket.send('{"n":1}\n');
      socket.send('{"n":2}');
      socket.send(Buffer.from('{"ü":3}\n'), { binary: true });
      socket.close(1000);
    });
    await using _server = server;
    const response = await transport.send(watch(`${server.url}/api/v1/pods?watch=true`));
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    const sink = new RecordingSink();
    response.body.consume(sink);
    await eventually(() => sink.ended === 'end');
    expect(sink.text).toBe('{"n":1}\n{"n":2}\n{"ü":3}\n');
    expect(headers).toMatchObject({ authorization: 'Bearer t', origin: server.url, 'impersonate-group': 'a, b' });
  });

  it('answers a refused handshake with its status and body', async () => {
    await using server = await startTestServer((_request, response) => response.end());
    server.server.on('upgrade', (_request, socket) => {
      socket.end(
        'HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
      );
    });
    const response = await createWsTransport({ calls }).send(watch(server.url));
    expect(response).toMatchObject({ status: 403, headers: { 'content-type': 'application/json' } });
    const bytes = await readBody(response.body, 100, () => new Error('too large'));
    expect(new TextDecoder().decode(bytes)).toBe('{}');
  });

  it('fails when nobody listens, or the server hangs up during the handshake', async () => {
    const gone = await startTestServer(() => {});
    await gone[Symbol.asyncDispose]();
    await expect(createWsTransport({ calls }).send(watch(gone.url))).rejects.toMatchObject({ code: 'REFUSED' });
    await using server = await startTestServer(() => {});
    server.server.on('upgrade', (_request, socket) => socket.destroy());
    await expect(createWsTransport({ calls }).send(watch(server.url))).rejects.toMatchObject({ code: 'RESET' });
  });

  it('says how a connection broke', async () => {
    const { server, transport, sockets } = await setUp((socket) => socket.send('{"n":1}\n'));
    await using _server = server;
    const { body } = await transport.send(watch(server.url));
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.text !== '');
    for (const socket of sockets.clients) socket.terminate();
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ name: 'TransportError', code: 'UNEXPECTED_EOF' });
  });

  it('refuses a message that is too long', async () => {
    const { server, transport } = await setUp((socket) => socket.send('x'.repeat(1000)), { maxMessageBytes: 100 });
    await using _server = server;
    const { body } = await transport.send(watch(server.url));
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ message: expect.stringContaining('Max payload size exceeded') });
  });

  it('ends by its signal, before and after the handshake, and when the body is destroyed', async () => {
    const { server, transport, sockets } = await setUp(() => {});
    await using _server = server;
    const abort = new AbortController();
    const { body } = await transport.send(watch(server.url, { signal: abort.signal }));
    const other = await transport.send(watch(server.url));
    const handshake = transport.send(watch(server.url, { signal: abort.signal }));
    const sink = new RecordingSink();
    body.consume(sink);
    abort.abort(new Error('enough'));
    await expect(handshake).rejects.toThrow('enough');
    other.body.destroy();
    await eventually(() => sockets.clients.size === 0);
    expect(sink.ended).toBe('open');
    await expect(transport.send(watch(server.url, { signal: abort.signal }))).rejects.toThrow('enough');
  });

  it('reads no further while it is paused', async () => {
    const { server, transport, sockets } = await setUp(() => {});
    await using _server = server;
    const { body } = await transport.send(watch(server.url));
    const sink = new RecordingSink();
    body.consume(sink);
    body.pause();
    const message = `${'x'.repeat(1024 * 1024)}\n`;
    const [socket] = sockets.clients;
    for (let n = 0; n < 40; n++) socket!.send(message);
    await eventually(() => socket!.bufferedAmount > 0);
    const held = sink.text.length;
    expect(held).toBeLessThan(2 * message.length);
    body.resume();
    socket!.close(1000);
    await eventually(() => sink.ended === 'end');
    expect(sink.text.length).toBe(40 * message.length);
  });

  it('gives up a peer that no longer answers its pings', async () => {
    const clock = new VirtualClock();
    const { server, transport, sockets } = await setUp(() => {}, { clock, pingIntervalMs: 1000 });
    await using _server = server;
    const { body } = await transport.send(watch(server.url));
    const sink = new RecordingSink();
    body.consume(sink);
    const [socket] = sockets.clients;
    // Sent behind the pong, so that its arrival shows that the pong came.
    socket!.on('ping', () => socket!.send('ping\n'));
    for (let round = 1; round <= 3; round++) {
      clock.advanceSync(1000);
      await eventually(() => sink.text === 'ping\n'.repeat(round));
    }
    expect(sink.ended).toBe('open');
    (socket as unknown as { _socket: { pause(): void } })._socket.pause();
    clock.advanceSync(1000);
    clock.advanceSync(1000);
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ code: 'TIMEOUT' });
    expect(clock.pendingTimers).toBe(0);
  });
});
