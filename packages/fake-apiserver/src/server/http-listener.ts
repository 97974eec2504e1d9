// Sockets: one port that speaks HTTP/1.1 and HTTP/2, over TLS by ALPN, in the clear by looking at the first bytes.
// Upstream: apiserver@v0.30.3:pkg/server/secure_serving.go
import { createServer as createHttp1, type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import {
  createServer as createHttp2,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { type Clock, Lifecycle, realClock } from '@kube-rx/apimachinery';
import type { HttpRequest, HttpResponse, PeerIdentity } from '../endpoints/http.ts';
import { Http1Response } from './http1-adapter.ts';
import { Http2Response } from './http2-adapter.ts';
import { makeRequest, type RequestParts } from './node-request.ts';
import { NodeUpgrade } from './websocket.ts';

export type Handler = (request: HttpRequest, response: HttpResponse) => void;

export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** Whom client certificates must come from. */
  readonly clientCa: string;
}

export interface HttpListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent for plain HTTP. */
  readonly tls?: ListenerTls | undefined;
  /** Of sockets, which live in real time; never a virtual one. Default the machine's. */
  readonly clock?: Clock | undefined;
  readonly handler: Handler;
}

const READ_HEADER_TIMEOUT_MS = 32_000;
const IDLE_TIMEOUT_MS = 90_000;
const MAX_HEADER_BYTES = 1024 * 1024;
const MAX_HTTP2_STREAMS = 100;
const HTTP2_WINDOW_BYTES = 256 * 1024;
const HTTP2_PREFACE = 'PRI * HTTP/2.0';

