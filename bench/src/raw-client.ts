// Requests without any client library, so that the server's work is what is measured.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Target } from './target.ts';

export interface RawWatch {
  /** Frames so far. */
  readonly count: number;
  /** The server ended it. */
  readonly ended: boolean;
  close(): void;
}

const NEWLINE = 0x0a;

export class RawClient implements Disposable {
  readonly #target: Target;
  readonly #isTls: boolean;
  readonly #agent: Agent;

  constructor(target: Target) {
    this.#target = target;
    this.#isTls = target.url.startsWith('https:');
    const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
    this.#agent = this.#isTls ? new HttpsAgent({ ...options, rejectUnauthorized: false }) : new Agent(options);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /** The whole body; rejects for a status of 400 and more that is not expected. */
  async call(method: string, path: string, body?: unknown, expected: readonly number[] = []): Promise<Buffer> {
    const response = await this.#send(method, path, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { statusCode = 0 } = response;
    if (statusCode >= 400 && !expected.includes(statusCode)) {
      throw new Error(`${method} ${path}: ${statusCode} ${bytes.toString('utf8', 0, 300)}`);
    }
    return bytes;
  }

  /** Counts the bytes of a body without keeping them. */
  async drain(path: string): Promise<number> {
    const response = await this.#send('GET', path);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    return bytes;
  }

  /** A watch on a connection of its own; `onFrame` gets each frame's bytes when it wants them. */
  async watch(path: string, onFrame?: (frame: Buffer) => void): Promise<RawWatch> {
    const response = await this.#send('GET', path);
    let count = 0;
    let ended = false;
    let rest: Buffer = Buffer.alloc(0);
    response.on('data', (chunk: Buffer) => {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        count++;
        if (onFrame !== undefined) {
          onFrame(rest.length === 0 ? chunk.subarray(start, end) : Buffer.concat([rest, chunk.subarray(start, end)]));
          rest = Buffer.alloc(0);
        }
        start = end + 1;
      }
      if (onFrame !== undefined && start < chunk.length) rest = Buffer.concat([rest, chunk.subarray(start)]);
    });
    response.on('close', () => {
      ended = true;
    });
    response.on('error', () => {});
    return {
      get count() {
        return count;
      },
      get ended() {
        return ended;
      },
      close: () => response.destroy(),
    };
  }

  #send(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const send = this.#isTls ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(`${this.#target.url}${path}`, {
        method,
        agent: this.#agent,
        headers: {
          authorization: `Bearer ${this.#target.token}`,
          accept: 'application/json',
          ...(text === undefined
            ? {}
            : {
                'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
                'content-length': Buffer.byteLength(text),
              }),
        },
      });
      request.once('response', resolve);
      request.once('error', reject);
      request.end(text);
    });
  }
}
