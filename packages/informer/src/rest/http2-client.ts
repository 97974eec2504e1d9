// The work of the HTTP/2 transport: connections for each server, streams on them, and what may be sent again.
// Upstream: golang.org/x/net:http2/transport.go#Transport
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { createGunzip } from 'node:zlib';
import { realClock } from '@kube-rx/apimachinery';
import { TransportError } from '../errors.ts';
import { acceptedEncoding, createAxiosTransport } from './axios-transport.ts';
import { cancelStream, http2Body } from './http2-body.ts';
import { Http2Connection, type Http2Timing } from './http2-connection.ts';
import type { Http2TransportOptions } from './http2-options.ts';
import { openSession } from './http2-session.ts';
import { isProbableEof, toTransportError } from './network-errors.ts';
import type { ProxyChoice } from './proxy-choice.ts';
import type { TlsMaterial } from './tls-material.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

// How long a server counts as one without HTTP/2.
const HTTP1_MS = 600_000;
// A connection may have died unnoticed, or may be going away; each repetition uses up one.
const MAX_LOST_CONNECTIONS = 10;
const NOT_SENT: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

interface Origin {
  readonly connections: Set<Http2Connection>;
  connecting: Promise<void> | undefined;
  /** Until when requests go over HTTP/1.1. */
  http1Until: number;
  /** New requests go to another one. */
  retired: boolean;
}

/** Behind {@link createHttp2Transport}, which loads this file with the first request. */
export function http2Client(options: Http2TransportOptions, proxyOf: ProxyChoice): Transport {
  const { compression = 'auto', clock = realClock, priorKnowledge = false } = options;
  const { pingAfterMs = 30_000, pingTimeoutMs = 15_000 } = options;
  const timing: Http2Timing = { clock, pingAfterMs, pingTimeoutMs };
  const origins = new Map<string, Origin>();
  let material: TlsMaterial | undefined;
  let http1 = options.http1;

  const overHttp1 = (request: TransportRequest): Promise<TransportResponse> => {
    const { tls, proxyUrl } = options;
    http1 ??= createAxiosTransport({ tls, proxyUrl, compression });
    return http1.send(request);
  };
  function retireAll(cutWatches: boolean): void {
    for (const origin of origins.values()) {
      origin.retired = true;
      for (const each of origin.connections) each.retire(cutWatches);
    }
    origins.clear();
  }
  function originOf(url: URL): Origin {
    let origin = origins.get(url.origin);
    if (origin === undefined) {
      origin = { connections: new Set(), connecting: undefined, http1Until: Number.NEGATIVE_INFINITY, retired: false };
      origins.set(url.origin, origin);
    }
    return origin;
  }

  /** A stream on a connection with room for one; undefined when the server has no HTTP/2. */
  async function openStream(url: URL, request: TransportRequest): Promise<OpenStream | undefined> {
    const { signal } = request;
    for (;;) {
      signal?.throwIfAborted();
      const origin = originOf(url);
      if (clock.now() < origin.http1Until) return undefined;
      for (const connection of origin.connections) {
        // Room that is found must be taken in the same turn.
        if (connection.usable) return openOn(connection, request, url, acceptedEncoding(compression, url));
      }
      const verdict = verdictOf(origin);
      if (verdict !== undefined) {
        await untilAborted(verdict, signal);
        continue;
      }
      // One attempt for all who wait; it goes on when one of them gives up.
      origin.connecting ??= connect(url, origin).finally(() => {
        origin.connecting = undefined;
      });
      await untilAborted(origin.connecting, signal);
    }
  }

  async function connect(url: URL, origin: Origin): Promise<void> {
    const session = await openSession(url, { clock, material: material ?? {}, proxy: proxyOf(url) });
    if (session === undefined) {
      origin.http1Until = clock.now() + HTTP1_MS;
      return;
    }
    const connection = new Http2Connection(session, timing, () => origin.connections.delete(connection));
    if (!connection.usable)
      throw new TransportError('EOF', 'the server closed the connection at once, or grants no streams');
    origin.connections.add(connection);
    // Certificates changed, or the transport was closed, while this connection was being made.
    if (origin.retired) connection.retire(true);
  }

  return {
    async send(request) {
      const current = await options.tls?.();
      if (current !== material) {
        if (material !== undefined) retireAll(true);
        material = current;
      }
      const url = new URL(request.url);
      if (url.protocol === 'http:' && !priorKnowledge) return overHttp1(request);
      for (let lost = 0; ; lost++) {
        let open: OpenStream | undefined;
        try {
          open = await openStream(url, request);
          if (open === undefined) return await overHttp1(request);
          return await answerOf(open, request);
        } catch (error) {
          if (request.signal?.aborted) throw request.signal.reason;
          const failure = toTransportError(error, `${request.method} ${request.url}`);
          const died = open?.reused === true && request.method === 'GET' && isProbableEof(failure);
          if (lost >= MAX_LOST_CONNECTIONS || !(died || neverSeen(error, open?.stream))) throw failure;
        }
      }
    },
    close() {
      retireAll(false);
      http1?.close();
    },
  };
}

