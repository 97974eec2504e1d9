// Requests without sockets: the same handler behind the standard Request and Response.
import { PassThrough, Readable } from 'node:stream';
import type { BodyStream, HttpResponse, WireFrame } from '../endpoints/http.ts';
import type { Handler } from './http-listener.ts';
import { makeRequest } from './node-request.ts';

const BUFFER_BYTES = 64 * 1024;
const NO_BODY = new Set([204, 205, 304]);

/** A watch's body ends when its signal aborts or the body is cancelled. */
export async function fetchInProcess(handler: Handler, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(request.signal.reason);
  if (request.signal.aborted) throw request.signal.reason;
  request.signal.addEventListener('abort', onAbort, { once: true });
  const body = request.body === null ? Buffer.alloc(0) : Buffer.from(await request.arrayBuffer());
  const made = makeRequest({
    method: request.method,
    rawUrl: `${url.pathname}${url.search}`,
    headers: Object.fromEntries(request.headers),
    httpVersion: '1.1',
    remoteAddress: '127.0.0.1',
    peer: undefined,
    controller,
    body: Readable.from(body.length === 0 ? [] : [body]),
  });
  if (made === undefined) return new Response('400 Bad Request', { status: 400 });
  return new Promise((resolve, reject) => {
    const release = (): void => request.signal.removeEventListener('abort', onAbort);
    request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
    handler(made, new InProcessResponse(resolve, controller, release));
  });
}

class InProcessResponse implements HttpResponse {
  readonly #headers = new Headers();
  readonly #resolve: (response: Response) => void;
  readonly #controller: AbortController;
  readonly #release: () => void;
  #body: PassThrough | undefined;
  headersSent = false;
  status = 0;

  constructor(resolve: (response: Response) => void, controller: AbortController, release: () => void) {
    this.#resolve = resolve;
    this.#controller = controller;
    this.#release = release;
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  addHeader(name: string, value: string): void {
    this.#headers.append(name, value);
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  async send(status: number, body: readonly Buffer[]): Promise<void> {
    if (this.headersSent) return;
    this.headersSent = true;
    this.status = status;
    this.#release();
    const bytes = NO_BODY.has(status) ? null : new Uint8Array(Buffer.concat(body));
    this.#resolve(new Response(bytes, { status, headers: this.#headers }));
  }

  startStream(status: number): BodyStream {
    this.headersSent = true;
    this.status = status;
    const body = new PassThrough({ highWaterMark: BUFFER_BYTES });
    this.#body = body;
    body.once('close', () => {
      this.#release();
      this.#controller.abort(new DOMException('the client closed the request', 'AbortError'));
    });
    body.on('error', () => {});
    const stream = Readable.toWeb(body) as unknown as ReadableStream<Uint8Array>;
    this.#resolve(new Response(stream, { status, headers: this.#headers }));
    return new InProcessBody(body);
  }

  abort(): void {
    this.#body?.destroy();
    this.#release();
    if (this.headersSent) return;
    this.headersSent = true;
    this.#resolve(Response.error());
  }
}

class InProcessBody implements BodyStream {
  readonly #body: PassThrough;

  constructor(body: PassThrough) {
    this.#body = body;
  }

  writeFrame(frame: WireFrame): boolean {
    if (this.#body.destroyed || this.#body.writableEnded) return true;
    return this.#body.write(frame.bytes);
  }

  onDrain(listener: () => void): void {
    this.#body.on('drain', listener);
  }

  end(): void {
    if (!this.#body.destroyed) this.#body.end();
  }
}
