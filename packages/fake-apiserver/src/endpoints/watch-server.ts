// Serves one watch: pulls events while the client keeps up, ends at its deadline, never waits per event.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/watch.go#WatchServer
//
// Differs: no promise and no copy per event; frames are shared by all watchers of an event.
import type { Clock } from '@kube-rx/apimachinery';
import type { StorageWatch, StorageWatchEvent } from '../storage/interfaces.ts';
import type { WireFrame } from './http.ts';
import type { ObjectEncoder } from './object-encoder.ts';
import type { Shutdown } from './shutdown.ts';

/** Where frames go: an HTTP body or a WebSocket. */
export interface WatchSink {
  /** False when the client does not keep up. */
  write(frame: WireFrame): boolean;
  onDrain(listener: () => void): void;
  end(): void;
}

/** Where sent events are counted. */
export interface WatchMetrics {
  sent(bytes: number): void;
}

export interface ServeWatchOptions {
  readonly watch: StorageWatch;
  readonly sink: WatchSink;
  readonly encoder: ObjectEncoder;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  readonly shutdown: Shutdown;
  readonly onError: (error: unknown) => void;
  readonly metrics?: WatchMetrics | undefined;
}

/** Resolves when the stream has ended and everything it held is released. */
export function serveWatch(options: ServeWatchOptions): Promise<void> {
  return new Promise((resolve) => new WatchServer(options, resolve).start());
}

class WatchServer {
  readonly #options: ServeWatchOptions;
  readonly #finished: () => void;
  #timer: { cancel(): void } | undefined;
  #leaveShutdown: (() => void) | undefined;
  #blocked = false;
  #ended = false;
  #first = true;
  readonly #end = (): void => this.#finish();

  constructor(options: ServeWatchOptions, finished: () => void) {
    this.#options = options;
    this.#finished = finished;
  }

  start(): void {
    const { clock, timeoutMs, signal, shutdown, sink, watch } = this.#options;
    this.#leaveShutdown = shutdown.onBegin(this.#end);
    if (signal.aborted) this.#finish();
    if (this.#ended) return;
    signal.addEventListener('abort', this.#end, { once: true });
    this.#timer = clock.setTimer(this.#end, timeoutMs);
    sink.onDrain(() => {
      this.#blocked = false;
      this.#pump();
    });
    watch.onReadable(() => this.#pump());
    this.#pump();
  }

  #pump(): void {
    const { watch } = this.#options;
    while (!this.#ended && !this.#blocked) {
      const event = watch.next();
      if (event === undefined) {
        if (watch.done) this.#finish();
        return;
      }
      this.#send(event);
    }
  }

  #send(event: StorageWatchEvent): void {
    const { encoder, sink } = this.#options;
    try {
      if (event.type === 'ERROR') {
        sink.write(encoder.errorFrame(event.status));
        this.#finish();
        return;
      }
      const frame = encoder.frame(event.type, event.object, this.#first);
      this.#blocked = !sink.write(frame);
      this.#options.metrics?.sent(frame.bytes.length);
      this.#first = false;
    } catch (error) {
      // An object that cannot be encoded ends the stream without an ERROR event, as upstream.
      this.#options.onError(error);
      this.#finish();
    }
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { sink, watch, signal } = this.#options;
    this.#timer?.cancel();
    this.#leaveShutdown?.();
    signal.removeEventListener('abort', this.#end);
    watch.onReadable(() => {});
    watch.stop();
    sink.end();
    this.#finished();
  }
}
