// HTTP/2 in the clear, with prior knowledge.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import {
  DocumentStream,
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
    const stream = new DocumentStream(head, source);
    source.setEncoding('utf8');
    source.on('data', (text: string) => stream.takeText(text));
    source.on('end', () => stream.end('eof'));
    source.on('error', () => stream.end('cut'));
    source.on('close', () => stream.end('cut'));
    return stream;
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
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return { ...head, body: Buffer.concat(parts) };
}
