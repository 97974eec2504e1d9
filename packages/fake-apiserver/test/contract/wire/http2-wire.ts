// HTTP/2 in the clear, with prior knowledge.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import {
  bytesOf,
  documentsOf,
  type Wire,
  type WireAnswer,
  type WireHead,
  type WireRequest,
  type WireStream,
} from './wire.ts';

export class Http2Wire implements Wire {
  readonly #url: string;
  #session: ClientHttp2Session | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async send(request: WireRequest): Promise<WireAnswer> {
    const stream = this.#start(request);
    return readWhole(await headOf(stream), stream);
  }

  async open(request: WireRequest): Promise<WireStream | WireAnswer> {
    const source = this.#start(request);
    const head = await headOf(source);
    if (head.status !== 200) return readWhole(head, source);
    return documentsOf(head, source);
  }

  destroy(): void {
    this.#session?.destroy();
  }

  #start({ method, target, headers, body }: WireRequest): ClientHttp2Stream {
    if (this.#session === undefined || this.#session.destroyed) {
      this.#session = connect(this.#url);
      this.#session.on('error', () => {});
    }
    const stream = this.#session.request({ ':method': method, ':path': target, ...headers });
    stream.end(body);
    return stream;
  }
}

function headOf(stream: ClientHttp2Stream): Promise<WireHead> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.once('response', (headers: IncomingHttpHeaders) => {
      const values = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
      resolve({ status: Number(headers[':status']), headers: new Map(values), framing: undefined });
    });
  });
}

async function readWhole(head: WireHead, stream: ClientHttp2Stream): Promise<WireAnswer> {
  return { ...head, body: await bytesOf(stream) };
}