/** Tracks every connection, so that closing leaves none behind. */
export class HttpListener {
  readonly #options: HttpListenerOptions;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #http1 = createHttp1({
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    headersTimeout: READ_HEADER_TIMEOUT_MS,
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    insecureHTTPParser: false,
  });
  readonly #http2 = createHttp2({
    settings: { maxConcurrentStreams: MAX_HTTP2_STREAMS, initialWindowSize: HTTP2_WINDOW_BYTES },
    peerMaxConcurrentStreams: MAX_HTTP2_STREAMS,
  });
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<Http2Session>();
  readonly #unread = new Map<Socket, { cancel(): void }>();
  readonly #lifecycle = new Lifecycle();

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    const { tls } = options;
    this.#server =
      tls === undefined
        ? createTcp({ noDelay: true }, (socket) => this.#sniff(socket))
        : createTls({
            cert: tls.cert,
            key: tls.key,
            ca: tls.clientCa,
            requestCert: true,
            rejectUnauthorized: false,
            ALPNProtocols: ['h2', 'http/1.1'],
            minVersion: 'TLSv1.2',
          });
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.on('secureConnection', (socket: TLSSocket) => this.#secured(socket));
    this.#server.on('tlsClientError', refuseHandshake);
    this.#http1.on('request', (request, response) => this.#http1Request(request, response));
    this.#http1.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#http1.on('checkContinue', (request, response) => {
      response.writeContinue();
      this.#http1Request(request, response);
    });
    this.#http1.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuse(error, socket));
    this.#http2.on('session', (session) => {
      this.#sessions.add(session);
      session.setTimeout(0);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => session.destroy());
    });
    this.#http2.on('stream', (stream, headers) => this.#http2Stream(stream, headers));
    this.#http2.on('sessionError', () => {});
  }

  /** Rejects with the system's error, e.g. EADDRINUSE. */
  listen(): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => reject(error);
      this.#server.once('error', onError);
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', onError);
        this.#server.on('error', () => {});
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /** Open connections, for tests and the state page. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Takes no new connections and lets running requests end; after `graceMs` what is left is cut. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const session of this.#sessions) session.close();
    this.#http1.closeIdleConnections();
    for (const socket of this.#unread.keys()) socket.destroy();
    const timer = this.#clock.setTimer(() => this.#destroyAll(), graceMs);
    if (graceMs <= 0) this.#destroyAll();
    await closed;
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    timer.cancel();
    await this.#lifecycle.close();
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setKeepAlive(true, 180_000);
    socket.on('error', () => socket.destroy());
    // Who does not send a request in time is holding the connection for nothing.
    const timer = this.#clock.setTimer(() => socket.destroy(), READ_HEADER_TIMEOUT_MS, { unref: true });
    this.#unread.set(socket, timer);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#heardFrom(socket);
    });
  }

  #heardFrom(socket: Socket): void {
    this.#unread.get(socket)?.cancel();
    this.#unread.delete(socket);
  }

  #secured(socket: TLSSocket): void {
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    (socket.alpnProtocol === 'h2' ? this.#http2 : this.#http1).emit('connection', socket);
  }

  /** Plain connections: HTTP/2 with prior knowledge shows itself in its first bytes. */
  #sniff(socket: Socket): void {
    let seen: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const start = seen.toString('latin1', 0, HTTP2_PREFACE.length);
      if (start !== HTTP2_PREFACE && HTTP2_PREFACE.startsWith(start)) return;
      socket.off('data', onData);
      socket.pause();
      socket.unshift(seen);
      (start === HTTP2_PREFACE ? this.#http2 : this.#http1).emit('connection', socket);
      if (start !== HTTP2_PREFACE) socket.resume();
    };
    socket.on('data', onData);
  }

  #http1Request(request: IncomingMessage, response: ServerResponse, upgrade?: { detach(): NodeUpgrade }): void {
    const { socket } = request;
    this.#heardFrom(rawSocket(socket));
    const controller = new AbortController();
    // After the last byte of the answer nobody listens to the signal any more.
    response.once('close', () => {
      if (!response.writableFinished) controller.abort(clientGone());
    });
    const made = new Http1Response(request, response);
    this.#dispatch(
      {
        method: request.method ?? 'GET',
        rawUrl: request.url ?? '/',
        headers: request.headers,
        httpVersion: request.httpVersion === '1.0' ? '1.0' : '1.1',
        remoteAddress: socket.remoteAddress ?? '',
        peer: peerOf(socket),
        controller,
        body: request,
        upgrade: upgrade?.detach(),
      },
      made,
      () => refuse(Object.assign(new Error('bad target'), { code: 'HPE_INVALID_URL' }), socket),
    );
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.shouldKeepAlive = false;
    response.once('finish', () => {
      response.detachSocket(socket as Socket);
      socket.end();
    });
    const websocket = (request.headers.upgrade ?? '').toLowerCase() === 'websocket';
    const take = {
      detach: () => new NodeUpgrade(request, socket, head, () => response.detachSocket(socket as Socket)),
    };
    // The parser has let go of the socket, so the end of the connection must be seen here.
    socket.once('close', () => response.emit('close'));
    this.#http1Request(request, response, websocket ? take : undefined);
  }

  #http2Stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const socket = stream.session?.socket;
    if (socket !== undefined) this.#heardFrom(rawSocket(socket as Socket));
    const controller = new AbortController();
    stream.on('error', () => {});
    stream.once('close', () => controller.abort(clientGone()));
    const method = headers[':method'] ?? 'GET';
    this.#dispatch(
      {
        method,
        rawUrl: headers[':path'] ?? '/',
        headers,
        httpVersion: '2.0',
        remoteAddress: socket?.remoteAddress ?? '',
        peer: socket === undefined ? undefined : peerOf(socket as Socket),
        controller,
        body: stream,
      },
      new Http2Response(stream, method),
      () => {
        stream.respond({ ':status': 400, 'content-type': 'text/plain; charset=utf-8' });
        stream.end('400 Bad Request');
      },
    );
  }

  #dispatch(parts: RequestParts, response: HttpResponse, refuseTarget: () => void): void {
    const request = makeRequest(parts);
    if (request === undefined) refuseTarget();
    else this.#options.handler(request, response);
  }
}

const clientGone = (): Error => new DOMException('the client closed the request', 'AbortError');

/** TLS sockets are tracked by the connection below them. */
function rawSocket(socket: Socket): Socket {
  return (socket as { _parent?: Socket })._parent ?? socket;
}

function peerOf(socket: Socket): PeerIdentity | undefined {
  const tls = socket as Partial<TLSSocket>;
  if (typeof tls.getPeerCertificate !== 'function') return undefined;
  const certificate = tls.getPeerCertificate();
  const subject = certificate?.subject as { CN?: string | string[]; O?: string | string[] } | undefined;
  if (subject === undefined) return undefined;
  const list = (value: string | string[] | undefined): readonly string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  return { verified: tls.authorized === true, commonName: list(subject.CN)[0] ?? '', organizations: list(subject.O) };
}

/** A plain request on a TLS port is told so, in plain. */
function refuseHandshake(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  const raw = rawSocket(socket);
  if (error.code === 'ERR_SSL_HTTP_REQUEST' && raw.writable) {
    raw.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  } else socket.destroy();
}

/** What Go's server answers to bytes that are no request. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const text = `${code} ${STATUS_CODES[code]}`;
  socket.end(`HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`);
}
