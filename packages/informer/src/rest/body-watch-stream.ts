// The body of a watch answer as a stream of events.
// Upstream: apimachinery@v0.30.3:pkg/watch/streamwatcher.go#StreamWatcher
import type { KubernetesObject, Status, WatchEvent } from '@kube-rx/apimachinery';
import { DecodeError, TransportError } from '../errors.ts';
import { FrameDecoder } from './frame-decoder.ts';
import type { OnObject, WatchSink, WatchStream } from './lister-watcher.ts';
import { isProbableEof } from './network-errors.ts';
import type { ResourceType } from './resource-type.ts';
import type { TransportResponse } from './transport.ts';
import type { Decoding } from './watch-decoder.ts';
import { decodeWatchEvent } from './watch-decoder.ts';
import { yieldToEventLoop } from './yield.ts';

// How much of a stream is worked off before the event loop gets a turn; a stream that begins with all objects is long.
const TURN_BYTES = 512 * 1024;

/** A connection that goes away ends the stream quietly; bytes that are no event end it with an ERROR event of our own. */
export class BodyWatchStream<T extends KubernetesObject> implements WatchStream<T> {
  readonly #response: TransportResponse;
  readonly #type: ResourceType<T>;
  readonly #decoding: Decoding;
  readonly #maxFrameBytes: number | undefined;
  readonly #fillKinds: boolean;
  readonly #onObject: OnObject | undefined;
  #stopped = false;
  #paused = false;
  #turnBytes = 0;

  constructor(
    response: TransportResponse,
    type: ResourceType<T>,
    decoding: Decoding,
    options: { readonly maxFrameBytes?: number | undefined; readonly onObject?: OnObject | undefined },
  ) {
    this.#response = response;
    this.#type = type;
    this.#decoding = decoding;
    this.#maxFrameBytes = options.maxFrameBytes;
    this.#fillKinds = decoding === 'tolerant';
    this.#onObject = options.onObject;
  }

  start(sink: WatchSink<T>): void {
    if (this.#stopped) return;
    const decoder = new FrameDecoder(
      (document) => {
        if (!this.#stopped) sink.next(this.#event(document));
      },
      this.#maxFrameBytes === undefined ? {} : { maxFrameBytes: this.#maxFrameBytes },
    );
    const end = (error?: Error): void => {
      if (this.#stopped) return;
      this.stop();
      sink.end(error);
    };
    const refuse = (error: Error): void => {
      if (this.#stopped) return;
      sink.next(decodeFailure(error));
      end(error);
    };
    const decoded = (decode: () => void): void => {
      try {
        decode();
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        refuse(error);
      }
    };
    /** A document may be whole though its newline never came. */
    const last = (error?: Error): void => {
      if (!this.#stopped) decoded(() => decoder.end());
      end(error);
    };
    const worked = (bytes: number): void => {
      this.#turnBytes += bytes;
      if (this.#turnBytes >= TURN_BYTES) this.#yieldTurn();
    };
    this.#response.body.consume({
      data(chunk) {
        sink.activity?.(chunk.length);
        decoded(() => decoder.push(chunk));
        worked(chunk.length);
      },
      end: () => last(),
      error: (error) => {
        const gone = isProbableEof(error) || (error instanceof TransportError && error.code === 'TIMEOUT');
        if (gone) last(error);
        else refuse(error);
      },
    });
  }

  pause(): void {
    this.#paused = true;
    this.#response.body.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#response.body.resume();
  }

  #yieldTurn(): void {
    this.#turnBytes = 0;
    if (this.#stopped || this.#paused) return;
    this.#response.body.pause();
    void yieldToEventLoop().then(() => {
      if (!this.#stopped && !this.#paused) this.#response.body.resume();
    });
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#response.body.destroy();
  }

  #event(document: unknown): WatchEvent<T> {
    const event = decodeWatchEvent(document, this.#decoding) as WatchEvent<T>;
    if (this.#fillKinds && event.type !== 'ERROR' && event.object.kind === undefined) {
      Object.assign(event.object, { kind: this.#type.kind, apiVersion: this.#type.apiVersion });
    }
    if (event.type !== 'ERROR' && event.type !== 'BOOKMARK') this.#onObject?.(event.object);
    return event;
  }
}

/** Upstream: client-go@v0.30.3:rest/request.go, the error reporter of a watch */
function decodeFailure(error: Error): WatchEvent & { type: 'ERROR' } {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    reason: 'InternalError',
    details: {
      causes: [
        { reason: 'UnexpectedServerResponse', message: error.message },
        { reason: 'ClientWatchDecoding', message: error.message },
      ],
    },
    code: 500,
  };
  return { type: 'ERROR', object: status };
}
