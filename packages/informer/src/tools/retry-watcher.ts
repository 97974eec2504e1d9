// One watch over many connections: it reconnects where the last one ended, and gives up when the server no longer has the history.
// Upstream: client-go@v0.30.3:tools/watch/retrywatcher.go#RetryWatcher
// Differs: a refused connect with 410, and by default with 401 and 403 (as client-go from 0.37), ends it instead of being
// repeated for ever; each connection is asked to end after some minutes and given up when it does not.
import type { Clock, ClockTimer, KubernetesObject, Logger, Status } from '@kube-rx/apimachinery';
import {
  isExpiredOrGone,
  isForbidden,
  isUnauthorized,
  OptionsError,
  realClock,
  resourceVersionOf,
  silentLogger,
  statusOf,
} from '@kube-rx/apimachinery';
import type { LiveWatchEvent } from '../client/watch-iterable.ts';
import { watchEvents } from '../client/watch-iterable.ts';
import type { ChildSignal } from '../rest/child-signal.ts';
import { childSignal } from '../rest/child-signal.ts';
import { MAX_RETRY_AFTER_MS } from '../rest/http-status.ts';
import type { ListerWatcher, WatchSink, WatchStream } from '../rest/lister-watcher.ts';
import { isProbableEof } from '../rest/network-errors.ts';

export interface RetryWatcherOptions {
  /** Where to start: the version of a list or an object; neither empty nor `0`. */
  readonly resourceVersion: string;
  /** Least time between two connects, ms. @defaultValue 1000 */
  readonly minRestartDelayMs?: number;
  /** What a refusal with 401 or 403 does. @defaultValue 'end' */
  readonly onForbidden?: 'end' | 'retry';
  /**
   * How long one connection may last, ms: the server is asked to end it then, and one that it has not ended 30 s later is taken for
   * dead. 0 asks for nothing and trusts every connection for ever, as client-go does. @defaultValue 300 000
   */
  readonly watchTimeoutMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_MIN_RESTART_DELAY_MS = 1000;
const DEFAULT_WATCH_TIMEOUT_MS = 300_000;
const DEAD_AFTER_MS = 30_000;

/** Delivers ADDED, MODIFIED and DELETED; an ERROR event is the last one. Bookmarks only move its place. Never lists. */
export class RetryWatcher<T extends KubernetesObject> implements WatchStream<T> {
  readonly #watcher: Pick<ListerWatcher<T>, 'watch'>;
  readonly #options: RetryWatcherOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #child: ChildSignal;
  #sink: WatchSink<T> | undefined;
  #stream: WatchStream<T> | undefined;
  #attempt: ChildSignal | undefined;
  // Until the next connect, or the end of the present one.
  #timer: ClockTimer | undefined;
  #resourceVersion: string;
  #connectedAt = Number.NEGATIVE_INFINITY;
  #paused = false;
  #ended = false;

  constructor(watcher: Pick<ListerWatcher<T>, 'watch'>, options: RetryWatcherOptions) {
    const { resourceVersion } = options;
    if (resourceVersion === '' || resourceVersion === '0') {
      throw new OptionsError('resourceVersion', resourceVersion, 'the version of a list or an object');
    }
    this.#watcher = watcher;
    this.#options = options;
    this.#resourceVersion = resourceVersion;
    this.#clock = options.clock ?? realClock;
    this.#logger = options.logger ?? silentLogger;
    this.#child = childSignal(options.signal);
  }

