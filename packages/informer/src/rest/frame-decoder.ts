// Bytes of a watch stream to JSON documents, under any chunking. The usual frame ends at a newline byte and is parsed in one
// go; frames over several lines, several on one line or without a newline go through the scanner.
// Upstream: apimachinery@v0.30.3:pkg/util/framer/framer.go#NewJSONFramedReader
import { DecodeError } from '../errors.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { JsonObjectScanner } from './json-scanner.ts';
import { utf8ToString } from './utf8.ts';

export interface FrameDecoderOptions {
  /** Largest document in bytes. @defaultValue 16 MiB, as client-go */
  readonly maxFrameBytes?: number;
}

const NEWLINE = 0x0a;
const isSpace = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;

/**
 * Push bytes, get documents through the callback, in order. Throws a DecodeError at the first byte that cannot be JSON, or when a
 * document is too large; after that the decoder is of no use.
 */
export class FrameDecoder {
  readonly #maxFrameBytes: number;
  readonly #emit: (document: unknown) => void;
  readonly #rest = new ByteBuffer();
  readonly #scanner = new JsonObjectScanner();
  // Bytes at the head of #rest that the scanner (slow path) or the newline search (fast path) has seen already.
  #seen = 0;
  #scanning = false;

  constructor(emit: (document: unknown) => void, options: FrameDecoderOptions = {}) {
    this.#emit = emit;
    this.#maxFrameBytes = options.maxFrameBytes ?? 16 * 1024 * 1024;
  }

  /** Bytes of the document that is not complete yet. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    const buffered = this.#rest.length > 0;
    if (buffered) {
      this.#rest.append(chunk);
      bytes = this.#rest.view();
    }
    const start = this.#documents(bytes);
    const left = bytes.length - start;
    if (buffered) this.#rest.consume(start);
    else if (left > 0) this.#rest.append(bytes.subarray(start));
    if (left > this.#maxFrameBytes) throw this.#tooLarge();
  }

  /** The stream ended: emits what is complete of the rest. False when it ended inside a document. */
  end(): boolean {
    const bytes = this.#rest.view();
    const whole = this.#documents(bytes, true) === bytes.length;
    this.#rest.clear();
    return whole;
  }

  /** Emits what is complete and returns the index where the incomplete rest starts. */
  #documents(bytes: Uint8Array, ended = false): number {
    let start = 0;
    for (;;) {
      if (!this.#scanning) {
        const newline = bytes.indexOf(NEWLINE, this.#seen);
        if (newline < 0) {
          start = skipSpaces(bytes, start);
          this.#seen = bytes.length - start;
          if (start === bytes.length || !(ended || this.#looksComplete(bytes, start))) return start;
          this.#beginScan();
        } else if (this.#parseLine(bytes, start, newline)) {
          start = newline + 1;
          this.#seen = start;
          continue;
        } else {
          start = skipSpaces(bytes, start);
          this.#beginScan();
        }
        this.#seen = start;
      }
      const result = this.#scanner.scan(bytes, this.#seen, bytes.length);
      if (result.kind === 'invalid') throw badJson(bytes, start, result.at);
      if (result.kind === 'incomplete') {
        this.#seen = bytes.length - start;
        return start;
      }
      this.#document(bytes, start, result.end);
      start = skipSpaces(bytes, result.end);
      this.#scanning = false;
      this.#seen = start;
    }
  }

  #beginScan(): void {
    this.#scanning = true;
    this.#scanner.reset();
  }

  /** A rest that ends in a brace may be a whole frame without its newline; one that starts otherwise is wrong already. */
  #looksComplete(bytes: Uint8Array, start: number): boolean {
    if (bytes[start] !== 0x7b) return true;
    let last = bytes.length - 1;
    while (last > start && isSpace(bytes[last]!)) last--;
    return bytes[last] === 0x7d;
  }

  #parseLine(bytes: Uint8Array, start: number, end: number): boolean {
    const from = skipSpaces(bytes, start, end);
    if (from === end) return true;
    if (end - from > this.#maxFrameBytes) throw this.#tooLarge();
    let document: unknown;
    try {
      document = JSON.parse(utf8ToString(bytes, from, end));
    } catch {
      return false;
    }
    this.#emit(document);
    return true;
  }

  #document(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#maxFrameBytes) throw this.#tooLarge();
    let document: unknown;
    try {
      document = JSON.parse(utf8ToString(bytes, start, end));
    } catch (cause) {
      throw new DecodeError('BAD_JSON', `bad frame in the stream: ${(cause as Error).message}`, { cause });
    }
    this.#emit(document);
  }

  #tooLarge(): DecodeError {
    return new DecodeError('TOO_LARGE', `object to decode was longer than ${this.#maxFrameBytes} bytes`);
  }
}

function skipSpaces(bytes: Uint8Array, from: number, to: number = bytes.length): number {
  let index = from;
  while (index < to && isSpace(bytes[index]!)) index++;
  return index;
}

function badJson(bytes: Uint8Array, start: number, at: number): DecodeError {
  const excerpt = utf8ToString(bytes, start, Math.min(bytes.length, start + 60));
  return new DecodeError(
    'BAD_JSON',
    `bad frame in the stream: unexpected byte 0x${bytes[at]!.toString(16)} in ${JSON.stringify(excerpt)}`,
  );
}
