// An informer as its users see it: the informer itself, or a lease on a shared one.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import type { Fault, FaultKind, InformerStatus } from '../reflector/informer-status.ts';
import type { ReadonlyStore } from '../store/store.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import type { Handler, HandlerOptions, HandlerRegistration } from './event-handler.ts';
import type { StoreEvent } from './store-event.ts';

export interface WhenSyncedOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Waits until the cache has seen this resource version, for reading what was just written. Needs versions that are numbers, which
   * every Kubernetes server has.
   */
  readonly requireVersion?: string | undefined;
  /** Rejects at once when the informer is suspended by one of these. @defaultValue none: it waits for it to heal */
  readonly failFast?: readonly FaultKind[] | undefined;
  /** Rejects after so long, ms. @defaultValue 5000 with requireVersion, else no limit */
  readonly timeoutMs?: number | undefined;
}

export interface ChangesOptions {
  /** @defaultValue conflate above 10 000 events */
  readonly buffer?: BufferPolicy | undefined;
  /** Ends the iteration; the loop then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A cache of one resource that follows the server, and its faces.
 *
 * @example
 * await using pods = factory.informer(Pods, { namespaces: ['shop'] });
 * await pods.whenSynced({ signal: AbortSignal.timeout(30_000) });
 * for (const pod of pods.store.list()) console.log(pod.metadata.name);
 */
export interface Informer<T extends KubernetesObject, I extends string = never> extends AsyncDisposable {
  /** Written before any handler hears of a change. Stays readable after the end. */
  readonly store: ReadonlyStore<T, I>;
  /** Hot, replays the present status; completes at the end. */
  readonly status$: Observable<InformerStatus>;
  /** Hot, no replay, never errors; completes at the end. */
  readonly faults$: Observable<Fault>;
  /**
   * Hot. Each subscriber first gets the present store as `added` events, joined with what follows without gap or double. No
   * back-pressure, and a subscriber that throws is not caught: for quick, trusted code. Never errors; completes at the end.
   */
  readonly events$: Observable<StoreEvent<T>>;
  readonly status: InformerStatus;
  readonly hasSynced: boolean;
  readonly isStopped: boolean;
  readonly lastSyncResourceVersion: string;
  /** When the store was last brought up to a whole list, ms since 1970; undefined before the first. */
  readonly lastSync: number | undefined;
  /** When the last byte came from the server, ms since 1970. */
  readonly lastActivity: number | undefined;
  /** Events as an async iterable with a buffer; the next event waits until the loop's body is done. */
  changes(options?: ChangesOptions): AsyncIterableIterator<StoreEvent<T>>;
  /** Adds a handler at any time; it gets the present store first. */
  handle(handler: Handler<T>, options?: HandlerOptions): HandlerRegistration;
  /** Resolves when the first list is in the store. Rejects with a WaitError that names the last fault. */
  whenSynced(options?: WhenSyncedOptions): Promise<void>;
  /** Resolves when the predicate is true of the synced store; asked after every change. */
  waitFor(
    predicate: (store: ReadonlyStore<T, I>) => boolean,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
}