interface OpenStream {
  readonly stream: ClientHttp2Stream;
  readonly connection: Http2Connection;
  /** The connection has carried requests before, so it may have died since. */
  readonly reused: boolean;
}

function openOn(connection: Http2Connection, request: TransportRequest, url: URL, encoding: string): OpenStream {
  const { body, method, purpose } = request;
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) if (!NOT_SENT.has(name)) headers[name] = value;
  const reused = connection.used;
  const stream = connection.request(
    {
      ...headers,
      'accept-encoding': encoding,
      ':method': method,
      ':scheme': url.protocol.slice(0, -1),
      ':authority': url.host,
      ':path': `${url.pathname}${url.search}`,
    },
    body !== undefined,
    purpose,
  );
  if (body !== undefined) stream.end(body);
  return { stream, connection, reused };
}

/** Resolves with the headers of the answer. */
function answerOf(open: OpenStream, request: TransportRequest): Promise<TransportResponse> {
  const { stream, connection } = open;
  const { signal } = request;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      connection.suspect();
      cancelStream(stream);
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    stream.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      reject(new TransportError('EOF', `the HTTP/2 stream was closed before an answer (code ${stream.rstCode})`));
    });
    // Stays: an error after the answer belongs to the body, and one without a listener would end the process.
    stream.on('error', reject);
    stream.once('response', (answer) => {
      connection.activity();
      const packed = answer['content-encoding'] === 'gzip';
      resolve({
        status: answer[':status'] ?? 0,
        headers: plainHeaders(answer, packed),
        body: http2Body(stream, packed ? createGunzip() : undefined, request.url, connection),
      });
    });
  });
}

/** Of a connection in doubt, which is worth a short wait: a new one costs more than the answer to a ping. */
function verdictOf(origin: Origin): Promise<void> | undefined {
  for (const { verdict } of origin.connections) if (verdict !== undefined) return verdict;
  return undefined;
}

function plainHeaders(answer: IncomingHttpHeaders & IncomingHttpStatusHeader, packed: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer)) {
    if (name.startsWith(':') || value === undefined) continue;
    if (packed && (name === 'content-encoding' || name === 'content-length')) continue;
    headers[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return headers;
}

const REFUSED_STREAM = 7;

/** The server says that it did not look at the request, so it may go again whatever it does. */
function neverSeen(error: unknown, stream: ClientHttp2Stream | undefined): boolean {
  const { code } = error as { code?: unknown };
  return (
    stream?.rstCode === REFUSED_STREAM || code === 'ERR_HTTP2_GOAWAY_SESSION' || code === 'ERR_HTTP2_INVALID_SESSION'
  );
}

function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
