// A body that arrives late, in pieces, in part, with lies in it, or never.
import type { Clock, Status } from '@kube-rx/apimachinery';
import { newInternalError, newResourceExpired, newTooManyRequests, sleep } from '@kube-rx/apimachinery';
import type { BodySink, TransportBody } from '@kube-rx/informer';
import { TransportError } from '@kube-rx/informer';

/** What may happen to a watch at any chunk. */
export const WATCH_FAULTS = [
  'cut',
  'half-frame',
  'end',
  'split',
  'delay',
  'silence',
  'garbage',
  'gone-event',
  'error-event',
  'throttle-event',
] as const;
/** What may happen to an answer that has an end. */
export const LIST_FAULTS = ['half-list', 'short-list', 'stalled-list', 'split-list', 'delayed-list'] as const;
export type BodyFault = (typeof WATCH_FAULTS)[number] | (typeof LIST_FAULTS)[number];

export interface FaultyBodyOptions {
  readonly inner: TransportBody;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Headers came, and nothing else ever will. */
  readonly silent: boolean;
  readonly draw: () => BodyFault | undefined;
  /** Called before a chunk is passed on: something may happen to the server just then. */
  readonly meanwhile: () => Promise<void> | undefined;
  readonly onClose: () => void;
}

const RESET = 'connection reset by peer';

export class FaultyBody implements TransportBody {
  readonly #options: FaultyBodyOptions;
  #silent: boolean;
  #sink: BodySink | undefined;
  // Keeps the order of what is delayed.
  #tail: Promise<void> | undefined;
  #closed = false;

  constructor(options: FaultyBodyOptions) {
    this.#options = options;
    this.#silent = options.silent;
  }

  consume(sink: BodySink): void {
    this.#sink = sink;
    this.#options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#options.inner.consume({
      data: (chunk) => this.#after(() => this.#chunk(chunk, sink)),
      end: () => this.#after(() => this.#unlessSilent(() => sink.end())),
      error: (error) => this.#after(() => this.#unlessSilent(() => sink.error(error))),
    });
  }

  pause(): void {
    this.#options.inner.pause();
  }

  resume(): void {
    this.#options.inner.resume();
  }

  destroy(): void {
    this.#finish(() => {});
    this.#options.inner.destroy();
  }

  /** The connection is destroyed, also one on which nothing comes any more. */
  readonly #onAbort = (): void => {
    const { signal } = this.#options;
    const reason = signal?.reason as unknown;
    this.#break(reason instanceof Error ? reason : new TransportError('ABORTED', 'aborted'));
  };

  /** A network delays, it does not change the order. */
  #after(run: () => void | Promise<void>): void {
    if (this.#tail !== undefined) {
      this.#tail = this.#tail.then(run);
      return;
    }
    const delayed = run();
    if (delayed !== undefined) this.#tail = delayed;
  }

  #chunk(chunk: Uint8Array, sink: BodySink): void | Promise<void> {
    if (this.#silent || this.#closed) return undefined;
    const waited = this.#options.meanwhile();
    if (waited !== undefined) return waited.then(() => this.#pass(chunk, sink));
    return this.#pass(chunk, sink);
  }

  #pass(chunk: Uint8Array, sink: BodySink): void | Promise<void> {
    if (this.#closed) return undefined;
    const half = (): void => sink.data(chunk.subarray(0, Math.floor(chunk.length / 2)));
    const fault = this.#options.draw();
    switch (fault) {
      case undefined:
        sink.data(chunk);
        break;
      case 'cut':
        sink.data(chunk);
        this.#break();
        break;
      case 'half-frame':
      case 'half-list':
        half();
        this.#break();
        break;
      case 'short-list':
        half();
        this.#end();
        break;
      case 'end':
        this.#end();
        break;
      case 'silence':
        // A half-open connection: neither data nor an end will come.
        this.#silent = true;
        break;
      case 'stalled-list':
        half();
        this.#silent = true;
        break;
      case 'split':
      case 'split-list':
        for (let offset = 0; offset < chunk.length && !this.#closed; offset += 7)
          sink.data(chunk.subarray(offset, offset + 7));
        break;
      case 'delay':
      case 'delayed-list':
        return sleep(this.#options.clock, 2000).then(() => {
          if (!this.#closed) sink.data(chunk);
        });
      case 'garbage':
        sink.data(new TextEncoder().encode('<html>502 Bad Gateway</html>\n'));
        this.#end();
        break;
      case 'gone-event':
        this.#errorEvent(sink, newResourceExpired('too old resource version: 1 (2)').status);
        break;
      case 'error-event':
        this.#errorEvent(sink, newInternalError('etcdserver: no leader').status);
        break;
      case 'throttle-event':
        this.#errorEvent(sink, newTooManyRequests('slow down', 3).status);
        break;
      default:
        fault satisfies never;
    }
    return undefined;
  }

  /** Instead of the chunk, whose events the client has to get in another way. */
  #errorEvent(sink: BodySink, object: Status): void {
    sink.data(new TextEncoder().encode(`${JSON.stringify({ type: 'ERROR', object })}\n`));
    this.#end();
  }

  #end(): void {
    this.#finish(() => this.#sink?.end());
    this.#options.inner.destroy();
  }

  #break(error: Error = new TransportError('RESET', RESET)): void {
    this.#finish(() => this.#sink?.error(error));
    this.#options.inner.destroy();
  }

  #unlessSilent(run: () => void): void {
    if (!this.#silent) this.#finish(run);
  }

  #finish(run: () => void): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onClose();
    run();
  }
}
