// Who listens to an informer: registration at any time, replay of the store, removal, resync periods.
// Upstream: client-go@v0.30.3:tools/cache/shared_informer.go#AddEventHandlerWithResyncPeriod, RemoveEventHandler
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import type { HandlerError } from '../errors.ts';
import { WaitError } from '../errors.ts';
import type { Live } from '../rest/resource-type.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import { checkHandlerBuffer, DEFAULT_HANDLER_BUFFER } from './buffer-policy.ts';
import type { Handler, HandlerErrorPolicy, HandlerOptions, HandlerRegistration } from './event-handler.ts';
import { handlerFunction } from './event-handler.ts';
import { ProcessorListener } from './processor-listener.ts';
import { MINIMUM_RESYNC_MS, SharedProcessor } from './shared-processor.ts';
import type { StoreEvent } from './store-event.ts';
import type { WaitSet } from './wait-set.ts';

export type SyncedEvent<T extends KubernetesObject> = Extract<StoreEvent<T>, { type: 'synced' }>;

export interface HandlerRegistryOptions<T extends KubernetesObject> {
  readonly clock: Clock;
  /** client-go's habits: everybody is due for a resync at first, buffers have no bound. */
  readonly parity: boolean;
  readonly emitUnchanged: boolean;
  readonly resyncMs: number;
  readonly buffer: BufferPolicy | 'unbounded' | undefined;
  readonly onError: HandlerErrorPolicy | undefined;
  readonly waits: WaitSet;
  readonly hasSynced: () => boolean;
  readonly isRunning: () => boolean;
  readonly storeContent: () => Live<T>[];
  /** The last finished list, undefined before the first. */
  readonly synced: () => SyncedEvent<T> | undefined;
  readonly report: (error: HandlerError) => void;
  readonly stopInformer: () => void;
}

export class HandlerRegistry<T extends KubernetesObject> {
  readonly #options: HandlerRegistryOptions<T>;
  readonly #processor: SharedProcessor<T>;
  #count = 0;
  #resyncCheckPeriodMs: number;

  constructor(options: HandlerRegistryOptions<T>) {
    this.#options = options;
    this.#processor = new SharedProcessor<T>(options.clock, options.emitUnchanged);
    this.#resyncCheckPeriodMs = options.resyncMs;
    if (options.buffer !== undefined) checkHandlerBuffer(options.buffer);
  }

  /** How often the reflector asks whether somebody is due, ms. */
  get resyncCheckPeriodMs(): number {
    return this.#resyncCheckPeriodMs;
  }

  inspect(): readonly { readonly name: string; readonly pending: number; readonly hasSynced: boolean }[] {
    return this.#processor.listeners.map(({ name, pending, hasSynced }) => ({ name, pending, hasSynced }));
  }

  shouldResync(): boolean {
    return this.#processor.shouldResync();
  }

  distribute(event: StoreEvent<T>, unchanged: boolean): void {
    this.#processor.distribute(event, unchanged);
  }

  register(handler: Handler<T>, options: HandlerOptions): HandlerRegistration {
    const { buffer = this.#options.buffer ?? (this.#options.parity ? 'unbounded' : DEFAULT_HANDLER_BUFFER), signal } =
      options;
    checkHandlerBuffer(buffer);
    const name = options.name ?? `handler-${++this.#count}`;
    const onError = options.onError ?? this.#options.onError ?? 'report';
    const listener = this.add(handlerFunction(handler), name, buffer, onError, options.resyncMs);
    const remove = (): Promise<void> => {
      signal?.removeEventListener('abort', onAbort);
      return this.remove(listener);
    };
    const onAbort = (): void => void remove();
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    const { waits } = this.#options;
    return {
      name,
      get hasSynced() {
        return listener.hasSynced;
      },
      get pending() {
        return listener.pending;
      },
      whenSynced: ({ signal: until } = {}) =>
        waits.until(() => (listener.hasSynced ? true : removedError(listener)), { signal: until }),
      remove,
      [Symbol.asyncDispose]: remove,
    };
  }

  /** Replay and live events join here, in one turn: nothing is lost and nothing comes twice. */
  add(
    handle: (event: StoreEvent<T>) => void | Promise<void>,
    name: string,
    buffer: BufferPolicy | 'unbounded',
    onError: HandlerErrorPolicy,
    resyncMs: number = this.#options.resyncMs,
  ): ProcessorListener<T> {
    const { clock, waits, hasSynced, storeContent, report, stopInformer, synced } = this.#options;
    const listener = new ProcessorListener<T>({
      name,
      clock,
      handle,
      buffer,
      onError,
      upstreamHasSynced: hasSynced,
      storeContent,
      report,
      stopInformer,
      onProgress: () => waits.notify(),
    });
    this.#processor.addListener(listener, this.#acceptedPeriod(resyncMs), this.#resyncCheckPeriodMs);
    const present = storeContent();
    const last = synced();
    listener.replay(present, last === undefined ? undefined : { ...last, size: present.length, first: true });
    return listener;
  }

  remove(listener: ProcessorListener<T>): Promise<void> {
    this.#processor.removeListener(listener);
    const ended = listener.remove();
    this.#options.waits.notify();
    return ended;
  }

  removeAll(): void {
    for (const listener of this.#processor.listeners) void this.remove(listener);
  }

  /** Before the start a shorter period sets the pace for all; a running informer does not speed up any more. */
  #acceptedPeriod(resyncMs: number): number {
    const periodMs = resyncMs > 0 ? Math.max(resyncMs, MINIMUM_RESYNC_MS) : 0;
    if (periodMs === 0 || periodMs >= this.#resyncCheckPeriodMs) return periodMs;
    if (this.#options.isRunning()) return this.#resyncCheckPeriodMs;
    this.#resyncCheckPeriodMs = periodMs;
    this.#processor.resyncCheckPeriodChanged(periodMs);
    return periodMs;
  }
}

function removedError<T extends KubernetesObject>(listener: ProcessorListener<T>): Error | undefined {
  return listener.removed
    ? new WaitError('NOT_SYNCED', `handler ${listener.name} was removed before it had synced`)
    : undefined;
}
