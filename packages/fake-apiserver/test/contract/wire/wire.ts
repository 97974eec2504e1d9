// What a case needs of a connection, whichever protocol it speaks.
import type { Readable } from 'node:stream';

export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface WireHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** How HTTP/1.1 says where the body ends; undefined where other frames do. */
  readonly framing: 'chunked' | 'length' | undefined;
}

export interface WireAnswer extends WireHead {
  readonly body: Buffer;
}

/** A stream of JSON documents. Documents come as they were sent, one string each. */
export interface WireStream extends WireHead {
  readonly documents: readonly string[];
  /** How each document was framed, e.g. `newline+text`; undefined for plain lines. */
  readonly frames: readonly string[] | undefined;
  /** Null while it is open. */
  readonly closed: string | null;
  pause(): void;
  resume(): void;
  close(): void;
}

export interface Wire {
  send(request: WireRequest): Promise<WireAnswer>;
  /** Resolves with the head of the answer; `closed` is `refused` and the body whole when it is no stream. */
  open(request: WireRequest): Promise<WireStream | WireAnswer>;
  /** Cuts every connection. */
  destroy(): void;
}

export const isStream = (opened: WireStream | WireAnswer): opened is WireStream => 'documents' in opened;

/** Lines of a body, as they come. */
export class DocumentStream implements WireStream {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: 'chunked' | 'length' | undefined;
  readonly documents: string[] = [];
  readonly frames: string[] | undefined;
  closed: string | null = null;
  readonly #source: DocumentSource;
  #rest = '';

  constructor(head: WireHead, source: DocumentSource, frames?: string[]) {
    this.status = head.status;
    this.headers = head.headers;
    this.framing = head.framing;
    this.frames = frames;
    this.#source = source;
  }

  takeText(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop()!;
    this.documents.push(...lines.filter((line) => line !== ''));
  }

  takeFrame(text: string, kind: string): void {
    this.documents.push(text);
    this.frames?.push(`${text.endsWith('\n') ? 'newline+' : ''}${kind}`);
  }

  end(how: string): void {
    if (this.#rest.trim() !== '') this.documents.push(this.#rest);
    this.#rest = '';
    this.closed ??= how;
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  close(): void {
    this.#source.destroy();
  }
}

export interface DocumentSource {
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** The lines of an answer that is a stream. */
export function documentsOf(head: WireHead, source: Readable): DocumentStream {
  const stream = new DocumentStream(head, source);
  source.setEncoding('utf8');
  source.on('data', (text: string) => stream.takeText(text));
  source.on('end', () => stream.end('eof'));
  source.on('error', () => stream.end('cut'));
  source.on('close', () => stream.end('cut'));
  return stream;
}

export async function bytesOf(source: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
