// HTTP/1.1 exchanges of node as HttpRequest and HttpResponse. Watches write their frames straight to the socket, already chunked.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BodyStream, HttpResponse, WireFrame } from '../endpoints/http.ts';

/** Up to this size Go's server knows the length before it sends the head. */
export const BUFFERED_BODY_BYTES = 2048;
/** How much of a long answer leaves in one write. */
export const WRITE_BYTES: number = 64 * 1024;

/**
 * What a stream may hold before its reader counts as slow. Node says stop at 16 KiB, which the writers of a single turn of
 * the event loop fill: a reader that keeps up would get that much a turn and no more, and fall behind without end. A
 * kernel-side buffer, which is all Go's server has, takes megabytes.
 */
const STREAM_BUFFER_BYTES = 256 * 1024;

export class Http1Response implements HttpResponse {
  readonly #response: ServerResponse;
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    // Persistence goes without saying in HTTP/1.1, and Go's server does not say it.
    if (response.shouldKeepAlive && request.httpVersion !== '1.0') response.removeHeader('connection');
  }

  get headersSent(): boolean {
    return this.#response.headersSent;
  }

  get status(): number {
    return this.#response.headersSent ? this.#response.statusCode : 0;
  }

  setHeader(name: string, value: string): void {
    if (!this.headersSent) this.#response.setHeader(name, value);
  }

  addHeader(name: string, value: string): void {
    if (!this.headersSent) this.#response.appendHeader(name, value);
  }

  getHeader(name: string): string | undefined {
    const value = this.#response.getHeader(name);
    return Array.isArray(value) ? value.join(', ') : value === undefined ? undefined : String(value);
  }

  async send(status: number, body: readonly Buffer[]): Promise<void> {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    response.statusCode = status;
    const noBody = this.#request.method === 'HEAD';
    let size = 0;
    for (const part of body) size += part.length;
    if (noBody && size > 0 && size <= BUFFERED_BODY_BYTES) response.setHeader('content-length', size);
    if (noBody || size <= BUFFERED_BODY_BYTES) {
      response.end(noBody ? undefined : Buffer.concat(body, size));
      return;
    }
    await writeParts(response, body);
    response.end();
  }

  startStream(status: number): BodyStream {
    const response = this.#response;
    response.statusCode = status;
    response.flushHeaders();
    return new Http1Stream(response);
  }

  abort(): void {
    this.#response.destroy();
  }
}

/**
 * Small parts leave together, out of one buffer that is filled again when the kernel has it: a new one for every write would be as much
 * garbage as the list is long, and more work for the collector than all the rest.
 */
async function writeParts(response: ServerResponse, parts: readonly Buffer[]): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let used = 0;
  const flush = async (): Promise<void> => {
    if (used > 0) await written(response, buffer.subarray(0, used));
    used = 0;
  };
  for (const part of parts) {
    if (used + part.length > WRITE_BYTES) await flush();
    if (part.length > WRITE_BYTES) await written(response, part);
    else used += part.copy(buffer, used);
  }
  await flush();
}

/** Resolves when nobody needs the bytes any more. */
function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) {
      resolve();
      return;
    }
    const done = (): void => {
      response.off('close', done);
      resolve();
    };
    response.on('close', done);
    response.write(bytes, done);
  });
}

/** Sockets with frames that wait for the end of this turn of the event loop. */
const corked: Socket[] = [];

/** Several frames for one socket in one turn leave in one system call, which is most of what a frame costs. */
function corkForThisTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  if (corked.push(socket) === 1) setImmediate(uncorkAll);
}

function uncorkAll(): void {
  for (const socket of corked.splice(0)) socket.uncork();
}

/** Whether a stream takes more; when it does not, its `write` said so too, and "drain" will follow. */
export function hasRoom(stream: { readonly writableLength: number }, writeSaid: boolean): boolean {
  return writeSaid || stream.writableLength < STREAM_BUFFER_BYTES;
}

/** Once its head is out, the response owns its socket: frames go there without another copy or header computation. */
class Http1Stream implements BodyStream {
  readonly #response: ServerResponse;
  readonly #socket: Socket | null;
  readonly #direct: boolean;
  #drain: (() => void) | undefined;
  readonly #onDrain = (): void => this.#drain?.();

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#socket = response.socket;
    this.#direct = this.#socket !== null && response.chunkedEncoding;
    const source = this.#direct ? this.#socket! : response;
    source.on('drain', this.#onDrain);
    response.once('close', () => source.off('drain', this.#onDrain));
  }

  writeFrame(frame: WireFrame): boolean {
    if (this.#response.destroyed || this.#response.writableEnded) return true;
    if (!this.#direct) return hasRoom(this.#response, this.#response.write(frame.bytes));
    corkForThisTurn(this.#socket!);
    return hasRoom(this.#socket!, this.#socket!.write(frame.chunk));
  }

  onDrain(listener: () => void): void {
    this.#drain = listener;
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }
}
