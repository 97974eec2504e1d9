// The body of a watch over each way to a server, TLS and proxies: read past Node's parser there too, and the same as that of a call.
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import type { TlsMaterial } from '../../src/rest/tls-material.ts';
import type { Transport } from '../../src/rest/transport.ts';
import { chunk, END, HEAD, listen, nextTurn, outcome, playOn, type Script } from '../support/chunked-answer.ts';
import { eventually } from '../support/http-server.ts';
import { RecordingSink } from '../support/recording-sink.ts';
import { TEST_CERTIFICATE } from '../support/test-certificate.ts';

/** Forwards plain requests and makes tunnels. */
function createProxy(): Server {
  const proxy = createHttpServer((request, response) => {
    const { method = 'GET', headers, url = '' } = request;
    const onward = httpRequest(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  proxy.on('connect', (request, client) => {
    const onward = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(onward).pipe(client);
    });
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  return proxy;
}

describe.each<[string, { readonly tls: boolean; readonly proxied: boolean }]>([
  ['TLS', { tls: true, proxied: false }],
  ['TLS in a tunnel', { tls: true, proxied: true }],
  ['a proxy that forwards', { tls: false, proxied: true }],
])('the body of a watch over %s', (_way, { tls, proxied }) => {
  let servers: Server[];
  let sockets: Socket[];
  let script: Script;
  let url: string;
  let transport: Transport;
  let material: TlsMaterial;

  beforeEach(async () => {
    sockets = [];
    const accept = (socket: Socket): void => {
      sockets.push(socket);
      playOn(socket, () => script);
    };
    const server = tls ? createTlsServer(TEST_CERTIFICATE, accept) : createServer(accept);
    const proxy = createProxy();
    proxy.on('connection', (socket) => sockets.push(socket));
    servers = [server, proxy];
    url = `${tls ? 'https' : 'http'}://127.0.0.1:${await listen(server)}/x`;
    const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
    material = { insecureSkipTlsVerify: true };
    transport = createAxiosTransport({ tls: () => material, ...(proxied ? { proxyUrl } : {}) });
  });
  afterEach(async () => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
  });

  const long = 'x'.repeat(50_000);
  it.each<[string, Script, string]>([
    ['in one record', { pieces: [HEAD + chunk('a') + chunk('b') + END] }, '200 "ab" end'],
    ['in a record for each byte', { pieces: [...(HEAD + chunk('a') + chunk('b') + END)] }, '200 "ab" end'],
    ['in chunks of many records', { pieces: [HEAD, chunk(long), chunk(long) + END] }, `200 "${long}${long}" end`],
    ['with the end of the connection', { pieces: [HEAD + chunk('a') + END], after: 'end' }, '200 "a" end'],
    ['cut in a chunk', { pieces: [HEAD + chunk('a'), '5\r\nab'], after: 'end' }, '200 "aab" RESET'],
  ])('arrives like that of a call %s', async (_how, played, expected) => {
    script = played;
    for (const purpose of ['call', 'watch', 'watch'] as const) {
      expect(await outcome(transport, url, purpose)).toBe(expected);
    }
  });

  it('comes in one piece when three chunks came at once', async () => {
    script = { pieces: [HEAD, chunk('a') + chunk('b') + chunk('c')] };
    const { body } = await transport.send({ method: 'GET', url, headers: {}, purpose: 'watch' });
    const told: string[] = [];
    body.consume({ data: (bytes) => told.push(String(Buffer.from(bytes))), end() {}, error() {} });
    await eventually(() => told.length > 0);
    expect(told).toEqual(['abc']);
    body.destroy();
  });

  it('ends when the certificates change, and the next one comes whole', async () => {
    script = { pieces: [HEAD + chunk('a')] };
    const { body } = await transport.send({ method: 'GET', url, headers: {}, purpose: 'watch' });
    const sink = new RecordingSink();
    body.consume(sink);
    await eventually(() => sink.text === 'a');
    script = { pieces: [HEAD + chunk('b') + END] };
    material = { ...material, ...TEST_CERTIFICATE };
    expect(await outcome(transport, url, 'watch')).toBe('200 "b" end');
    await nextTurn();
    expect(sink.ended).toMatchObject({ code: 'RESET' });
  });
});
