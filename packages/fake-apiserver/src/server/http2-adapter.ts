// HTTP/2 streams of node as HttpResponse.
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { BodyStream, HttpResponse, WireFrame } from '../endpoints/http.ts';
import { hasRoom, WRITE_BYTES } from './http1-adapter.ts';

export class Http2Response implements HttpResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #method: string;
  readonly #headers = new Map<string, string[]>();

  constructor(stream: ServerHttp2Stream, method: string) {
    this.#stream = stream;
    this.#method = method;
  }

  status = 0;

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), [value]);
  }

  addHeader(name: string, value: string): void {
    const key = name.toLowerCase();
    this.#headers.set(key, [...(this.#headers.get(key) ?? []), value]);
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase())?.join(', ');
  }

  #respond(status: number, endStream: boolean): void {
    this.status = status;
    const headers: OutgoingHttpHeaders = { ':status': status };
    for (const [name, values] of this.#headers) {
      // Headers of one HTTP/1.1 hop are a protocol error here.
      if (name === 'connection' || name === 'transfer-encoding') continue;
      headers[name] = values.length === 1 ? values[0]! : values;
    }
    this.#stream.respond(headers, { endStream });
    // What closes a connection of HTTP/1.1 makes one of HTTP/2 go away once its streams have ended.
    if (this.getHeader('connection') === 'close') this.#stream.session?.close();
  }

  async send(status: number, body: readonly Buffer[]): Promise<void> {
    const stream = this.#stream;
    if (stream.headersSent || stream.destroyed) return;
    let size = 0;
    for (const part of body) size += part.length;
    if (this.#method === 'HEAD' || size === 0) return this.#respond(status, true);
    this.#respond(status, false);
    for (const chunk of coalesce(body)) {
      if (stream.destroyed) return;
      if (!stream.write(chunk)) await drained(stream);
    }
    stream.end();
  }

  startStream(status: number): BodyStream {
    this.#respond(status, false);
    return new Http2Body(this.#stream);
  }

  abort(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

/** Joins small parts, so that a list of many items does not become as many writes. */
function* coalesce(parts: readonly Buffer[]): Generator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  for (const part of parts) {
    if (size > 0 && size + part.length > WRITE_BYTES) {
      yield pending.length === 1 ? pending[0]! : Buffer.concat(pending, size);
      pending = [];
      size = 0;
    }
    pending.push(part);
    size += part.length;
  }
  if (size > 0) yield pending.length === 1 ? pending[0]! : Buffer.concat(pending, size);
}

class Http2Body implements BodyStream {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  writeFrame(frame: WireFrame): boolean {
    if (this.#stream.destroyed || this.#stream.writableEnded) return true;
    return hasRoom(this.#stream, this.#stream.write(frame.bytes));
  }

  onDrain(listener: () => void): void {
    this.#stream.on('drain', listener);
  }

  end(): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.end();
  }
}
