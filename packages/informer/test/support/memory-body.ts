// Bodies of answers that never saw a socket, for transports that live in memory.
import type { BodySink, TransportBody, TransportResponse } from '../../src/rest/transport.ts';

/** A body whose test writes it; what is written while paused waits. */
export class MemoryBody implements TransportBody {
  destroyed = false;
  paused = false;
  resumes = 0;
  readonly #onDestroy: () => void;
  #sink: BodySink | undefined;
  #chunks: Uint8Array[] = [];
  #end: { readonly error?: Error } | undefined;

  constructor(onDestroy: () => void = () => {}) {
    this.#onDestroy = onDestroy;
  }

  write(text: string): void {
    this.#chunks.push(new TextEncoder().encode(text));
    this.#flush();
  }

  /** The server ends the answer, or the connection breaks. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#flush();
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    // As a socket does: nothing arrives within the call.
    queueMicrotask(() => this.#flush());
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.resumes++;
    this.paused = false;
    queueMicrotask(() => this.#flush());
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#onDestroy();
  }

  #flush(): void {
    while (!this.paused && !this.destroyed && this.#sink !== undefined && this.#chunks.length > 0) {
      this.#sink.data(this.#chunks.shift()!);
    }
    if (this.paused || this.destroyed || this.#sink === undefined || this.#end === undefined) return;
    this.destroyed = true;
    if (this.#end.error === undefined) this.#sink.end();
    else this.#sink.error(this.#end.error);
    this.#onDestroy();
  }
}

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  const body = new MemoryBody();
  body.write(typeof value === 'string' ? value : JSON.stringify(value));
  body.end();
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}
