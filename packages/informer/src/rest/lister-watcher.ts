// The seam between a reflector and its server; tests replace it.
// Upstream: client-go@v0.30.3:tools/cache/listwatch.go#ListerWatcher
import type { KubernetesObject, ListOptions, WatchEvent } from '@kube-rx/apimachinery';
import type { WatchListSupport } from './watch-list-support.ts';

export interface ListResult<T extends KubernetesObject> {
  readonly items: T[];
  /** Empty when the list has none. */
  readonly resourceVersion: string;
  /** Token of the next page, empty on the last. */
  readonly continue: string;
  readonly remainingItemCount?: number | undefined;
}

export interface ListContext {
  readonly signal: AbortSignal;
  /** Called while items arrive, with how many came since the last call. */
  readonly onItems?: ((count: number) => void) | undefined;
  readonly onObject?: OnObject | undefined;
  /** Asked after `onObject` what is to be kept of an object: itself, or an equal one that is there already. */
  readonly keep?: ((object: KubernetesObject) => KubernetesObject) | undefined;
}

export interface WatchContext {
  readonly signal: AbortSignal;
  readonly onObject?: OnObject | undefined;
}

/** Called for each object as soon as it is decoded; it may be changed in place. Not called for bookmarks and errors. */
export type OnObject = (object: KubernetesObject) => void;

/** Gets the events of one stream, in order, then one `end`. Nothing comes after `stop`. */
export interface WatchSink<T extends KubernetesObject> {
  next(event: WatchEvent<T>): void;
  /** Without an error the server closed the stream, or the connection went away between two events. */
  end(error?: Error): void;
  /** Bytes arrived, whether or not they complete an event. */
  activity?(bytes: number): void;
}

/** An open watch. */
export interface WatchStream<T extends KubernetesObject> {
  /** Starts the flow; to be called once. */
  start(sink: WatchSink<T>): void;
  /** Back-pressure: the connection is not read while paused. Events of what was read before still come. */
  pause(): void;
  resume(): void;
  /** Idempotent. */
  stop(): void;
}

export interface ListerWatcher<T extends KubernetesObject> {
  /** One page, or everything when no limit is set. Rejects with StatusError, TransportError or DecodeError. */
  list(options: ListOptions, context: ListContext): Promise<ListResult<T>>;
  /** Resolves when the server has accepted the watch. */
  watch(options: ListOptions, context: WatchContext): Promise<WatchStream<T>>;
  /** For `initial: 'auto'`; without it the reflector lists. */
  readonly watchListSupport?: WatchListSupport | undefined;
}

/** A stream that is over before it began: what is left of a watch whose connection died too often. */
export function emptyWatch<T extends KubernetesObject>(): WatchStream<T> {
  return { start: (sink) => sink.end(), pause() {}, resume() {}, stop() {} };
}
