// A body that arrives piece by piece on a clock.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { BodySink, TransportBody } from '../../src/rest/transport.ts';

// A read of a socket rarely gives more.
const READ_BYTES = 64 * 1024;

export interface ScriptedBodyEvents {
  /** Bytes or the end left the server. */
  onSent(): void;
  /** Something happened on the client's side. */
  onActivity(): void;
  /** `whole`: everything was sent and read, so that the connection can be used again. */
  onClosed(whole: boolean): void;
}

export class ScriptedBody implements TransportBody {
  readonly #clock: Clock;
  readonly #events: ScriptedBodyEvents;
  readonly #timers = new Set<ClockTimer>();
  readonly #queue: Uint8Array[] = [];
  #end: { readonly error?: Error } | undefined;
  #sink: BodySink | undefined;
  #paused = false;
  #closed = false;

  constructor(clock: Clock, events: ScriptedBodyEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Runs unless the body is closed by then. */
  at(delayMs: number, run: () => void): void {
    const timer = this.#clock.setTimer(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  write(bytes: Uint8Array): void {
    if (this.#closed || this.#end !== undefined) return;
    for (let from = 0; from < bytes.length; from += READ_BYTES)
      this.#queue.push(bytes.subarray(from, from + READ_BYTES));
    this.#events.onSent();
    this.#flush();
  }

  /** In pieces of that size, each of which comes as a read of its own. */
  writePieces(bytes: Uint8Array, size: number, gapMs: number): void {
    for (let from = 0; from < bytes.length; from += size) {
      const piece = bytes.subarray(from, from + size);
      if (from === 0 || gapMs === 0) this.write(piece);
      else this.at((from / size) * gapMs, () => this.write(piece));
    }
  }

  /** With an error the connection is lost, else this is the proper end. */
  end(error?: Error): void {
    if (this.#closed || this.#end !== undefined) return;
    this.#end = error === undefined ? {} : { error };
    this.#events.onSent();
    this.#flush();
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    // As with a socket, nothing arrives within the call.
    queueMicrotask(() => this.#flush());
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#flush());
  }

  destroy(): void {
    this.#close(false);
  }

  #flush(): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    while (!this.#paused && !this.#closed && this.#queue.length > 0) {
      this.#events.onActivity();
      sink.data(this.#queue.shift()!);
    }
    if (this.#paused || this.#closed || this.#end === undefined) return;
    const { error } = this.#end;
    this.#close(error === undefined);
    if (error === undefined) sink.end();
    else sink.error(error);
  }

  #close(whole: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#events.onActivity();
    this.#events.onClosed(whole);
  }
}
