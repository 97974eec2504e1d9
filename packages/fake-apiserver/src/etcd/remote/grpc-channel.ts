// gRPC over one HTTP/2 connection: unary calls and streams, without generated code.
// The connection is made when it is first needed, and again after it was lost.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import { EtcdError, type EtcdErrorCode } from '../errors.ts';

export interface GrpcChannelOptions {
  /** `http://127.0.0.1:2379`, or `https:` with `tls`. */
  readonly endpoint: string;
  /** CA, certificate and key. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> | undefined;
  /** Largest message that is accepted. Default unbounded, as upstream's client: lists may be large. */
  readonly maxMessageBytes?: number | undefined;
}

const FRAME_HEADER_BYTES = 5;

/** Calls of a stream's owner; `ended` is the last one. */
export interface GrpcStreamObserver {
  message(bytes: Buffer): void;
  ended(error: Error | undefined): void;
}

export interface GrpcStream {
  send(message: Buffer): void;
  pause(): void;
  resume(): void;
  cancel(): void;
}

export class GrpcChannel {
  readonly #options: GrpcChannelOptions;
  #session: ClientHttp2Session | undefined;
  #closed = false;

  constructor(options: GrpcChannelOptions) {
    this.#options = options;
  }

  unary(path: string, message: Buffer, signal?: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      let answer: Buffer | undefined;
      const onAbort = (): void => {
        stream.cancel();
        reject(signal?.reason);
      };
      const stream = this.stream(
        path,
        {
          message: (bytes) => {
            answer = bytes;
          },
          ended: (error) => {
            signal?.removeEventListener('abort', onAbort);
            if (error !== undefined) reject(error);
            else if (answer === undefined) reject(unavailable('the answer has no message'));
            else resolve(answer);
          },
        },
        {},
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      stream.send(message);
      stream.half();
    });
  }

  stream(
    path: string,
    observer: GrpcStreamObserver,
    metadata: Readonly<Record<string, string>>,
  ): GrpcStream & { half(): void } {
    if (this.#closed) {
      queueMicrotask(() => observer.ended(new EtcdError('Closed')));
      return { send() {}, pause() {}, resume() {}, cancel() {}, half() {} };
    }
    const request = this.#connect().request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    return new Http2GrpcStream(request, observer, this.#options.maxMessageBytes ?? Number.POSITIVE_INFINITY);
  }

  close(): Promise<void> {
    this.#closed = true;
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined || session.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      session.once('close', () => resolve());
      session.destroy();
    });
  }

  #connect(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(this.#options.endpoint, { ...this.#options.tls, settings: { initialWindowSize: 1 << 20 } });
    // Without it one slow reader of 64 KiB would hold up all other streams of the connection.
    session.once('connect', () => session.setLocalWindowSize(16 << 20));
    // Streams learn of it themselves.
    session.on('error', () => undefined);
    session.on('goaway', () => session.close());
    this.#session = session;
    return session;
  }
}

class Http2GrpcStream implements GrpcStream {
  readonly #request: ClientHttp2Stream;
  readonly #observer: GrpcStreamObserver;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #wanted = FRAME_HEADER_BYTES;
  #inBody = false;
  #failure: Error | undefined;
  #status: Readonly<Record<string, unknown>> = {};
  #ended = false;

  constructor(request: ClientHttp2Stream, observer: GrpcStreamObserver, maxBytes: number) {
    this.#request = request;
    this.#observer = observer;
    this.#maxBytes = maxBytes;
    request.on('response', (headers) => {
      if (headers[':status'] !== 200) this.#failure = unavailable(`status ${String(headers[':status'])}`);
      // An answer without a body has its trailers here.
      if (headers['grpc-status'] !== undefined) this.#status = headers;
    });
    request.on('trailers', (trailers) => {
      this.#status = trailers;
    });
    request.on('data', (chunk: Buffer) => this.#onData(chunk));
    request.on('error', (error) => {
      this.#failure ??= unavailable(error.message, error);
    });
    request.on('close', () => this.#finish());
  }

  send(message: Buffer): void {
    if (this.#request.destroyed || this.#request.writableEnded) return;
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUInt32BE(message.length, 1);
    this.#request.write(Buffer.concat([header, message]));
  }

  half(): void {
    this.#request.end();
  }

  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }

  cancel(): void {
    this.#ended = true;
    this.#request.close(constants.NGHTTP2_CANCEL);
  }

  #onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    while (!this.#ended && this.#buffered >= this.#wanted) {
      const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#buffered);
      const piece = all.subarray(0, this.#wanted);
      const rest = all.subarray(this.#wanted);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#buffered = rest.length;
      if (this.#inBody) {
        this.#inBody = false;
        this.#wanted = FRAME_HEADER_BYTES;
        this.#observer.message(piece);
      } else {
        this.#wanted = piece.readUInt32BE(1);
        this.#inBody = true;
        if (this.#wanted <= this.#maxBytes && piece[0] === 0) continue;
        this.#failure = unavailable(piece[0] === 0 ? 'the answer is too large' : 'the answer is compressed');
        this.#request.close(constants.NGHTTP2_CANCEL);
        return;
      }
    }
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#observer.ended(this.#failure ?? statusError(this.#status));
  }
}

function unavailable(why: string, cause?: unknown): EtcdError {
  return new EtcdError('Unavailable', { message: `etcd: ${why}`, cause });
}

/** etcd tells its errors apart by their texts. */
const CODE_OF_TEXT: readonly [string, EtcdErrorCode][] = [
  ['required revision has been compacted', 'Compacted'],
  ['required revision is a future revision', 'FutureRev'],
  ['duplicate key given', 'DuplicateKey'],
  ['request is too large', 'RequestTooLarge'],
  ['lease not found', 'LeaseNotFound'],
  ['key is not provided', 'EmptyKey'],
  ['no leader', 'NoLeader'],
];

function statusError(trailers: Readonly<Record<string, unknown>>): Error | undefined {
  const status = trailers['grpc-status'];
  if (status === '0') return undefined;
  if (status === undefined) return unavailable('the connection ended early');
  const text = decodeURIComponent(String(trailers['grpc-message'] ?? ''));
  return errorOfText(text);
}

export function errorOfText(message: string, compactRevision?: number): EtcdError {
  const code = CODE_OF_TEXT.find(([part]) => message.includes(part))?.[1] ?? 'Unavailable';
  return new EtcdError(code, { message, compactRevision });
}
