// Plain clients for tests over sockets: one request or one watch per call, over HTTP/1.1 or HTTP/2.
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { Readable } from 'node:stream';
import type { FakeApiServer } from '../../src/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Call {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly anonymous?: boolean;
}

function headersOf(server: FakeApiServer, call: Call): Record<string, string> {
  return {
    ...(call.anonymous ? {} : { authorization: `Bearer ${server.token}` }),
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...call.headers,
  };
}

/** Opens a request and resolves with its head and body stream. */
export function open(
  server: FakeApiServer,
  path: string,
  call: Call = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Readable }> {
  const url = new URL(path, server.url);
  const options = { method: call.method ?? 'GET', headers: headersOf(server, call), agent: false as const };
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:' ? httpsRequest(url, { ...options, ca: server.ca }) : httpRequest(url, options);
    request.on('error', reject);
    request.on('response', (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
    );
    request.end(call.body);
  });
}

export async function send(server: FakeApiServer, path: string, call: Call = {}): Promise<Answer> {
  const { status, headers, body } = await open(server, path, call);
  return { status, headers, text: await readText(body) };
}

export async function sendHttp2(
  session: ClientHttp2Session,
  server: FakeApiServer,
  path: string,
  call: Call = {},
): Promise<Answer> {
  const stream = session.request({ ':method': call.method ?? 'GET', ':path': path, ...headersOf(server, call) });
  stream.end(call.body);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  return { status: headers[':status'], headers, text: await readText(stream) };
}

export function http2Session(server: FakeApiServer): ClientHttp2Session {
  return connectHttp2(server.url, { ca: server.ca });
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Events of a watch, one by one. */
export async function* watchEvents(body: Readable): AsyncGenerator<{ type: string; object: Record<string, never> }> {
  let rest = '';
  for await (const chunk of body) {
    rest += String(chunk);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield JSON.parse(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
  }
}

/** Writes bytes to the port and resolves with everything that came back until the server closed. */
export async function sendRaw(server: FakeApiServer, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connectTcp(Number(port), hostname);
  socket.write(bytes);
  return readText(socket);
}

export function configMap(name: string, data: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

/** A namespace called `test` in a server that has none of its own. */
export async function makeNamespace(server: FakeApiServer, name = 'test'): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const answer = await server.fetch('/api/v1/namespaces', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!answer.ok) throw new Error(await answer.text());
}
