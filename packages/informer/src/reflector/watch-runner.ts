// The watch half of a reflector: opens streams, applies their events, moves the cursor, and notices when nothing comes any more.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#watch, watchList
import type { KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import { channels, trace } from '../diagnostics.ts';
import { ReflectorError } from '../errors.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { failureOf } from './error-classes.ts';
import type { Fault, InformerStatus } from './informer-status.ts';
import { InitialEventsStore } from './initial-events-store.ts';
import type { ReflectorInput } from './reflector-input.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import { versionGauge } from './reflector-metrics.ts';
import type { ResolvedReflectorOptions } from './reflector-options.ts';
import type { ReflectorStore } from './reflector-store.ts';
import { StreamSession } from './stream-session.ts';
import { VersionDoubt } from './version-doubt.ts';
import { WatchHandler } from './watch-handler.ts';

export interface WatchRunnerOptions<T extends KubernetesObject> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly store: ReflectorStore<T>;
  readonly options: ResolvedReflectorOptions;
  readonly metrics: ReflectorMetrics | undefined;
  readonly dispatch: (input: ReflectorInput) => void;
  readonly onFault: (fault: Fault) => void;
  readonly onBookmark: () => void;
}

/** One stream at a time. `cursor` is the version of the last list, event or bookmark. */
export class WatchRunner<T extends KubernetesObject> {
  readonly #runner: WatchRunnerOptions<T>;
  readonly #options: ResolvedReflectorOptions;
  #session: StreamSession<T> | undefined;
  #initialStore: InitialEventsStore<T>;
  readonly #doubt: VersionDoubt<T>;
  /** How long the server was asked to keep the present stream. */
  #askedMs = 0;
  // The stream is in the phase of its initial events.
  #initial = false;
  cursor = '';
  /** Initial events of the present streaming list. */
  received = 0;

