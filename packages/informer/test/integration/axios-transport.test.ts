// What axios and Node do on a real socket, and that none of it reaches our users: the pitfalls of the transport, each with a test.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { defineResource } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { BodySink, Transport, TransportRequest, TransportResponse } from '../../src/rest/transport.ts';
import { readBody } from '../../src/rest/transport.ts';
import { utf8ToString } from '../../src/rest/utf8.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const text = async (response: TransportResponse): Promise<string> =>
  utf8ToString(await readBody(response.body, 1 << 26, () => new Error('long')));

/** Waits for a condition that a socket will make true. */
async function until(condition: () => boolean): Promise<void> {
  for (let count = 0; count < 500 && !condition(); count++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
}

describe('createAxiosTransport', () => {
  let server: Server;
  let sockets: Set<Socket>;
  let handler: Handler;
  let url: string;
  let transport: Transport;

  beforeEach(async () => {
    sockets = new Set();
    handler = (_request, response) => void response.end('{}');
    server = createServer((request, response) => handler(request, response));
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    transport = createAxiosTransport();
  });
  afterEach(async () => {
    transport.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
  const send = (more: Partial<TransportRequest> = {}) =>
    transport.send({ method: 'GET', url: `${url}/x`, headers: {}, purpose: 'call', ...more });

  it('gives status, headers and body of any answer, redirects and failures included', async () => {
    handler = (_request, response) => {
      response.setHeader('warning', ['299 - "a"', '299 - "b"']);
      response.writeHead(307, { location: '/y' });
      response.end('moved');
    };
    const answer = await send();
    expect([answer.status, answer.headers['location'], answer.headers['warning']]).toEqual([
      307,
      '/y',
      '299 - "a", 299 - "b"',
    ]);
    expect(await text(answer)).toBe('moved');
  });

  it('sends method, headers and body as they are', async () => {
    const seen: string[] = [];
    handler = (request, response) => {
      seen.push(request.method ?? '', String(request.headers['content-type']), String(request.headers['x-list']));
      request.on('data', (chunk) => seen.push(String(chunk)));
      request.on('end', () => response.end());
    };
    const body = '[{"op":"test"}]';
    await text(
      await send({
        method: 'PATCH',
        body,
        headers: { 'content-type': 'application/json-patch+json', 'x-list': ['a', 'b'] },
      }),
    );
    expect(seen).toEqual(['PATCH', 'application/json-patch+json', 'a, b', body]);
  });

  it('unpacks gzip, also piece by piece', async () => {
    handler = (_request, response) => {
      const packed = gzipSync('x'.repeat(200_000));
      response.writeHead(200, { 'content-encoding': 'gzip' });
      for (let offset = 0; offset < packed.length; offset += 20) response.write(packed.subarray(offset, offset + 20));
      response.end();
    };
    expect(await text(await send())).toBe('x'.repeat(200_000));
  });

  it('asks for packed answers where that pays: not from a loopback address, unless told so', async () => {
    const asked: unknown[] = [];
    handler = (request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.end();
    };
    for (const compression of ['auto', 'gzip', 'none'] as const) {
      const other = createAxiosTransport({ compression });
      await text(await other.send({ method: 'GET', url, headers: {}, purpose: 'call' }));
      other.close();
    }
    expect(asked).toEqual(['identity', 'gzip', 'identity']);
  });

  it('lets a quiet stream live and has no limit to its bytes', async () => {
    let open: ServerResponse | undefined;
    handler = (_request, response) => {
      response.flushHeaders();
      open = response;
    };
    const answer = await send({ purpose: 'watch' });
    let bytes = 0;
    let ended = false;
    answer.body.consume({
      data: (chunk) => {
        bytes += chunk.length;
      },
      end: () => {
        ended = true;
      },
      error: () => {},
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (let count = 0; count < 60; count++) open?.write(Buffer.alloc(1 << 20));
    open?.end();
    await until(() => ended);
    expect(bytes).toBe(60 << 20);
  });

  it('tells a connection that was cut inside the body from one that ended', async () => {
    handler = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.socket?.destroy(), 10);
    };
    await expect(text(await send())).rejects.toMatchObject({ name: 'TransportError', code: 'RESET' });
  });

  it.each<[string, string, (port: string) => string]>([
    ['refused', 'REFUSED', () => 'http://127.0.0.1:1/x'],
    ['unknown', 'DNS', () => 'http://no-such-host.invalid/x'],
  ])('classifies a host that is %s', async (_, code, where) => {
    await expect(send({ url: where(url) })).rejects.toMatchObject({ name: 'TransportError', code });
  });

  it('classifies a reset before the answer', async () => {
    handler = (request) => void request.socket.destroy();
    await expect(send()).rejects.toMatchObject({ code: 'RESET' });
  });

  it('repeats a GET at once when a kept-alive connection turns out dead, and no other method', async () => {
    const shared = createAxiosTransport({ pools: 'shared' });
    let requests = 0;
    handler = (request, response) => {
      requests++;
      if (requests % 2 === 0) request.socket.destroy();
      else response.end('ok');
    };
    const ask = (method: string) => shared.send({ method, url: `${url}/x`, headers: {}, purpose: 'call' });
    expect(await text(await ask('GET'))).toBe('ok');
    expect(await text(await ask('GET'))).toBe('ok');
    expect(requests).toBe(3);
    await expect(ask('DELETE')).rejects.toMatchObject({ code: 'RESET' });
    shared.close();
  });

  it('aborts before and after the headers, without a late error, and frees the socket', async () => {
    handler = () => {};
    const before = new AbortController();
    const waiting = send({ signal: before.signal });
    await until(() => sockets.size === 1);
    before.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await until(() => sockets.size === 0);

    handler = (_request, response) => response.flushHeaders();
    const after = new AbortController();
    const answer = await send({ signal: after.signal, purpose: 'watch' });
    const seen: string[] = [];
    const sink: BodySink = {
      data: () => seen.push('data'),
      end: () => seen.push('end'),
      error: () => seen.push('error'),
    };
    answer.body.consume(sink);
    answer.body.destroy();
    after.abort();
    await until(() => sockets.size === 0);
    expect(seen).toEqual([]);
  });

  it('keeps watches and calls on connections of their own, unless told to share', async () => {
    handler = (_request, response) => void response.end('ok');
    await text(await send({ purpose: 'call' }));
    await text(await send({ purpose: 'call' }));
    expect(sockets.size).toBe(1);
    await text(await send({ purpose: 'watch' }));
    expect(sockets.size).toBe(2);
  });

  it('closes every connection when the certificates change', async () => {
    let material = { ca: 'one' };
    transport = createAxiosTransport({ tls: () => material });
    await text(await send());
    expect(sockets.size).toBe(1);
    const [first] = sockets;
    material = { ca: 'two' };
    await text(await send());
    await until(() => first?.destroyed === true);
  });

  it('reads UTF-8 that is cut anywhere', async () => {
    const event = `${JSON.stringify({ type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'é漢😀', resourceVersion: '5' } } })}\n`;
    handler = (_request, response) => {
      const bytes = Buffer.from(event);
      const write = (offset: number): void => {
        if (offset >= bytes.length) return void response.end();
        response.write(bytes.subarray(offset, offset + 1), () => setImmediate(() => write(offset + 1)));
      };
      response.writeHead(200, { 'content-type': 'application/json' });
      write(0);
    };
    const ConfigMaps = defineResource()({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      scope: 'Namespaced',
    });
    const listWatch = new ListWatch(new RestClient({ server: url, transport }), ConfigMaps);
    const stream = await listWatch.watch({}, { signal: new AbortController().signal });
    const names: (string | undefined)[] = [];
    let ended = false;
    stream.start({
      next: (each) => names.push((each.object as { metadata: { name?: string } }).metadata.name),
      end: () => {
        ended = true;
      },
    });
    await until(() => ended);
    expect(names).toEqual(['é漢😀']);
  });

  it('reads the Status of a refused watch and leaves no connection behind', async () => {
    handler = (_request, response) => {
      response.writeHead(410, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 }),
      );
    };
    const ConfigMaps = defineResource()({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      scope: 'Namespaced',
    });
    const listWatch = new ListWatch(new RestClient({ server: url, transport }), ConfigMaps);
    const watch = () => listWatch.watch({ resourceVersion: '1' }, { signal: new AbortController().signal });
    for (let count = 0; count < 5; count++)
      await expect(watch()).rejects.toMatchObject({ status: { reason: 'Expired' } });
    expect(sockets.size).toBe(1);
  });
});
