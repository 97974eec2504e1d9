// Handlers and their registration.
// Upstream: client-go@v0.30.3:tools/cache/controller.go#ResourceEventHandler, FilteringResourceEventHandler
// Differs: a deletion carries the last known object and a flag instead of a tombstone of another type; handlers may be async.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import type { StoreEvent } from './store-event.ts';

type Awaitable = void | Promise<void>;

/** client-go's three callbacks. What is left out is not called. */
export interface ResourceEventHandler<T extends KubernetesObject> {
  onAdd?(object: Live<T>, isInInitialList: boolean): Awaitable;
  onUpdate?(previous: Live<T>, object: Live<T>): Awaitable;
  /** `finalStateUnknown`: the deletion itself was missed, the object is the last state that was seen. */
  onDelete?(object: Live<T>, finalStateUnknown: boolean): Awaitable;
}

/** One function for all events, or client-go's callbacks. A returned promise is awaited before the next event. */
export type Handler<T extends KubernetesObject> = ((event: StoreEvent<T>) => Awaitable) | ResourceEventHandler<T>;

/** What happens when a handler throws or rejects. */
export type HandlerErrorPolicy =
  /** A fault of kind `handler`; the event counts as delivered, the next one follows. */
  | 'report'
  /** As report, then this handler gets nothing more. */
  | 'stop-handler'
  /** As report, then the informer stops. */
  | 'stop-informer'
  /** The error becomes an uncaught exception, as in client-go. */
  | 'crash';

export interface HandlerOptions {
  /** For faults and debugging. @defaultValue `handler-N` */
  readonly name?: string | undefined;
  /** How often this handler wants every object again, ms; at least 1000, 0 is never. @defaultValue the informer's */
  readonly resyncMs?: number | undefined;
  /** @defaultValue conflate above 10 000 events */
  readonly buffer?: BufferPolicy | 'unbounded' | undefined;
  /** @defaultValue the informer's, which is `report` */
  readonly onError?: HandlerErrorPolicy | undefined;
  /** Removes the handler when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Returned by `handle`; disposing it removes the handler. */
export interface HandlerRegistration extends AsyncDisposable {
  readonly name: string;
  /** This handler has finished with the first state it was given. */
  readonly hasSynced: boolean;
  /** Events that wait for this handler. */
  readonly pending: number;
  whenSynced(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * No event comes after this call. Resolves when a running call of the handler has ended, at once when called from inside a
   * synchronous handler. An async handler must not await its own removal.
   */
  remove(): Promise<void>;
}

/** Both shapes as one function. */
export function handlerFunction<T extends KubernetesObject>(handler: Handler<T>): (event: StoreEvent<T>) => Awaitable {
  if (typeof handler === 'function') return handler;
  return (event) => {
    switch (event.type) {
      case 'added':
        return handler.onAdd?.(event.object, event.initial);
      case 'updated':
        return handler.onUpdate?.(event.previous, event.object);
      case 'deleted':
        return handler.onDelete?.(event.object, event.finalState === 'unknown');
      case 'synced':
        return;
      default:
        return event satisfies never;
    }
  };
}

/**
 * Shows a handler only the objects for which `accepts` is true; an update that crosses the border becomes an addition or a deletion.
 * A deletion caused that way carries the last object that was accepted.
 */
export function filteringHandler<T extends KubernetesObject>(
  accepts: (object: Live<T>) => boolean,
  handler: Handler<T>,
): (event: StoreEvent<T>) => Awaitable {
  const next = handlerFunction(handler);
  return (event) => {
    if (event.type === 'synced') return next(event);
    if (event.type !== 'updated') return accepts(event.object) ? next(event) : undefined;
    const before = accepts(event.previous);
    const after = accepts(event.object);
    if (before && after) return next(event);
    const cause = event.cause === 'resync' ? 'watch' : event.cause;
    if (after) return next({ type: 'added', object: event.object, initial: false, cause });
    if (before) return next({ type: 'deleted', object: event.previous, finalState: 'known', cause });
  };
}
