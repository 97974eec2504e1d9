// List and watch of one resource into a store, for ever: the shell around the state machine.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#Reflector
// Differs: every fault is a value on faults$; stop cancels a running LIST and liveness is watched (neither in the parity profile).
import type { ClockTimer, KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { channels, trace } from '../diagnostics.ts';
import { InformerStateError, ReflectorError } from '../errors.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { listPages } from '../rest/pager.ts';
import { BehaviorSubject, Subject } from '../rx/rxjs.ts';
import { askWatchList } from './ask-watch-list.ts';
import { type BackoffKind, type BackoffManager, createBackoffs } from './backoff-manager.ts';
import { verifyStreamedList } from './data-consistency-detector.ts';
import { failureOf } from './error-classes.ts';
import type { Fault, InformerStatus } from './informer-status.ts';
import { type ReflectorInspection, statusOfPhase, statusOfWait } from './phase-status.ts';
import type { ReflectorEffect, ReflectorInput, ReflectorState } from './reflector-input.ts';
import { INITIAL_STATE } from './reflector-input.ts';
import { type ReflectorMetrics, versionGauge } from './reflector-metrics.ts';
import { type ReflectorOptions, type ResolvedReflectorOptions, resolveReflectorOptions } from './reflector-options.ts';
import { transition } from './reflector-state.ts';
import type { ReflectorStore } from './reflector-store.ts';
import { ResyncTimer } from './resync-timer.ts';
import { WatchRunner } from './watch-runner.ts';

/**
 * @example
 * const reflector = new Reflector(new ListWatch(client, Pods), store);
 * const done = reflector.run({ signal });
 */
export class Reflector<T extends KubernetesObject> {
  readonly #listerWatcher: ListerWatcher<T>;
  readonly #watch: WatchRunner<T>;
  readonly #store: ReflectorStore<T>;
  readonly #options: ResolvedReflectorOptions;
  readonly #backoffs: Readonly<Record<BackoffKind, BackoffManager>>;
  readonly #status = new BehaviorSubject<InformerStatus>({ phase: 'idle' });
  readonly #faults = new Subject<Fault>();
  readonly #resync: ResyncTimer;
  readonly #metrics: ReflectorMetrics | undefined;
  readonly #inputs: ReflectorInput[] = [];
  #dispatching = false;
  #state: ReflectorState = INITIAL_STATE;
  #listed = 0;
  #items: readonly T[] = [];
  #waitTimer: ClockTimer | undefined;
  #signal: AbortSignal | undefined;
  readonly #requests = new AbortController();
  #stopReason: 'aborted' | 'disposed' = 'aborted';
  #finished: (() => void) | undefined;

  constructor(listerWatcher: ListerWatcher<T>, store: ReflectorStore<T>, options: ReflectorOptions = {}) {
    this.#listerWatcher = listerWatcher;
    this.#store = store;
    this.#options = resolveReflectorOptions(options);
    this.#backoffs = createBackoffs(this.#options.backoff, this.#options.policy.earlyCloseMs);
    this.#metrics = this.#options.metrics?.(this.#options.name);
    this.#watch = new WatchRunner<T>({
      listerWatcher,
      store,
      options: this.#options,
      metrics: this.#metrics,
      dispatch: (input) => this.#dispatch(input),
      onFault: (fault) => this.#fault(fault),
      onBookmark: () => this.#status.next(this.#watch.status()),
    });
    this.#resync = new ResyncTimer({
      clock: this.#options.clock,
      periodMs: this.#options.resyncPeriodMs,
      shouldResync: this.#options.shouldResync,
      resync: () => this.#store.resync?.(),
      onError: (error) => this.#watch.streamEnded('resync-failed', error),
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
    const live = this.#state.phase.name === 'watching' ? this.#watch.session?.handler?.resourceVersion : undefined;
    return live ?? this.#watch.cursor;
  }

  /** When the last byte of the present stream came, or of the last one; undefined before the first. */
  get lastActivity(): number | undefined {
    return this.#watch.session?.lastActivity;
  }

  /** Plain data for debugging. */
  inspect(): ReflectorInspection {
    return { name: this.#options.name, state: this.#state, status: this.status, cursor: this.#watch.cursor };
  }

  /** Runs until the signal aborts; resolves when timers and sockets are released, bar what `stopCancels` spares. Rejects when it ran before. */
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
        const { noWatchListUntil } = state;
        if (noWatchListUntil !== this.#state.noWatchListUntil)
          this.#listerWatcher.watchListSupport?.failed(noWatchListUntil);
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
      case 'ask-watch-list':
        this.#askWatchList();
        break;
      case 'list':
        this.#list(effect.resourceVersion, effect.limit);
        break;
      case 'open':
        this.#watch.open(effect.mode, effect.resourceVersion, this.#requests.signal);
        break;
      case 'replace':
        this.#replace(effect.from, effect.resourceVersion);
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

  #askWatchList(): void {
    const answer = (supported: boolean): void => this.#dispatch({ type: 'watch-list-support', supported });
    this.#waitTimer = askWatchList(this.#listerWatcher.watchListSupport, this.#options, this.#signal!, answer);
  }

  #list(resourceVersion: string, limit: number): void {
    const child = childSignal(this.#requests.signal);
    const options: ListOptions = resourceVersion === '' ? {} : { resourceVersion };
    const context = {
      signal: child.signal,
      onItems: (count: number): void => {
        this.#listed += count;
      },
      onObject: this.#options.onObject,
      keep: (object: KubernetesObject): KubernetesObject => this.#store.held?.(object as T) ?? object,
    };
    const { name, clock } = this.#options;
    const askedAt = clock.now();
    channels.list.publish({ resource: name, resourceVersion, limit });
    trace('reflector', name, 'list', { resourceVersion, limit });
    listPages((page, pageContext) => this.#listerWatcher.list(page, pageContext), options, context, { pageSize: limit })
      .then(
        (list) => {
          if (this.#state.phase.name === 'stopped') return;
          this.#items = list.items;
          this.#metrics?.listed((clock.now() - askedAt) / 1000, list.items.length);
          this.#dispatch({ type: 'listed', resourceVersion: list.resourceVersion, paginated: list.paginated });
        },
        (error: unknown) => this.#dispatch({ type: 'failed', failure: failureOf(error) }),
      )
      .finally(() => child.release());
  }

  #replace(from: 'list' | 'initial-events', resourceVersion: string): void {
    const items = from === 'list' ? this.#items : this.#watch.takeInitialItems();
    this.#items = [];
    const before = this.#watch.cursor;
    // Handlers run inside and must find the version they are told about.
    this.#watch.cursor = resourceVersion;
    try {
      this.#store.replace(items, resourceVersion);
    } catch (error) {
      this.#watch.cursor = before;
      this.#watch.close();
      const wrapped = new ReflectorError('STORE_FAILED', this.#options.name, 'unable to replace the store', {
        cause: error,
      });
      this.#dispatch({ type: 'replace-failed', failure: { ...failureOf(wrapped), kind: 'store' } });
      return;
    }
    this.#metrics?.lastResourceVersion(versionGauge(resourceVersion));
    channels.replace.publish({ resource: this.#options.name, resourceVersion, items: items.length });
    trace('reflector', this.#options.name, 'replace', { resourceVersion, items: items.length });
    if (from === 'initial-events') {
      this.#listerWatcher.watchListSupport?.worked();
      if (this.#options.verify !== undefined) {
        const context = { ...this.#options, signal: this.#signal!, listerWatcher: this.#listerWatcher };
        verifyStreamedList(items, resourceVersion, context, (fault) => this.#fault(fault));
      }
      this.#watch.goLive();
    }
    this.#dispatch({ type: 'replaced' });
  }

  #wait(effect: Extract<ReflectorEffect, { type: 'wait' }>): void {
    const { clock, unref } = this.#options;
    const manager = this.#backoffs[effect.backoff];
    const now = clock.now();
    const delayMs = Math.max(manager.next(now), effect.minimumMs);
    this.#metrics?.waits(delayMs / 1000);
    trace('reflector', this.#options.name, 'wait', { delayMs, fault: effect.fault.kind });
    const waited = (): void => {
      this.#waitTimer = undefined;
      this.#dispatch({ type: 'waited' });
    };
    this.#waitTimer = clock.setTimer(waited, delayMs, { unref });
    this.#status.next(statusOfWait(this.#state.phase, effect, now + delayMs, manager.attempt));
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
    this.#listed = 0;
    const status = statusOfPhase(phase, now, () => this.#watch.status());
    if (status !== undefined) this.#status.next(status);
  }

  /** Objects of the running LIST or streaming list that have arrived. */
  get received(): number {
    return this.#state.phase.name === 'listing' ? this.#listed : this.#watch.received;
  }

  #release(): void {
    // Whoever disposes wants nothing left behind, whatever upstream does.
    const cancels = this.#options.policy.stopCancels || this.#stopReason === 'disposed';
    this.#waitTimer?.cancel();
    this.#resync.stop();
    this.#watch.close(!cancels);
    if (cancels) this.#requests.abort(this.#signal?.reason);
    this.#items = [];
    this.#status.next({ phase: 'stopped', reason: this.#stopReason });
    this.#status.complete();
    this.#faults.complete();
    this.#finished?.();
  }
}