  /** Where the next connect would begin. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  start(sink: WatchSink<T>): void {
    this.#sink = sink;
    if (this.#child.signal.aborted) {
      this.#end();
      return;
    }
    this.#child.signal.addEventListener('abort', () => this.#end(), { once: true });
    this.#connect();
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#stream?.resume();
  }

  stop(): void {
    this.#ended = true;
    this.#release();
  }

  #connect(): void {
    this.#timer = undefined;
    this.#connectedAt = this.#clock.now();
    const timeoutMs = this.#options.watchTimeoutMs ?? DEFAULT_WATCH_TIMEOUT_MS;
    const options = {
      resourceVersion: this.#resourceVersion,
      allowWatchBookmarks: true,
      ...(timeoutMs > 0 ? { timeoutSeconds: Math.ceil(timeoutMs / 1000) } : {}),
    };
    // One that is given up must not come back later.
    const attempt = childSignal(this.#child.signal);
    this.#attempt?.release();
    this.#attempt = attempt;
    if (timeoutMs > 0) this.#timer = this.#clock.setTimer(() => this.#givenUp(attempt), timeoutMs + DEAD_AFTER_MS);
    this.#watcher.watch(options, { signal: attempt.signal }).then(
      (stream) => this.#opened(stream, attempt),
      (error: unknown) => {
        if (this.#attempt === attempt) this.#refused(error);
      },
    );
  }

  #givenUp(attempt: ChildSignal): void {
    this.#logger.warn('watch did not end in time', { resourceVersion: this.#resourceVersion });
    attempt.abort();
    this.#reconnect(0);
  }

  #opened(stream: WatchStream<T>, attempt: ChildSignal): void {
    if (this.#ended || this.#attempt !== attempt || attempt.signal.aborted) {
      stream.stop();
      return;
    }
    this.#stream = stream;
    if (this.#paused) stream.pause();
    stream.start({
      next: (event) => {
        if (!this.#ended && this.#stream === stream) this.#event(event);
      },
      end: () => {
        if (this.#stream === stream) this.#reconnect(0);
      },
      activity: (bytes) => this.#sink?.activity?.(bytes),
    });
  }

  #refused(error: unknown): void {
    if (this.#ended) return;
    const ends =
      isExpiredOrGone(error) ||
      ((this.#options.onForbidden ?? 'end') === 'end' && (isUnauthorized(error) || isForbidden(error)));
    const status = statusOf(error);
    if (ends && status !== undefined) {
      this.#fail(status);
      return;
    }
    if (!isProbableEof(error)) this.#logger.warn('watch refused', { error, resourceVersion: this.#resourceVersion });
    this.#reconnect((status?.details?.retryAfterSeconds ?? 0) * 1000);
  }

  #event(event: Parameters<WatchSink<T>['next']>[0]): void {
    if (event.type === 'ERROR') {
      const status = statusOf(event.object);
      if (status?.code === 410) this.#fail(status);
      else this.#reconnect((status?.details?.retryAfterSeconds ?? 0) * 1000);
      return;
    }
    const resourceVersion = resourceVersionOf(event.object);
    if (resourceVersion === '') {
      this.#fail(internalError(`object of the ${event.type} event has no resource version`));
      return;
    }
    this.#resourceVersion = resourceVersion;
    if (event.type !== 'BOOKMARK') this.#sink?.next(event);
  }

  #reconnect(retryAfterMs: number): void {
    this.#timer?.cancel();
    this.#stream?.stop();
    this.#stream = undefined;
    this.#attempt?.release();
    this.#attempt = undefined;
    if (this.#ended) return;
    const minimum = this.#options.minRestartDelayMs ?? DEFAULT_MIN_RESTART_DELAY_MS;
    const waitMs = Math.max(
      Math.min(retryAfterMs, MAX_RETRY_AFTER_MS),
      this.#connectedAt + minimum - this.#clock.now(),
    );
    this.#timer = this.#clock.setTimer(() => this.#connect(), waitMs);
  }

  #fail(status: Status): void {
    this.#sink?.next({ type: 'ERROR', object: status });
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
    this.#sink?.end();
  }

  #release(): void {
    this.#timer?.cancel();
    this.#attempt?.abort();
    this.#attempt?.release();
    this.#attempt = undefined;
    this.#stream?.stop();
    this.#stream = undefined;
    this.#child.abort();
    this.#child.release();
  }
}

export interface RetryWatchOptions extends RetryWatcherOptions {
  /** Events that may wait for the consumer before the connection is no longer read. @defaultValue 128 */
  readonly highWaterMark?: number;
}

/**
 * A {@link RetryWatcher} as an AsyncIterable with back-pressure. Throws the Status that ended it, as a StatusError: `isExpiredOrGone`
 * means list again.
 */
export function retryWatch<T extends KubernetesObject>(
  watcher: Pick<ListerWatcher<T>, 'watch'>,
  options: RetryWatchOptions,
): AsyncIterable<LiveWatchEvent<T>> {
  const { highWaterMark, signal, ...rest } = options;
  return watchEvents((own) => Promise.resolve().then(() => new RetryWatcher<T>(watcher, { ...rest, signal: own })), {
    signal,
    highWaterMark,
  });
}

function internalError(message: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'InternalError',
    code: 500,
  };
}
