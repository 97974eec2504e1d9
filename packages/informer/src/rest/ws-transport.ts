// Watches over WebSocket, for proxies that hold back or cut chunked answers. The only file that imports ws.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/watch.go#HandleWS (the server's side of it)
import type { Agent, IncomingMessage } from 'node:http';
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import type { WebSocket } from 'ws';
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import { nodeStreamBody } from './node-stream-body.ts';
import { chooseProxy } from './proxy-choice.ts';
import { dialThroughProxy } from './proxy-dialer.ts';
import type { TlsMaterial } from './tls-material.ts';
import { nodeTlsOptions } from './tls-material.ts';
import type { BodySink, Transport, TransportBody, TransportRequest, TransportResponse } from './transport.ts';
import type { Dial } from './tunnel-agent.ts';
import { httpsTunnelAgent, httpTunnelAgent } from './tunnel-agent.ts';

export interface WsTransportOptions {
  /** Carries everything that is not a watch. */
  readonly calls: Transport;
  /** Asked before every watch. */
  readonly tls?: (() => TlsMaterial | Promise<TlsMaterial>) | undefined;
  /** As for the axios transport. */
  readonly proxyUrl?: string | undefined;
  /** A ping so often, ms; a connection that does not answer until the next one is given up. 0 for none. @defaultValue 30 000 */
  readonly pingIntervalMs?: number | undefined;
  /** Longest event, bytes. @defaultValue 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  readonly clock?: Clock | undefined;
}

const DEFAULT_PING_INTERVAL_MS = 30_000;
const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
// What the handshake itself sets, or what would make no sense in it.
const NOT_SENT: ReadonlySet<string> = new Set(['accept-encoding', 'connection', 'host', 'upgrade']);

/**
 * A transport whose watches are WebSockets and whose other requests go through `calls`. A refused handshake is an answer like another,
 * with status and body.
 *
 * @example createClient(config, { transport: createWsTransport({ calls: createAxiosTransport({ tls }), tls }) })
 */
export function createWsTransport(options: WsTransportOptions): Transport {
  const { calls, tls } = options;
  const proxyOf = chooseProxy(options.proxyUrl, process.env);
  const open = new Set<WebSocket>();
  return {
    async send(request) {
      if (request.purpose !== 'watch') return calls.send(request);
      request.signal?.throwIfAborted();
      // Loaded at the first watch: most users of this package never need it.
      const [ws, material = {}] = await Promise.all([import('ws'), tls?.()]);
      request.signal?.throwIfAborted();
      return connect(ws.WebSocket, request, material, { ...options, proxy: proxyOf(new URL(request.url)) }, open);
    },
    close: () => calls.close(),
  };
}

function connect(
  Socket: typeof WebSocket,
  request: TransportRequest,
  material: TlsMaterial,
  options: WsTransportOptions & { readonly proxy: URL | undefined },
  open: Set<WebSocket>,
): Promise<TransportResponse> {
  const url = new URL(request.url);
  // The server refuses a handshake without an origin; a program's own host is as good as any.
  const origin = url.origin;
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const headers = Object.entries(request.headers).filter(([name]) => !NOT_SENT.has(name));
  const socket = new Socket(url, {
    origin,
    headers: Object.fromEntries(
      headers.map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]),
    ),
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    ...nodeTlsOptions(material),
    ...(options.proxy === undefined ? {} : { agent: proxyAgent(options.proxy, url, material, options.clock) }),
  });
  const body = new WebSocketBody(socket, request.url, options);
  const { signal } = request;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      body.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('open', () => {
      open.add(socket);
      resolve({ status: 200, headers: { 'content-type': 'application/json' }, body });
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      response.once('close', () => signal?.removeEventListener('abort', onAbort));
      resolve(refusal(response, request.url));
    });
    socket.on('error', (error) => reject(toTransportError(error, `WebSocket to ${request.url}`)));
    socket.once('close', () => {
      open.delete(socket);
      signal?.removeEventListener('abort', onAbort);
      reject(new TransportError('EOF', `WebSocket to ${request.url} closed during the handshake`));
    });
  });
}

/** Not kept: each WebSocket has its own connection. */
function proxyAgent(proxy: URL, url: URL, material: TlsMaterial, clock: Clock = realClock): Agent {
  const dial: Dial = (target) => dialThroughProxy(proxy, target, { clock, tls: material });
  return url.protocol === 'wss:' ? httpsTunnelAgent(dial, nodeTlsOptions(material)) : httpTunnelAgent(dial, {});
}

function refusal(response: IncomingMessage, url: string): TransportResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status: response.statusCode ?? 0, headers, body: nodeStreamBody(response, url) };
}

/** The messages as one stream of bytes, each with a line end behind it. */
class WebSocketBody implements TransportBody {
  readonly #socket: WebSocket;
  readonly #what: string;
  readonly #clock: Clock;
  readonly #pingIntervalMs: number;
  #sink: BodySink | undefined;
  #early: Buffer[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #error: Error | undefined;
  #ping: ClockTimer | undefined;
  #answered = true;
  #destroyed = false;

  constructor(socket: WebSocket, what: string, options: WsTransportOptions) {
    this.#socket = socket;
    this.#what = what;
    this.#clock = options.clock ?? realClock;
    this.#pingIntervalMs = options.pingIntervalMs ?? DEFAULT_PING_INTERVAL_MS;
    socket.on('message', (data) => this.#message(data as Buffer));
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('pong', () => {
      this.#answered = true;
    });
    socket.once('open', () => this.#armPing());
    socket.once('close', (code) => this.#closed(code));
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#message(message);
    if (this.#end !== undefined) this.#finish(this.#end.error);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#ping?.cancel();
    // A handshake in progress ends with an error that nobody waits for.
    this.#socket.terminate();
  }

  #message(data: Buffer): void {
    if (this.#destroyed) return;
    if (this.#sink === undefined) {
      this.#early.push(data);
      return;
    }
    this.#sink.data(data);
    if (data.at(-1) !== 0x0a) this.#sink.data(Buffer.from('\n'));
  }

  #closed(code: number): void {
    this.#ping?.cancel();
    if (code === NORMAL_CLOSURE) this.#finish(undefined);
    else if (this.#error !== undefined) this.#finish(toTransportError(this.#error, `WebSocket to ${this.#what}`));
    else this.#finish(new TransportError('UNEXPECTED_EOF', `WebSocket to ${this.#what} closed with code ${code}`));
  }

  #finish(error: Error | undefined): void {
    this.#end ??= { error };
    if (this.#sink === undefined || this.#destroyed) return;
    this.#destroyed = true;
    if (error === undefined) this.#sink.end();
    else this.#sink.error(error);
  }

  /** Finds a peer that is gone without having said so. While the consumer is paused no pong can be read, so no answer is asked for. */
  #armPing(): void {
    if (this.#pingIntervalMs <= 0) return;
    this.#ping = this.#clock.setTimer(
      () => {
        if (!this.#answered && !this.#socket.isPaused) {
          this.#error = new TransportError('TIMEOUT', `no pong within ${this.#pingIntervalMs} ms`);
          this.#socket.terminate();
          return;
        }
        this.#answered = this.#socket.isPaused;
        if (!this.#socket.isPaused) this.#socket.ping();
        this.#armPing();
      },
      this.#pingIntervalMs,
      { unref: true },
    );
  }
}
