// HTTP/1.1 over sockets of its own.
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import {
  bytesOf,
  documentsOf,
  type Wire,
  type WireAnswer,
  type WireHead,
  type WireRequest,
  type WireStream,
} from './wire.ts';

export class Http1Wire implements Wire {
  readonly #base: URL;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string) {
    this.#base = new URL(url);
  }

  async send(request: WireRequest): Promise<WireAnswer> {
    const message = await this.#start(request);
    return readWhole(message);
  }

  async open(request: WireRequest): Promise<WireStream | WireAnswer> {
    const message = await this.#start(request);
    const head = headOf(message);
    if (head.status !== 200) return readWhole(message);
    return documentsOf(head, message);
  }

  destroy(): void {
    this.#agent.destroy();
  }

  #start({ method, target, headers, body }: WireRequest): Promise<IncomingMessage> {
    const { hostname, port } = this.#base;
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) };
      const options = { hostname, port, path: target, method, headers: { ...headers, ...length }, agent: this.#agent };
      const outgoing = startRequest(options, resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

export function headOf({ statusCode, headers }: IncomingMessage): WireHead {
  const values = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
  return {
    status: statusCode ?? 0,
    headers: new Map(values),
    framing: headers['transfer-encoding'] === 'chunked' ? 'chunked' : 'length',
  };
}

export async function readWhole(message: IncomingMessage): Promise<WireAnswer> {
  return { ...headOf(message), body: await bytesOf(message) };
}
