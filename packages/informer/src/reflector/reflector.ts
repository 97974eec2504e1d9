// List and watch of one resource into a store, for ever: the shell around the state machine.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#Reflector
// Differs: every fault is a value on faults$; stop cancels a running LIST; liveness is watched (off in the parity profile).
import type { ClockTimer, KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { BehaviorSubject, Subject } from 'rxjs';
import { channels, trace } from '../diagnostics.ts';
import { InformerStateError, ReflectorError } from '../errors.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { listPages } from '../rest/pager.ts';
import { BackoffManager } from './backoff-manager.ts';
import { failureOf } from './error-classes.ts';
import type { Fault, InformerStatus } from './informer-status.ts';
import { InitialEventsStore } from './initial-events-store.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import { versionGauge } from './reflector-metrics.ts';
import type { ReflectorOptions, ResolvedReflectorOptions } from './reflector-options.ts';
import { resolveReflectorOptions } from './reflector-options.ts';
import type { ReflectorEffect, ReflectorInput, ReflectorState } from './reflector-state.ts';
import { INITIAL_STATE, transition } from './reflector-state.ts';
import type { ReflectorStore } from './reflector-store.ts';
import { ResyncTimer } from './resync-timer.ts';
import { StreamSession } from './stream-session.ts';
import { WatchHandler } from './watch-handler.ts';

/**
 * @example
 * const reflector = new Reflector(new ListWatch(client, Pods), store);
 * const done = reflector.run({ signal });
 */
export class Reflector<T extends KubernetesObject> {
  readonly #listerWatcher: ListerWatcher<T>;
  readonly #store: ReflectorStore<T>;
  readonly #options: ResolvedReflectorOptions;
  readonly #backoffs: { readonly connect: BackoffManager; readonly relist: BackoffManager };
  readonly #status = new BehaviorSubject<InformerStatus>({ phase: 'idle' });
  readonly #faults = new Subject<Fault>();
  readonly #resync: ResyncTimer;
  readonly #metrics: ReflectorMetrics | undefined;
  readonly #inputs: ReflectorInput[] = [];
  #dispatching = false;
  #state: ReflectorState = INITIAL_STATE;
  #cursor = '';
  #received = 0;
  #items: readonly T[] = [];
  #initialStore = new InitialEventsStore<T>();
  #session: StreamSession<T> | undefined;
  #waitTimer: ClockTimer | undefined;
  #signal: AbortSignal | undefined;
  #stopReason: 'aborted' | 'disposed' = 'aborted';
  #finished: (() => void) | undefined;

  constructor(listerWatcher: ListerWatcher<T>, store: ReflectorStore<T>, options: ReflectorOptions = {}) {
    this.#listerWatcher = listerWatcher;
    this.#store = store;
    this.#options = resolveReflectorOptions(options);
    this.#backoffs = {
      connect: new BackoffManager(this.#options.backoff),
      relist: new BackoffManager(this.#options.backoff),
    };
    this.#metrics = this.#options.metrics?.(this.#options.name);
    this.#resync = new ResyncTimer({
      clock: this.#options.clock,
      periodMs: this.#options.resyncPeriodMs,
      shouldResync: this.#options.shouldResync,
      resync: () => this.#store.resync?.(),
      onError: (error) => this.#streamEnded('resync-failed', error),
    });
  }

  /** Hot, replays the present value; completes when the reflector stops. */
  get status$(): Observable<InformerStatus> {
    return this.#status.asObservable();
  }

  get status(): InformerStatus {
    return this.#status.value;
  }

  /** Hot, without replay; never errors; completes when the reflector stops. */
  get faults$(): Observable<Fault> {
    return this.#faults.asObservable();
  }

  /** Version of the last list, event or bookmark; empty before the first list. */
  get lastSyncResourceVersion(): string {
    const live = this.#state.phase.name === 'watching' ? this.#session?.handler?.resourceVersion : undefined;
    return live ?? this.#cursor;
  }

  /** When the last byte of the present stream came, or of the last one; undefined before the first. */
  get lastActivity(): number | undefined {
    return this.#session?.lastActivity;
  }

  /** Plain data for debugging. */
  inspect(): {
    readonly name: string;
    readonly state: ReflectorState;
    readonly status: InformerStatus;
    readonly cursor: string;
  } {
    return { name: this.#options.name, state: this.#state, status: this.status, cursor: this.#cursor };
  }

  /** Runs until the signal aborts; resolves when every timer and socket is released. Rejects only when it ran before. */
  run(options: { readonly signal: AbortSignal; readonly stopReason?: () => 'aborted' | 'disposed' }): Promise<void> {
    if (this.#signal !== undefined) {
      return Promise.reject(
        new InformerStateError('ALREADY_RUNNING', `reflector of ${this.#options.name} can run once only`),
      );
    }
    const { signal } = options;
    this.#signal = signal;
    return new Promise((resolve) => {
      const stop = (): void => {
        this.#stopReason = options.stopReason?.() ?? 'aborted';
        this.#dispatch({ type: 'stop' });
      };
      this.#finished = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#dispatch({ type: 'start' });
    });
  }

  /** One input after the other: an effect that answers at once is appended, not nested. */
  #dispatch(input: ReflectorInput): void {
    this.#inputs.push(input);
    if (this.#dispatching) return;
    this.#dispatching = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const now = this.#options.clock.now();
        const { state, effects } = transition(this.#state, next, this.#options.policy, now);
        const changed = state.phase !== this.#state.phase;
        this.#state = state;
        if (changed) this.#enter(now);
        for (const effect of effects) this.#perform(effect);
      }
    } finally {
      this.#dispatching = false;
    }
  }

  #perform(effect: ReflectorEffect): void {
    switch (effect.type) {
      case 'list':
        this.#list(effect.resourceVersion, effect.limit);
        break;
      case 'open':
        this.#open(effect.mode, effect.resourceVersion);
        break;
      case 'replace':
        this.#replace(effect.from, effect.resourceVersion);
        break;
      case 'read-stream':
        break;
      case 'wait':
        this.#wait(effect);
        break;
      case 'start-resync':
        this.#resync.start();
        break;
      case 'stop-resync':
        this.#resync.stop();
        break;
      case 'report':
        this.#options.onWatchError(effect.error);
        break;
      case 'fault':
        this.#fault(effect.fault);
        break;
      case 'release':
        this.#release();
        break;
    }
  }

  #list(resourceVersion: string, limit: number): void {
    const child = childSignal(this.#signal);
    const options: ListOptions = resourceVersion === '' ? {} : { resourceVersion };
    const context = {
      signal: child.signal,
      onItems: (count: number): void => {
        this.#received += count;
      },
    };
    const { name, clock } = this.#options;
    const askedAt = clock.now();
    channels.list.publish({ resource: name, resourceVersion, limit });
    trace('reflector', name, 'list', { resourceVersion, limit });
    listPages((page, pageContext) => this.#listerWatcher.list(page, pageContext), options, context, { pageSize: limit })
      .then(
        (list) => {
          this.#items = list.items;
          this.#metrics?.listed((clock.now() - askedAt) / 1000, list.items.length);
          this.#dispatch({ type: 'listed', resourceVersion: list.resourceVersion, paginated: list.paginated });
        },
        (error: unknown) => this.#dispatch({ type: 'failed', failure: failureOf(error) }),
      )
      .finally(() => child.release());
  }

  #replace(from: 'list' | 'initial-events', resourceVersion: string): void {
    const items = from === 'list' ? this.#items : this.#initialStore.items();
    this.#items = [];
    this.#initialStore = new InitialEventsStore();
    const before = this.#cursor;
    // Handlers run inside and must find the version they are told about.
    this.#cursor = resourceVersion;
    try {
      this.#store.replace(items, resourceVersion);
    } catch (error) {
      this.#cursor = before;
      this.#session?.close();
      const wrapped = new ReflectorError('STORE_FAILED', this.#options.name, 'unable to replace the store', {
        cause: error,
      });
      this.#dispatch({ type: 'replace-failed', failure: { ...failureOf(wrapped), kind: 'store' } });
      return;
    }
    this.#metrics?.lastResourceVersion(versionGauge(resourceVersion));
    channels.replace.publish({ resource: this.#options.name, resourceVersion, items: items.length });
    trace('reflector', this.#options.name, 'replace', { resourceVersion, items: items.length });
    if (from === 'initial-events' && this.#session !== undefined) {
      this.#session.restart();
      this.#session.handler = this.#handler(false);
    }
    this.#dispatch({ type: 'replaced' });
  }

  #handler(initial: boolean): WatchHandler<T> {
    return new WatchHandler<T>(this.#cursor, {
      store: initial ? this.#initialStore : this.#store,
      expected: this.#options.expected,
      initial,
      onProblem: (kind, error) => {
        this.#options.logger.error('watch event not applied', { resource: this.#options.name, error });
        this.#fault({
          kind,
          verb: initial ? 'watch-list' : 'watch',
          at: this.#options.clock.now(),
          resourceVersion: this.#cursor,
          error,
        });
      },
    });
  }

  #open(mode: 'watch' | 'watch-list', resourceVersion: string): void {
    const initial = mode === 'watch-list';
    const { clock, unref, random, minWatchTimeoutMs, name } = this.#options;
    const timeoutSeconds = Math.floor((minWatchTimeoutMs / 1000) * (1 + random()));
    this.#session?.close();
    if (initial) this.#initialStore = new InitialEventsStore();
    const openedAt = clock.now();
    const session = new StreamSession<T>({
      clock,
      unref,
      child: childSignal(this.#signal),
      idleLimitMs: (each) => this.#idleLimit(each, timeoutSeconds, openedAt),
      onIdle: (each) => this.#idle(each),
    });
    this.#session = session;
    const options: ListOptions = {
      allowWatchBookmarks: true,
      timeoutSeconds,
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      ...(initial ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const } : {}),
    };
    channels.watch.publish({ resource: name, resourceVersion, mode });
    trace('reflector', name, 'watch', { resourceVersion, mode, timeoutSeconds });
    this.#listerWatcher.watch(options, { signal: session.signal }).then(
      (stream) => {
        session.attach(stream);
        if (session.closed) return;
        session.handler = this.#handler(initial);
        session.activity();
        this.#dispatch({ type: 'opened' });
        stream.start({
          next: (event) => {
            if (!session.closed) this.#event(session, event);
          },
          end: (error) => {
            if (!session.closed) this.#streamEnded('closed', error);
          },
          activity: () => session.activity(),
        });
      },
      (error: unknown) => {
        if (session.closed) return;
        session.close();
        this.#dispatch({ type: 'failed', failure: failureOf(error) });
      },
    );
  }

  #event(session: StreamSession<T>, event: Parameters<WatchHandler<T>['apply']>[0]): void {
    const handler = session.handler!;
    const outcome = handler.apply(event);
    if (outcome.kind === 'error') {
      this.#streamEnded('error-event', outcome.error);
      return;
    }
    const initial = this.#state.phase.name === 'streaming-initial';
    if (initial) {
      this.#received++;
      if (outcome.kind === 'initial-events-end') {
        this.#dispatch({ type: 'initial-events-end', resourceVersion: handler.resourceVersion });
      }
      return;
    }
    this.#cursor = handler.resourceVersion;
    if (event.type === 'BOOKMARK') this.#publishWatching();
  }

  #streamEnded(
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
    this.#metrics?.watched(durationMs / 1000, events, durationMs < 1000 && events === 0);
    this.#metrics?.lastResourceVersion(versionGauge(this.#cursor));
    this.#dispatch({
      type: 'stream-ended',
      how,
      ...(error === undefined ? {} : { failure: failureOf(error) }),
      resourceVersion: this.#cursor,
      events,
      durationMs,
    });
  }

  #idleLimit(session: StreamSession<T>, timeoutSeconds: number, openedAt: number): number {
    const { idleTimeoutMs, initialEventsIdleMs, initialEventsTimeoutMs, policy } = this.#options;
    const { phase } = this.#state;
    const initial = phase.name === 'streaming-initial' || (phase.name === 'opening' && phase.mode === 'watch-list');
    if (initial) {
      if (!policy.boundedWatchList) return 0;
      const leftMs = openedAt + initialEventsTimeoutMs - session.lastActivity;
      return Math.max(Math.min(initialEventsIdleMs, leftMs), 1);
    }
    if (idleTimeoutMs !== undefined) return idleTimeoutMs;
    return session.handler?.bookmark !== undefined ? 180_000 : timeoutSeconds * 1000 + 30_000;
  }

  #idle(session: StreamSession<T>): void {
    if (session.closed) return;
    const { phase } = this.#state;
    const initial = phase.name === 'streaming-initial' || (phase.name === 'opening' && phase.mode === 'watch-list');
    const { name } = this.#options;
    const error = initial
      ? new ReflectorError('INITIAL_EVENTS_TIMEOUT', name, 'the streaming list did not end in time')
      : new ReflectorError('WATCH_IDLE', name, 'no byte came from the watch for too long');
    this.#streamEnded(initial ? 'initial-events-timeout' : 'idle', error);
  }

  #wait(effect: Extract<ReflectorEffect, { type: 'wait' }>): void {
    const { clock, unref } = this.#options;
    const manager = this.#backoffs[effect.backoff];
    const now = clock.now();
    const delayMs = Math.max(manager.next(now), effect.minimumMs);
    this.#metrics?.waits(delayMs / 1000);
    trace('reflector', this.#options.name, 'wait', { delayMs, fault: effect.fault.kind });
    this.#waitTimer = clock.setTimer(
      () => {
        this.#waitTimer = undefined;
        this.#dispatch({ type: 'waited' });
      },
      delayMs,
      { unref },
    );
    const suspended = this.#state.phase.name === 'waiting' && this.#state.phase.suspended;
    const until = now + delayMs;
    this.#status.next(
      suspended
        ? { phase: 'suspended', until, fault: effect.fault }
        : { phase: 'backing-off', until, attempt: manager.attempt, fault: effect.fault },
    );
  }

  #fault(fault: Fault): void {
    channels.fault.publish({ resource: this.#options.name, ...fault });
    this.#metrics?.fault(fault.kind, fault.verb);
    this.#options.onFault(fault);
    this.#faults.next(fault);
  }

  /** Publishes the status of the phase just entered. */
  #enter(now: number): void {
    const { phase } = this.#state;
    if (phase.name === 'listing' || (phase.name === 'opening' && phase.mode === 'watch-list')) {
      this.#received = 0;
      const name = phase.name === 'listing' ? 'listing' : 'streaming-initial';
      this.#status.next({ phase: name, resourceVersion: phase.resourceVersion, received: 0, since: now });
    } else if (phase.name === 'opening') {
      this.#status.next({ phase: 'connecting', resourceVersion: phase.resourceVersion, since: now });
    } else if (phase.name === 'watching') {
      this.#publishWatching();
    }
  }

  /** Objects of the running LIST or streaming list that have arrived. */
  get received(): number {
    return this.#received;
  }

  #publishWatching(): void {
    const session = this.#session;
    const now = this.#options.clock.now();
    const bookmark = session?.handler?.bookmark;
    this.#status.next({
      phase: 'watching',
      resourceVersion: this.#cursor,
      lastActivity: session?.lastActivity ?? now,
      since: session?.startedAt ?? now,
      ...(bookmark === undefined
        ? {}
        : { lastBookmark: { resourceVersion: bookmark, at: session?.lastActivity ?? now } }),
    });
  }

  #release(): void {
    this.#waitTimer?.cancel();
    this.#resync.stop();
    this.#session?.close();
    this.#items = [];
    this.#status.next({ phase: 'stopped', reason: this.#stopReason });
    this.#status.complete();
    this.#faults.complete();
    this.#finished?.();
  }
}
