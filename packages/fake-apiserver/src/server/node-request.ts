// What HTTP/1.1 and HTTP/2 requests of node have in common when they become an HttpRequest.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, type HttpRequest, type PeerIdentity, type WebSocketUpgrade } from '../endpoints/http.ts';
import { Query, unescapeComponent } from '../endpoints/query.ts';

export interface RequestParts {
  readonly method: string;
  readonly rawUrl: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: HttpRequest['httpVersion'];
  readonly remoteAddress: string;
  readonly peer: PeerIdentity | undefined;
  /** Aborted by the transport when the client goes away. */
  readonly controller: AbortController;
  readonly body: Readable;
  readonly upgrade?: WebSocketUpgrade | undefined;
}

/** Undefined for a target that cannot be read as a URL: the transport answers a bare 400, as Go does. */
export function makeRequest(parts: RequestParts): HttpRequest | undefined {
  let target = parts.rawUrl;
  // The absolute form that proxies send.
  if (/^https?:\/\//i.test(target)) target = target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
  if (!target.startsWith('/')) return undefined;
  const mark = target.indexOf('?');
  const path = unescapeComponent(mark < 0 ? target : target.slice(0, mark), false);
  if (path === undefined) return undefined;
  return new NodeRequest(parts, path, mark < 0 ? '' : target.slice(mark + 1));
}

class NodeRequest implements HttpRequest {
  readonly #parts: RequestParts;
  readonly path: string;
  readonly query: Query;

  constructor(parts: RequestParts, path: string, query: string) {
    this.#parts = parts;
    this.path = path;
    this.query = new Query(query);
  }

  get method(): string {
    return this.#parts.method;
  }
  get rawUrl(): string {
    return this.#parts.rawUrl;
  }
  get httpVersion(): HttpRequest['httpVersion'] {
    return this.#parts.httpVersion;
  }
  get remoteAddress(): string {
    return this.#parts.remoteAddress;
  }
  get peer(): PeerIdentity | undefined {
    return this.#parts.peer;
  }
  get signal(): AbortSignal {
    return this.#parts.controller.signal;
  }

  cancel(reason: unknown): void {
    this.#parts.controller.abort(reason);
  }

  get upgrade(): WebSocketUpgrade | undefined {
    return this.#parts.upgrade;
  }

  header(name: string): string | undefined {
    const value = this.#parts.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerValues(name: string): readonly string[] {
    const value = this.#parts.headers[name];
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    // Node joins repeated headers; those that matter here are lists of names.
    return value.split(',').map((one) => one.trim());
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#parts.headers).filter((name) => !name.startsWith(':'));
  }

  readBody(limitBytes: number): Promise<Buffer> {
    return readAll(this.#parts.body, limitBytes, this.signal);
  }
}

function readAll(body: Readable, limitBytes: number, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) {
        settle(() => reject(new BodyTooLargeError(`body exceeds ${limitBytes} bytes`)));
        // The rest is read and thrown away, so that the client gets to see the answer.
        body.resume();
      } else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(new Error('unexpected EOF')));
    const onAbort = (): void => settle(() => reject(signal.reason));
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}
