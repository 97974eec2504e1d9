// A cache with indices, kept up by one or more reflectors, and any number of handlers on it.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#sharedIndexInformer
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { compareResourceVersions, OptionsError, realClock } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { BehaviorSubject, Observable as RxObservable, Subject } from 'rxjs';
import type { HandlerError } from '../errors.ts';
import { InformerStateError, WaitError } from '../errors.ts';
import type { Fault, InformerStatus } from '../reflector/informer-status.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { CompactObjectTable } from '../store/compact-object-table.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import type { ReadonlyStore } from '../store/store.ts';
import type { IndexFunc } from '../store/store-index.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import { checkHandlerBuffer, DEFAULT_HANDLER_BUFFER } from './buffer-policy.ts';
import { changesOf } from './changes.ts';
import { combineStatus } from './combine-status.ts';
import type { Handler, HandlerErrorPolicy, HandlerOptions, HandlerRegistration } from './event-handler.ts';
import { handlerFunction } from './event-handler.ts';
import type { ChangesOptions, Informer, WhenSyncedOptions } from './informer.ts';
import type { InformerSourceSpec, SharedIndexInformerOptions } from './informer-options.ts';
import { defaultFreeze } from './informer-options.ts';
import { InformerSource } from './informer-source.ts';
import { ProcessorListener } from './processor-listener.ts';
import { MINIMUM_RESYNC_MS, SharedProcessor } from './shared-processor.ts';
import type { StoreEvent } from './store-event.ts';
import { untilSynced } from './until-synced.ts';
import { WaitSet } from './wait-set.ts';

/**
 * @example
 * const informer = new SharedIndexInformer(new ListWatch(client, Pods), { expected: Pods });
 * informer.handle((event) => console.log(event.type));
 * informer.start();
 */
export class SharedIndexInformer<T extends KubernetesObject, I extends string = never> implements Informer<T, I> {
  readonly events$: Observable<StoreEvent<T>>;
  readonly #clock: Clock;
  readonly #options: SharedIndexInformerOptions<T, I>;
  readonly #modern: boolean;
  readonly #store: IndexedStore<T, I>;
  readonly #processor: SharedProcessor<T>;
  readonly #sources: readonly InformerSource<T>[];
  readonly #status = new BehaviorSubject<InformerStatus>({ phase: 'idle' });
  readonly #faults = new Subject<Fault>();
  readonly #waits = new WaitSet();
  readonly #stopCallbacks = new Set<() => void>();
  readonly #controller = new AbortController();
  #running: Promise<void> | undefined;
  #stopReason: 'aborted' | 'disposed' = 'aborted';
  #stopped = false;
  #listsLeft: number;
  #synced: Extract<StoreEvent<T>, { type: 'synced' }> | undefined;
  #lastFault: Fault | undefined;
  #handlerCount = 0;
  #resyncCheckPeriodMs: number;

