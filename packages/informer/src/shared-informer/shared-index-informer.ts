// A cache with indices, kept up by one or more reflectors, and any number of handlers on it.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#sharedIndexInformer
import { type Clock, type KubernetesObject, OptionsError, realClock } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { type HandlerError, InformerStateError, WaitError } from '../errors.ts';
import type { Fault, InformerStatus } from '../reflector/informer-status.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { BehaviorSubject, Subject } from '../rx/rxjs.ts';
import { CompactObjectTable } from '../store/compact-object-table.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import type { ReadonlyStore } from '../store/store.ts';
import type { IndexFunc } from '../store/store-index.ts';
import { checkHandlerBuffer } from './buffer-policy.ts';
import { changesOf } from './changes.ts';
import { combineStatus, oldestActivity, oldestVersion } from './combine-status.ts';
import type { Handler, HandlerOptions, HandlerRegistration } from './event-handler.ts';
import { eventsObservable } from './events-observable.ts';
import { HandlerRegistry, type SyncedEvent } from './handler-registry.ts';
import type { ChangesOptions, Informer, WhenSyncedOptions } from './informer.ts';
import { defaultFreeze, type InformerSourceSpec, type SharedIndexInformerOptions } from './informer-options.ts';
import { InformerSource } from './informer-source.ts';
import { runSources } from './run-sources.ts';
import type { StoreEvent } from './store-event.ts';
import { untilSynced } from './until-synced.ts';
import { WaitSet } from './wait-set.ts';

/** @example new SharedIndexInformer(new ListWatch(client, Pods), { expected: Pods }).start(); */
export class SharedIndexInformer<T extends KubernetesObject, I extends string = never> implements Informer<T, I> {
  readonly events$: Observable<StoreEvent<T>>;
  readonly #clock: Clock;
  readonly #options: SharedIndexInformerOptions<T, I>;
  readonly #modern: boolean;
  readonly #store: IndexedStore<T, I>;
  readonly #handlers: HandlerRegistry<T>;
  readonly #emitUnchanged: boolean;
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
  #synced: SyncedEvent<T> | undefined;
  #lastSync: number | undefined;
  #lastFault: Fault | undefined;

  constructor(
    source: ListerWatcher<T> | readonly InformerSourceSpec<T>[],
    options: SharedIndexInformerOptions<T, I> = {},
  ) {
    const profile = options.profile ?? 'modern';
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#modern = profile === 'modern';
    this.#emitUnchanged = options.emitUnchanged ?? !this.#modern;
    this.#store = new IndexedStore<T, I>({
      indexers: options.indexers,
      table: options.table?.() ?? (options.storage === 'compact' ? new CompactObjectTable<Live<T>>() : undefined),
      onError: (error) => this.#handlerFault(error),
    });
    this.#handlers = new HandlerRegistry<T>({
      clock: this.#clock,
      parity: !this.#modern,
      emitUnchanged: this.#emitUnchanged,
      resyncMs: options.resyncMs ?? 0,
      buffer: options.handlerBuffer,
      onError: options.onHandlerError,
      waits: this.#waits,
      hasSynced: () => this.hasSynced,
      isRunning: () => this.#running !== undefined,
      storeContent: () => this.#store.list(),
      synced: () => this.#synced,
      report: (error) => this.#handlerFault(error),
      stopInformer: () => void this.close(),
    });
    const specs = 'list' in source ? [{ listerWatcher: source }] : source;
    if (specs.length === 0) throw new OptionsError('source', specs, 'at least one list and watch');
    this.#listsLeft = specs.length;
    this.#sources = specs.map((spec) => this.#source(spec, profile));
    combineStatus(this.#sources.map((each) => each.reflector.status$)).subscribe({
      next: (status) => {
        if (status.phase !== 'stopped') this.#status.next(status);
        this.#waits.notify();
      },
    });
    this.events$ = eventsObservable<T>(
      () => this.#handlers,
      (run) => this.onStop(run),
    );
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
  get lastSyncResourceVersion(): string {
    return oldestVersion(this.#sources.map((source) => source.reflector.lastSyncResourceVersion));
  }
  get lastSync(): number | undefined {
    return this.#lastSync;
  }
  get lastActivity(): number | undefined {
    return oldestActivity(this.#sources.map((source) => source.reflector.lastActivity));
  }
  /** Keys of which the transform refused the newest version. */
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
      handlers: this.#handlers.inspect(),
      reflectors: this.#sources.map((source) => source.reflector.inspect()),
    };
  }

  /** Starts in the background, once; `close` or disposal ends it. */
  start(): void {
    void this.#run();
  }

  /** Runs until the signal aborts; resolves when everything is released. A second call rejects. */
  run(options: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#stopped) return Promise.reject(new InformerStateError('STOPPED', 'a stopped informer cannot run again'));
    if (this.#running !== undefined)
      return Promise.reject(new InformerStateError('ALREADY_RUNNING', 'it runs already'));
    const { signal } = options;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    return this.#run().finally(() => signal.removeEventListener('abort', stop));
  }

  #run(): Promise<void> {
    if (this.#running === undefined) {
      const { signal } = this.#controller;
      this.#running = runSources(this.#sources, signal, () => this.#stopReason).then(() => this.#stop());
    }
    return this.#running;
  }

  /** Stops; resolves when nothing of the informer is left running. The store stays readable. */
  close(): Promise<void> {
    this.#stopReason = 'disposed';
    this.#controller.abort();
    if (this.#running === undefined) this.#stop();
    return this.#running ?? Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  handle(handler: Handler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#stopped) {
      throw new InformerStateError('STOPPED', 'the handler was not added: the informer has stopped already');
    }
    return this.#handlers.register(handler, options);
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
      reuseListed: options.table === undefined && options.storage !== 'compact',
      shareMetadata: options.shareMetadata ?? (this.#modern && options.storage !== 'compact'),
      reflector: {
        ...options,
        clock: this.#clock,
        // The period may still be lowered by a handler before the start.
        resyncPeriodMs: () => this.#handlers.resyncCheckPeriodMs,
        shouldResync: () => this.#handlers.shouldResync(),
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
    if (unchanged && !resync && !this.#emitUnchanged) return;
    this.#handlers.distribute(event, unchanged);
  }

  /** With several sources the first lists count as one. */
  #listDone(resourceVersion: string): void {
    const first = this.#synced === undefined;
    if (this.#listsLeft > 0) this.#listsLeft--;
    if (this.#listsLeft > 0) return;
    this.#lastSync = this.#clock.now();
    this.#synced = { type: 'synced', resourceVersion, size: this.#store.size, first };
    this.#handlers.distribute(this.#synced, false);
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
    this.#handlers.removeAll();
    for (const run of [...this.#stopCallbacks]) run();
    this.#stopCallbacks.clear();
    this.#status.next({ phase: 'stopped', reason: this.#stopReason });
    this.#status.complete();
    this.#faults.complete();
    this.#waits.notify();
  }
}