  constructor(runner: WatchRunnerOptions<T>) {
    this.#runner = runner;
    this.#options = runner.options;
    const { clock, unref, policy } = this.#options;
    this.#doubt = new VersionDoubt<T>({
      listerWatcher: runner.listerWatcher,
      clock,
      unref,
      afterMs: policy.silentProbeMs,
    });
    this.#initialStore = new InitialEventsStore<T>(runner.store);
  }

  get session(): StreamSession<T> | undefined {
    return this.#session;
  }

  /** Takes the objects of a finished streaming list. */
  takeInitialItems(): T[] {
    const items = this.#initialStore.items();
    this.#initialStore = new InitialEventsStore<T>(this.#runner.store);
    return items;
  }

  /** The initial events are in the store: the same stream goes on as an ordinary watch. */
  goLive(): void {
    this.#initial = false;
    if (this.#session === undefined) return;
    this.#session.restart();
    this.#session.handler = this.#handler();
  }

  close(spareOpening = false): void {
    this.#session?.close(spareOpening);
  }

  status(): InformerStatus {
    const now = this.#options.clock.now();
    const { lastActivity = now, startedAt: since = now, handler } = this.#session ?? {};
    const resourceVersion = handler?.bookmark;
    return {
      phase: 'watching',
      resourceVersion: this.cursor,
      lastActivity,
      since,
      ...(resourceVersion === undefined ? {} : { lastBookmark: { resourceVersion, at: lastActivity } }),
    };
  }

  #handler(): WatchHandler<T> {
    const initial = this.#initial;
    return new WatchHandler<T>(this.cursor, {
      store: initial ? this.#initialStore : this.#runner.store,
      expected: this.#options.expected,
      initial,
      onProblem: (kind, error) => {
        this.#options.logger.error('watch event not applied', { resource: this.#options.name, error });
        this.#runner.onFault({
          kind,
          verb: initial ? 'watch-list' : 'watch',
          at: this.#options.clock.now(),
          resourceVersion: this.cursor,
          error,
        });
      },
    });
  }

  open(mode: 'watch' | 'watch-list', resourceVersion: string, signal: AbortSignal): void {
    const initial = mode === 'watch-list';
    const { clock, unref, random, minWatchTimeoutMs, name } = this.#options;
    const timeoutSeconds = Math.floor((minWatchTimeoutMs / 1000) * (1 + random()));
    this.#session?.close();
    this.#askedMs = timeoutSeconds * 1000;
    this.#initial = initial;
    this.received = 0;
    if (initial) this.#initialStore = new InitialEventsStore<T>(this.#runner.store);
    const openedAt = clock.now();
    const session = new StreamSession<T>({
      clock,
      unref,
      child: childSignal(signal),
      idleLimitMs: (each) => this.#idleLimit(each, timeoutSeconds, openedAt),
      onIdle: (each) => this.#idle(each),
    });
    this.#session = session;
    if (!initial) this.#checkVersion(session);
    const options: ListOptions = {
      allowWatchBookmarks: true,
      timeoutSeconds,
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      ...(initial ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const } : {}),
    };
    channels.watch.publish({ resource: name, resourceVersion, mode });
    trace('reflector', name, 'watch', { resourceVersion, mode, timeoutSeconds });
    this.#runner.listerWatcher.watch(options, { signal: session.signal, onObject: this.#options.onObject }).then(
      (stream) => {
        session.attach(stream);
        if (session.closed) return;
        session.handler = this.#handler();
        session.activity();
        this.#runner.dispatch({ type: 'opened' });
        stream.start({
          next: (event) => {
            if (!session.closed) this.#event(session, event);
          },
          end: (error) => {
            if (!session.closed) this.streamEnded('closed', error);
          },
          activity: () => session.activity(),
        });
      },
      (error: unknown) => {
        if (session.closed) return;
        session.close();
        this.#doubt.raise(this.cursor);
        this.#runner.dispatch({ type: 'failed', failure: failureOf(error) });
      },
    );
  }

  #checkVersion(session: StreamSession<T>): void {
    const silentAt = (): string | undefined => (session.handler?.events === 0 ? this.cursor : undefined);
    void this.#doubt.check(this.cursor, silentAt, session.signal).then((error) => {
      if (error !== undefined && !session.closed) this.streamEnded('error-event', error);
    });
  }

  #event(session: StreamSession<T>, event: Parameters<WatchHandler<T>['apply']>[0]): void {
    const handler = session.handler!;
    const outcome = handler.apply(event);
    if (outcome.kind === 'error') {
      this.streamEnded('error-event', outcome.error);
      return;
    }
    if (this.#initial) {
      this.received++;
      if (outcome.kind === 'initial-events-end') {
        this.#runner.dispatch({ type: 'initial-events-end', resourceVersion: handler.resourceVersion });
      } else if (event.type === 'BOOKMARK' && this.#options.policy.boundedWatchList) {
        // Servers send none before the mark, so something on the way takes the annotations off.
        this.streamEnded(
          'initial-events-timeout',
          this.#unfinished('the end mark of the streaming list has lost its annotation'),
        );
      }
      return;
    }
    this.cursor = handler.resourceVersion;
    if (event.type === 'BOOKMARK') this.#runner.onBookmark();
  }

  streamEnded(
    how: 'closed' | 'error-event' | 'idle' | 'initial-events-timeout' | 'resync-failed',
    error?: unknown,
  ): void {
    const session = this.#session;
    if (session === undefined) return;
    const wasClosed = session.closed;
    session.close();
    // A resync that fails while the connection is down ends nothing.
    if (wasClosed) return;
    trace('reflector', this.#options.name, 'stream ended', { how, events: session.handler?.events ?? 0, error });
    const events = session.handler?.events ?? 0;
    const durationMs = this.#options.clock.now() - session.startedAt;
    // A server that ends a stream in its own time is there, and has been.
    const lost = how === 'idle' || (how === 'closed' && (error !== undefined || durationMs + 1000 < this.#askedMs));
    if (lost) this.#doubt.raise(this.cursor);
    this.#runner.metrics?.watched(durationMs / 1000, events, durationMs < 1000 && events === 0);
    this.#runner.metrics?.lastResourceVersion(versionGauge(this.cursor));
    this.#runner.dispatch({
      type: 'stream-ended',
      how,
      ...(error === undefined ? {} : { failure: failureOf(error) }),
      resourceVersion: this.cursor,
      events,
      durationMs,
    });
  }

  #idleLimit(session: StreamSession<T>, timeoutSeconds: number, openedAt: number): number {
    const { idleTimeoutMs, initialEventsIdleMs, initialEventsTimeoutMs, policy } = this.#options;
    if (this.#initial) {
      if (!policy.boundedWatchList) return 0;
      const leftMs = openedAt + initialEventsTimeoutMs - session.lastActivity;
      return Math.max(Math.min(initialEventsIdleMs, leftMs), 1);
    }
    if (idleTimeoutMs !== undefined) return idleTimeoutMs;
    return session.handler?.bookmark !== undefined ? 180_000 : timeoutSeconds * 1000 + 30_000;
  }

  #idle(session: StreamSession<T>): void {
    if (session.closed) return;
    const initial = this.#initial;
    const error = initial
      ? this.#unfinished('the streaming list did not end in time')
      : new ReflectorError('WATCH_IDLE', this.#options.name, 'no byte came from the watch for too long');
    this.streamEnded(initial ? 'initial-events-timeout' : 'idle', error);
  }

  #unfinished(why: string): ReflectorError {
    return new ReflectorError('INITIAL_EVENTS_TIMEOUT', this.#options.name, why);
  }
}
