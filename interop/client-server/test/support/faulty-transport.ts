// A network that loses, delays, cuts and lies, as a seed says.
import type { Clock, Status } from '@kube-rx/apimachinery';
import { newInternalError, newTooManyRequests, sleep } from '@kube-rx/apimachinery';
import type { BodySink, Transport, TransportBody, TransportRequest, TransportResponse } from '@kube-rx/informer';
import { TransportError } from '@kube-rx/informer';
import { pick } from './random.ts';

export interface FaultyTransportOptions {
  readonly inner: Transport;
  readonly clock: Clock;
  readonly random: () => number;
  /** Chance that a request is hit. @defaultValue 0.3 */
  readonly requestFaults?: number;
  /** Chance for each chunk of a watch that the stream is hit. @defaultValue 0.1 */
  readonly chunkFaults?: number;
  /** Streams may fall silent without an end, as behind a dead middle box. @defaultValue true */
  readonly halfOpen?: boolean;
}

const REQUEST_FAULTS = ['refuse', 'reset', 'answer-lost', 'status-500', 'status-429', 'delay', 'hang'] as const;
const CHUNK_FAULTS = ['cut', 'half-frame', 'end', 'split', 'delay', 'silence'] as const;
const WITHOUT_SILENCE = CHUNK_FAULTS.filter((fault) => fault !== 'silence');

/** Faults happen while `active`; each kind is counted. */
export class FaultyTransport implements Transport {
  active = true;
  readonly counts: Map<string, number> = new Map<string, number>();
  readonly #options: FaultyTransportOptions;

  constructor(options: FaultyTransportOptions) {
    this.#options = options;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { inner, clock, requestFaults = 0.3, chunkFaults = 0.1, halfOpen = true } = this.#options;
    const ofChunk = halfOpen ? CHUNK_FAULTS : WITHOUT_SILENCE;
    switch (this.#draw(requestFaults, REQUEST_FAULTS)) {
      case undefined:
        break;
      case 'refuse':
        throw new TransportError('REFUSED', 'connection refused');
      case 'reset':
        throw new TransportError('RESET', 'connection reset by peer');
      case 'answer-lost': {
        const { body } = await inner.send(request);
        body.destroy();
        throw new TransportError('EOF', 'connection closed before the answer');
      }
      case 'status-500':
        return failure(500, newInternalError('disk on fire').status);
      case 'status-429':
        return failure(429, newTooManyRequests('slow down', 2).status, { 'retry-after': '2' });
      case 'delay':
        await sleep(clock, 3000, { signal: request.signal });
        break;
      case 'hang':
        // Longer than any limit of the client; the request is sent then, as a middle box would.
        await sleep(clock, 120_000, { signal: request.signal });
        break;
    }
    const response = await inner.send(request);
    if (request.purpose !== 'watch' || response.status !== 200) return response;
    return {
      ...response,
      body: new FaultyBody(response.body, clock, () => this.#draw(chunkFaults, ofChunk)),
    };
  }

  close(): void {
    this.#options.inner.close();
  }

  #draw<T extends string>(chance: number, faults: readonly T[]): T | undefined {
    const { random } = this.#options;
    if (!this.active || random() >= chance) return undefined;
    const fault = pick(random, faults);
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return fault;
  }
}

class FaultyBody implements TransportBody {
  readonly #inner: TransportBody;
  readonly #clock: Clock;
  readonly #draw: () => (typeof CHUNK_FAULTS)[number] | undefined;
  #silent = false;
  // Keeps the order of what is delayed.
  #tail: Promise<void> | undefined;
  #destroyed = false;

  constructor(inner: TransportBody, clock: Clock, draw: () => (typeof CHUNK_FAULTS)[number] | undefined) {
    this.#inner = inner;
    this.#clock = clock;
    this.#draw = draw;
  }

  consume(sink: BodySink): void {
    this.#inner.consume({
      data: (chunk) => this.#after(() => this.#chunk(chunk, sink)),
      end: () => this.#after(() => this.#finish(() => sink.end())),
      error: (error) => this.#after(() => this.#finish(() => sink.error(error))),
    });
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  destroy(): void {
    this.#destroyed = true;
    this.#inner.destroy();
  }

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
    if (this.#silent || this.#destroyed) return undefined;
    switch (this.#draw()) {
      case undefined:
        sink.data(chunk);
        break;
      case 'cut':
        sink.data(chunk);
        this.#break(sink);
        break;
      case 'half-frame':
        sink.data(chunk.subarray(0, Math.floor(chunk.length / 2)));
        this.#break(sink);
        break;
      case 'end':
        this.#finish(() => sink.end());
        this.#inner.destroy();
        break;
      case 'silence':
        // A half-open connection: neither data nor an end will come.
        this.#silent = true;
        break;
      case 'split':
        for (let offset = 0; offset < chunk.length; offset += 7) sink.data(chunk.subarray(offset, offset + 7));
        break;
      case 'delay':
        return sleep(this.#clock, 2000).then(() => {
          if (!this.#destroyed) sink.data(chunk);
        });
    }
    return undefined;
  }

  #break(sink: BodySink): void {
    this.#finish(() => sink.error(new TransportError('RESET', 'connection reset by peer')));
    this.#inner.destroy();
  }

  #finish(run: () => void): void {
    if (this.#silent || this.#destroyed) return;
    this.#destroyed = true;
    run();
  }
}

function failure(status: number, value: Status, headers: Readonly<Record<string, string>> = {}): TransportResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: {
      consume(sink) {
        sink.data(bytes);
        sink.end();
      },
      pause() {},
      resume() {},
      destroy() {},
    },
  };
}
