// One watch as an AsyncIterable: the consumer sets the pace, down to the socket.
import type { KubernetesObject, WatchEvent } from '@kube-rx/apimachinery';
import { StatusError } from '@kube-rx/apimachinery';
import type { ChildSignal } from '../rest/child-signal.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { WatchStream } from '../rest/lister-watcher.ts';
import { Fifo } from '../workqueue/fifo.ts';

/** What a raw watch delivers; an ERROR event is thrown as a StatusError instead. */
export type LiveWatchEvent<T extends KubernetesObject> = Exclude<WatchEvent<T>, { type: 'ERROR' }>;

export type OpenWatch<T extends KubernetesObject> = (signal: AbortSignal) => Promise<WatchStream<T>>;

export interface WatchEventsOptions {
  readonly signal?: AbortSignal | undefined;
  readonly highWaterMark?: number | undefined;
}

const DEFAULT_HIGH_WATER_MARK = 128;

/**
 * Cold and for one consumer: each `for await` opens a watch of its own. It ends when the server ends the watch, and throws a
 * StatusError for an ERROR event, what the connection failed with, or the signal's reason. Leaving the loop closes the
 * connection. At the high-water mark the socket is no longer read; a server cuts off a watcher that stays slow.
 */
export function watchEvents<T extends KubernetesObject>(
  open: OpenWatch<T>,
  options: WatchEventsOptions = {},
): AsyncIterable<LiveWatchEvent<T>> {
  return { [Symbol.asyncIterator]: () => new WatchIterator(open, options) };
}

interface Waiter<T extends KubernetesObject> {
  readonly resolve: (result: IteratorResult<LiveWatchEvent<T>, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

class WatchIterator<T extends KubernetesObject> implements AsyncIterator<LiveWatchEvent<T>, undefined, undefined> {
  readonly #highWaterMark: number;
  readonly #open: OpenWatch<T>;
  readonly #child: ChildSignal;
  readonly #events = new Fifo<WatchEvent<T>>();
  readonly #waiters = new Fifo<Waiter<T>>();
  #stream: WatchStream<T> | undefined;
  #state: 'new' | 'open' | 'ended' = 'new';
  #error: { readonly value: unknown } | undefined;
  #paused = false;

  constructor(open: OpenWatch<T>, options: WatchEventsOptions) {
    this.#open = open;
    this.#highWaterMark = options.highWaterMark ?? DEFAULT_HIGH_WATER_MARK;
    this.#child = childSignal(options.signal);
  }

  next(): Promise<IteratorResult<LiveWatchEvent<T>, undefined>> {
    if (this.#state === 'new') this.#start();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#serve();
    });
  }

  return(): Promise<IteratorResult<LiveWatchEvent<T>, undefined>> {
    this.#events.clear();
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #start(): void {
    this.#state = 'open';
    const { signal } = this.#child;
    if (signal.aborted) {
      this.#end({ value: signal.reason });
      return;
    }
    // What came before the abort is not delivered any more: the consumer asked to stop.
    signal.addEventListener(
      'abort',
      () => {
        if (this.#state !== 'open') return;
        this.#events.clear();
        this.#end({ value: signal.reason });
      },
      { once: true },
    );
    this.#open(signal).then(
      (stream) => this.#opened(stream),
      (error: unknown) => this.#end({ value: error }),
    );
  }

  #opened(stream: WatchStream<T>): void {
    if (this.#state !== 'open') {
      stream.stop();
      return;
    }
    this.#stream = stream;
    stream.start({
      next: (event) => {
        if (this.#state !== 'open') return;
        this.#events.push(event);
        if (!this.#paused && this.#events.length >= this.#highWaterMark) {
          this.#paused = true;
          stream.pause();
        }
        this.#serve();
      },
      end: (error) => this.#end(error === undefined ? undefined : { value: error }),
    });
  }

  #serve(): void {
    while (this.#waiters.length > 0) {
      const event = this.#events.shift();
      if (event === undefined && this.#state !== 'ended') return;
      const waiter = this.#waiters.shift()!;
      if (event === undefined) {
        const error = this.#error;
        this.#error = undefined;
        if (error === undefined) waiter.resolve({ done: true, value: undefined });
        else waiter.reject(error.value);
      } else if (event.type === 'ERROR') {
        this.#events.clear();
        this.#end();
        this.#error = undefined;
        waiter.reject(new StatusError(event.object));
      } else {
        this.#resume();
        waiter.resolve({ done: false, value: event });
      }
    }
  }

  #resume(): void {
    if (!this.#paused || this.#events.length > this.#highWaterMark / 2) return;
    this.#paused = false;
    this.#stream?.resume();
  }

  #end(error?: { readonly value: unknown }): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#error = error;
    this.#stream?.stop();
    this.#child.abort();
    this.#child.release();
    this.#serve();
  }
}
