// Requests over fetch and, where a proxy cuts long answers, watches over the platform's WebSocket: for browsers, and for a server in
// the same process. Imports nothing of Node.
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import type { BodySink, Transport, TransportBody, TransportRequest, TransportResponse } from './transport.ts';

/** The part of `fetch` that is used. */
export type FetchFunction = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Headers;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly signal: AbortSignal;
    readonly redirect: 'follow' | 'manual';
  },
) => Promise<Response>;

export interface FetchTransportOptions {
  /** @defaultValue the global one */
  readonly fetch?: FetchFunction | undefined;
  /** `manual` hands redirects to the REST client, which a browser does not allow. @defaultValue `follow` */
  readonly redirect?: 'follow' | 'manual' | undefined;
  /** How watches are read. @defaultValue `fetch` */
  readonly watchOver?: 'fetch' | 'websocket' | undefined;
  /** @defaultValue the global one */
  readonly webSocket?: (new (url: string, protocols?: string[]) => PlatformWebSocket) | undefined;
}

/** The part of the platform's WebSocket that is used. */
export interface PlatformWebSocket {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  close(): void;
}

/**
 * @example
 * const rest = new RestClient({ server: location.origin, transport: createFetchTransport() });
 */
export function createFetchTransport(options: FetchTransportOptions = {}): Transport {
  const { watchOver = 'fetch' } = options;
  return {
    send: (request) =>
      request.purpose === 'watch' && watchOver === 'websocket'
        ? sendWebSocket(request, options)
        : sendFetch(request, options),
    // The platform owns the connections.
    close() {},
  };
}

async function sendFetch(request: TransportRequest, options: FetchTransportOptions): Promise<TransportResponse> {
  const { signal } = request;
  signal?.throwIfAborted();
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of typeof value === 'string' ? [value] : value) headers.append(name, each);
  }
  // Aborts with the request's signal, and alone when the body is destroyed.
  const abort = new AbortController();
  const follow = (): void => abort.abort(signal?.reason);
  signal?.addEventListener('abort', follow, { once: true });
  const release = (): void => signal?.removeEventListener('abort', follow);
  const send = options.fetch ?? (globalThis.fetch as unknown as FetchFunction);
  let response: Response;
  try {
    response = await send(request.url, {
      method: request.method,
      headers,
      ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array<ArrayBuffer> }),
      signal: abort.signal,
      redirect: options.redirect ?? 'follow',
    });
  } catch (error) {
    release();
    signal?.throwIfAborted();
    throw toTransportError(error, `${request.method} ${request.url}`);
  }
  if (response.type === 'error' || response.status === 0) {
    release();
    throw new TransportError('NETWORK', `${request.method} ${request.url} got no answer`);
  }
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].map(([name, value]) => [name.toLowerCase(), value])),
    body: new FetchBody(response.body, request.url, () => {
      release();
      abort.abort();
    }),
  };
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

class FetchBody implements TransportBody {
  readonly #reader: Reader | undefined;
  readonly #what: string;
  readonly #release: () => void;
  #sink: BodySink | undefined;
  #paused = false;
  #reading = false;
  #done = false;

  constructor(stream: ReadableStream<Uint8Array> | null, what: string, release: () => void) {
    this.#reader = stream?.getReader();
    this.#what = what;
    this.#release = release;
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    void this.#pump();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    void this.#pump();
  }

  destroy(): void {
    if (this.#done) return;
    this.#done = true;
    // An abort errors the stream, and cancelling tells its source; whichever comes second has nothing to do.
    this.#reader?.cancel().catch(() => {});
    this.#release();
  }

  async #pump(): Promise<void> {
    if (this.#reading || this.#sink === undefined) return;
    this.#reading = true;
    try {
      while (!this.#paused && !this.#done) {
        const result = (await this.#reader?.read()) ?? { done: true as const, value: undefined };
        if (this.#done) return;
        if (result.done) {
          this.#finish();
          this.#sink.end();
          return;
        }
        // What was read when the pause came is delivered: it cannot be put back.
        this.#sink.data(result.value);
      }
    } catch (error) {
      if (this.#done) return;
      this.#finish();
      this.#sink.error(toTransportError(error, `body of ${this.#what}`));
    } finally {
      this.#reading = false;
    }
  }

  #finish(): void {
    this.#done = true;
    this.#release();
  }
}

const NORMAL_CLOSURE = 1000;
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';
// The credential is taken out of the list by the server, which wants another name to choose.
const PLAIN_PROTOCOL = 'base64.binary.k8s.io';

/** A browser sends no headers with a WebSocket, so that a bearer token travels as a subprotocol, as the server allows. */
function sendWebSocket(request: TransportRequest, options: FetchTransportOptions): Promise<TransportResponse> {
  const { signal } = request;
  const url = new URL(request.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const token = /^Bearer (.+)$/.exec(String(request.headers['authorization'] ?? ''))?.[1];
  const protocols = token === undefined ? undefined : [`${BEARER_PROTOCOL}${base64url(token)}`, PLAIN_PROTOCOL];
  const Socket =
    options.webSocket ??
    (globalThis as unknown as { WebSocket: NonNullable<FetchTransportOptions['webSocket']> }).WebSocket;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = new Socket(url.href, protocols);
    const body = new WebSocketBody(socket, request.url);
    const onAbort = (): void => {
      body.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.onopen = () => resolve({ status: 200, headers: { 'content-type': 'application/json' }, body });
    // The platform does not say why: a refusal with a Status looks like a server that is not there.
    socket.onerror = () => reject(new TransportError('NETWORK', `WebSocket to ${request.url} failed`));
    socket.onclose = ({ code }) => {
      signal?.removeEventListener('abort', onAbort);
      reject(new TransportError('NETWORK', `WebSocket to ${request.url} was refused`));
      body.closed(code);
    };
  });
}

function base64url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

class WebSocketBody implements TransportBody {
  readonly #socket: PlatformWebSocket;
  readonly #what: string;
  readonly #encoder = new TextEncoder();
  #waiting: Uint8Array[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #sink: BodySink | undefined;
  #paused = false;
  #done = false;

  constructor(socket: PlatformWebSocket, what: string) {
    this.#socket = socket;
    this.#what = what;
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      this.#waiting.push(typeof data === 'string' ? this.#encoder.encode(data) : new Uint8Array(data as ArrayBuffer));
      this.#deliver();
    };
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    this.#deliver();
  }

  /** NB: the platform has no way to stop reading; what comes meanwhile is kept. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliver();
  }

  destroy(): void {
    if (this.#done) return;
    this.#done = true;
    this.#waiting = [];
    this.#socket.close();
  }

  closed(code: number): void {
    this.#end ??= {
      error:
        code === NORMAL_CLOSURE
          ? undefined
          : new TransportError('UNEXPECTED_EOF', `WebSocket to ${this.#what} closed with code ${code}`),
    };
    this.#deliver();
  }

  #deliver(): void {
    const sink = this.#sink;
    while (sink !== undefined && !this.#paused && !this.#done && this.#waiting.length > 0)
      sink.data(this.#waiting.shift()!);
    if (sink === undefined || this.#paused || this.#done || this.#end === undefined) return;
    this.#done = true;
    if (this.#end.error === undefined) sink.end();
    else sink.error(this.#end.error);
  }
}
