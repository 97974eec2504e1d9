// A request and a response without a transport, for tests of filters and handlers.
import { Readable } from 'node:stream';
import type { BodyStream, HttpRequest, HttpResponse, PeerIdentity } from '../../src/endpoints/http.ts';
import { makeRequest } from '../../src/server/node-request.ts';

export interface FakeRequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly peer?: PeerIdentity;
  readonly body?: string;
}

export function fakeRequest(target: string, options: FakeRequestOptions = {}): HttpRequest {
  const request = makeRequest({
    method: options.method ?? 'GET',
    rawUrl: target,
    headers: options.headers ?? {},
    httpVersion: '1.1',
    remoteAddress: '127.0.0.1',
    peer: options.peer,
    controller: new AbortController(),
    body: Readable.from(options.body === undefined ? [] : [Buffer.from(options.body)]),
  });
  if (request === undefined) throw new Error(`not a target: ${target}`);
  return request;
}

/** Remembers what was answered. */
export class FakeResponse implements HttpResponse {
  readonly headers: Map<string, string[]> = new Map();
  status = 0;
  text = '';
  aborted = false;
  headersSent = false;

  setHeader(name: string, value: string): void {
    this.headers.set(name, [value]);
  }
  addHeader(name: string, value: string): void {
    this.headers.set(name, [...(this.headers.get(name) ?? []), value]);
  }
  getHeader(name: string): string | undefined {
    return this.headers.get(name)?.join(', ');
  }
  async send(status: number, body: readonly Buffer[]): Promise<void> {
    this.headersSent = true;
    this.status = status;
    this.text = Buffer.concat(body).toString();
  }
  startStream(): BodyStream {
    throw new Error('no streams here');
  }
  abort(): void {
    this.aborted = true;
  }
}