  constructor(
    source: ListerWatcher<T> | readonly InformerSourceSpec<T>[],
    options: SharedIndexInformerOptions<T, I> = {},
  ) {
    const profile = options.profile ?? 'modern';
    this.#clock = options.clock ?? realClock;
    this.#options = options;
    this.#modern = profile === 'modern';
    this.#resyncCheckPeriodMs = options.resyncMs ?? 0;
    if (options.handlerBuffer !== undefined) checkHandlerBuffer(options.handlerBuffer);
    this.#store = new IndexedStore<T, I>({
      indexers: options.indexers,
      table: options.table?.() ?? (options.storage === 'compact' ? new CompactObjectTable<Live<T>>() : undefined),
      onError: (error) => this.#handlerFault(error),
    });
    this.#processor = new SharedProcessor<T>(this.#clock, options.emitUnchanged ?? !this.#modern);
    const specs = Array.isArray(source)
      ? (source as readonly InformerSourceSpec<T>[])
      : [{ listerWatcher: source as ListerWatcher<T> }];
    if (specs.length === 0) throw new OptionsError('source', specs, 'at least one list and watch');
    this.#listsLeft = specs.length;
    this.#sources = specs.map((spec) => this.#source(spec, profile));
    combineStatus(this.#sources.map((each) => each.reflector.status$)).subscribe({
      next: (status) => {
        if (status.phase !== 'stopped') this.#status.next(status);
        this.#waits.notify();
      },
    });
    this.events$ = new RxObservable<StoreEvent<T>>((subscriber) => {
      if (this.#stopped) return subscriber.complete();
      const listener = this.#listener((event) => subscriber.next(event), 'events$', 'unbounded', 'crash');
      const forget = this.onStop(() => subscriber.complete());
      this.#addListener(listener, this.#options.resyncMs ?? 0);
      return () => {
        forget();
        this.#removeListener(listener);
      };
    });
  }

  get store(): ReadonlyStore<T, I> {
    return this.#store;
  }
  get status$(): Observable<InformerStatus> {
    return this.#status.asObservable();
  }
  get faults$(): Observable<Fault> {
    return this.#faults.asObservable();
  }
  get status(): InformerStatus {
    return this.#status.value;
  }
  get hasSynced(): boolean {
    return this.#sources.every((source) => source.hasSynced);
  }
  get isStopped(): boolean {
    return this.#stopped;
  }
  /** Of several sources the oldest, so that what it says is true of all. */
  get lastSyncResourceVersion(): string {
    const versions = this.#sources.map((source) => source.reflector.lastSyncResourceVersion);
    return versions.reduce((oldest, each) => ((compareResourceVersions(each, oldest) ?? 0) < 0 ? each : oldest));
  }
  get lastActivity(): number | undefined {
    const times = this.#sources.flatMap((source) => source.reflector.lastActivity ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }
  /** Keys whose newest version the transform refused. */
  get broken(): readonly string[] {
    return this.#sources.flatMap((source) => [...source.broken]);
  }

  /** Plain data for debugging. */
  inspect(): Readonly<Record<string, unknown>> {
    return {
      name: this.#options.name ?? this.#options.expected?.kind,
      status: this.status,
      size: this.#store.size,
      hasSynced: this.hasSynced,
      queued: this.#sources.reduce((sum, source) => sum + source.queueLength, 0),
      handlers: this.#processor.listeners.map((each) => ({
        name: each.name,
        pending: each.pending,
        hasSynced: each.hasSynced,
      })),
      reflectors: this.#sources.map((source) => source.reflector.inspect()),
    };
  }

  /** Starts in the background, once; `close` or disposal ends it. */
  start(): void {
    void this.#run();
  }

  /** Runs until the signal aborts; resolves when everything is released. A second call rejects. */
  run(options: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#running !== undefined || this.#stopped) {
      const text = 'the informer has run already; it cannot be started again';
      return Promise.reject(new InformerStateError(this.#stopped ? 'STOPPED' : 'ALREADY_RUNNING', text));
    }
    const { signal } = options;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    return this.#run().finally(() => signal.removeEventListener('abort', stop));
  }

  #run(): Promise<void> {
    if (this.#running === undefined) {
      const { signal } = this.#controller;
      const runs = this.#sources.map((source) => source.run(signal, () => this.#stopReason));
      this.#running = Promise.all(runs).then(() => this.#stop());
    }
    return this.#running;
  }

  /** Stops; resolves when nothing of the informer is left running. The store stays readable. */
  close(): Promise<void> {
    this.#stopReason = 'disposed';
    this.#controller.abort();
    if (this.#running !== undefined) return this.#running;
    this.#stop();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  handle(handler: Handler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#stopped)
      throw new InformerStateError('STOPPED', 'the handler was not added: the informer has stopped already');
    const name = options.name ?? `handler-${++this.#handlerCount}`;
    const buffer =
      options.buffer ?? this.#options.handlerBuffer ?? (this.#modern ? DEFAULT_HANDLER_BUFFER : 'unbounded');
    checkHandlerBuffer(buffer);
    const listener = this.#listener(
      handlerFunction(handler),
      name,
      buffer,
      options.onError ?? this.#options.onHandlerError ?? 'report',
    );
    this.#addListener(listener, options.resyncMs ?? this.#options.resyncMs ?? 0);
    const { signal } = options;
    const remove = (): Promise<void> => {
      signal?.removeEventListener('abort', onAbort);
      return this.#removeListener(listener);
    };
    const onAbort = (): void => void remove();
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    const waits = this.#waits;
    return {
      name,
      get hasSynced() {
        return listener.hasSynced;
      },
      get pending() {
        return listener.pending;
      },
      whenSynced: ({ signal: until } = {}) =>
        waits.until(() => (listener.hasSynced ? true : this.#ended(listener)), { signal: until }),
      remove,
      [Symbol.asyncDispose]: remove,
    };
  }

  changes(options: ChangesOptions = {}): AsyncIterableIterator<StoreEvent<T>> {
    if (options.buffer !== undefined) checkHandlerBuffer(options.buffer);
    return changesOf<T>(this, options);
  }

  /** Calls back once when the informer stops, at once when it has; returns how to take it back. */
  onStop(run: () => void): () => void {
    if (this.#stopped) {
      run();
      return () => {};
    }
    this.#stopCallbacks.add(run);
    return () => void this.#stopCallbacks.delete(run);
  }

  whenSynced(options: WhenSyncedOptions = {}): Promise<void> {
    return untilSynced(
      {
        waits: this.#waits,
        clock: this.#clock,
        name: this.#options.name ?? this.#options.expected?.kind ?? 'informer',
        hasSynced: () => this.hasSynced,
        stopped: () => this.#stopped,
        status: () => this.status,
        lastFault: () => this.#lastFault,
        versions: () => this.#sources.map((source) => source.reflector.lastSyncResourceVersion),
      },
      options,
    );
  }

  waitFor(
    predicate: (store: ReadonlyStore<T, I>) => boolean,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    return this.#waits.until(() => {
      if (this.hasSynced && predicate(this.#store)) return true;
      return this.#stopped
        ? new WaitError('NOT_SYNCED', 'the informer stopped before the condition was met')
        : undefined;
    }, options);
  }

  /** Adds indices at any time until the informer stops; a name that exists throws. */
  addIndexers(indexers: Readonly<Record<string, IndexFunc<Live<T>>>>): void {
    if (this.#stopped) throw new InformerStateError('STOPPED', 'the informer has stopped already');
    this.#store.addIndexers(indexers);
  }

  #source(spec: InformerSourceSpec<T>, profile: 'modern' | 'client-go-1.30'): InformerSource<T> {
    const options = this.#options;
    return new InformerSource<T>(spec, {
      store: this.#store as IndexedStore<T, string>,
      queue: options.queue ?? (this.#modern ? 'real' : 'delta'),
      transform: options.transform,
      freeze: options.freeze ?? defaultFreeze(profile),
      reflector: {
        ...options,
        clock: this.#clock,
        // The period may still be lowered by a handler before the start.
        resyncPeriodMs: () => this.#resyncCheckPeriodMs,
        shouldResync: () => this.#processor.shouldResync(),
        onFault: (fault) => {
          this.#fault(fault);
          options.onFault?.(fault);
        },
      },
      notify: (event, unchanged) => this.#notify(event, unchanged),
      onListDone: (resourceVersion) => this.#listDone(resourceVersion),
      onDrained: () => this.#waits.notify(),
      onTransformError: (error) => this.#handlerFault(error),
    });
  }

  #notify(event: StoreEvent<T>, unchanged: boolean): void {
    const resync = event.type === 'updated' && event.cause === 'resync';
    if (unchanged && !resync && !(this.#options.emitUnchanged ?? !this.#modern)) return;
    this.#processor.distribute(event, unchanged);
  }

  /** With several sources the first lists count as one. */
  #listDone(resourceVersion: string): void {
    const first = this.#synced === undefined;
    if (this.#listsLeft > 0) this.#listsLeft--;
    if (this.#listsLeft > 0) return;
    this.#synced = { type: 'synced', resourceVersion, size: this.#store.size, first };
    this.#processor.distribute(this.#synced, false);
  }

  #listener(
    handle: (event: StoreEvent<T>) => void | Promise<void>,
    name: string,
    buffer: BufferPolicy | 'unbounded',
    onError: HandlerErrorPolicy,
  ): ProcessorListener<T> {
    return new ProcessorListener<T>({
      name,
      clock: this.#clock,
      handle,
      buffer,
      onError,
      upstreamHasSynced: () => this.hasSynced,
      storeContent: () => this.#store.list(),
      report: (error) => this.#handlerFault(error),
      stopInformer: () => void this.close(),
      onProgress: () => this.#waits.notify(),
    });
  }

  /** Replay and live events join here, in one turn: nothing is lost and nothing comes twice. */
  #addListener(listener: ProcessorListener<T>, resyncMs: number): void {
    let periodMs = resyncMs > 0 ? Math.max(resyncMs, MINIMUM_RESYNC_MS) : 0;
    if (periodMs > 0 && periodMs < this.#resyncCheckPeriodMs) {
      if (this.#running !== undefined) periodMs = this.#resyncCheckPeriodMs;
      else {
        this.#resyncCheckPeriodMs = periodMs;
        this.#processor.resyncCheckPeriodChanged(periodMs);
      }
    }
    this.#processor.addListener(listener, periodMs, this.#resyncCheckPeriodMs);
    for (const object of this.#store.list()) listener.add({ type: 'added', object, initial: true, cause: 'replay' });
    if (this.#synced !== undefined) listener.add({ ...this.#synced, size: this.#store.size, first: true });
  }

  #removeListener(listener: ProcessorListener<T>): Promise<void> {
    this.#processor.removeListener(listener);
    const ended = listener.remove();
    this.#waits.notify();
    return ended;
  }

  #ended(listener: ProcessorListener<T>): Error | undefined {
    if (listener.removed)
      return new WaitError('NOT_SYNCED', `handler ${listener.name} was removed before it had synced`);
    return undefined;
  }

  #handlerFault(error: HandlerError): void {
    const fault: Fault = { kind: 'handler', verb: 'watch', at: this.#clock.now(), resourceVersion: '', error };
    this.#fault(fault);
    this.#options.onFault?.(fault);
  }

  #fault(fault: Fault): void {
    if (fault.kind !== 'handler') this.#lastFault = fault;
    this.#faults.next(fault);
    this.#waits.notify();
  }

  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const listener of this.#processor.listeners) this.#removeListener(listener);
    for (const run of [...this.#stopCallbacks]) run();
    this.#stopCallbacks.clear();
    this.#status.next({ phase: 'stopped', reason: this.#stopReason });
    this.#status.complete();
    this.#faults.complete();
    this.#waits.notify();
  }
}
