// Applies one watch stream to a store and moves the cursor, event by event.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#watchHandler
import type { KubernetesObject, WatchEvent } from '@kube-rx/apimachinery';
import { isInitialEventsEnd, resourceVersionOf, StatusError } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';
import type { ReflectorStore } from './reflector-store.ts';

export interface ExpectedType {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface WatchHandlerOptions<T extends KubernetesObject> {
  readonly store: ReflectorStore<T>;
  /** Events of other kinds are skipped and counted nowhere. Undefined accepts all. */
  readonly expected: ExpectedType | undefined;
  /** In the initial phase of a streaming list the annotated bookmark ends the phase. */
  readonly initial: boolean;
  /** A skipped event, or an object the store refused. */
  readonly onProblem: (kind: 'decode' | 'store', error: Error) => void;
}

export type EventOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'initial-events-end' }
  | { readonly kind: 'error'; readonly error: Error };

const APPLIED: EventOutcome = { kind: 'applied' };
const INITIAL_EVENTS_END: EventOutcome = { kind: 'initial-events-end' };

export class WatchHandler<T extends KubernetesObject> {
  readonly #options: WatchHandlerOptions<T>;
  #events = 0;
  #resourceVersion: string;
  #bookmark: string | undefined;

  constructor(resourceVersion: string, options: WatchHandlerOptions<T>) {
    this.#resourceVersion = resourceVersion;
    this.#options = options;
  }

  /** Events applied so far, bookmarks included. */
  get events(): number {
    return this.#events;
  }

  /** Version of the last event or bookmark. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Version of the last bookmark, undefined before the first. */
  get bookmark(): string | undefined {
    return this.#bookmark;
  }

  apply(event: WatchEvent<T>): EventOutcome {
    if (event.type === 'ERROR') return { kind: 'error', error: errorOf(event.object) };
    const { expected, store } = this.#options;
    const { object } = event;
    if (expected !== undefined && (object.kind !== expected.kind || object.apiVersion !== expected.apiVersion)) {
      const text = `expected ${expected.apiVersion} ${expected.kind}, but the watch sent ${object.apiVersion} ${object.kind}`;
      this.#options.onProblem('decode', new DecodeError('BAD_EVENT', text));
      return APPLIED;
    }
    // Rows for people; nothing a cache could hold.
    if (object.kind === 'Table' && object.apiVersion?.startsWith('meta.k8s.io/')) {
      this.#options.onProblem('decode', new DecodeError('BAD_EVENT', 'the watch sent a Table in place of objects'));
      return APPLIED;
    }
    let ended = false;
    const resourceVersion = resourceVersionOf(object);
    // Before the store is written: handlers run inside.
    this.#resourceVersion = resourceVersion;
    try {
      if (event.type === 'ADDED') store.add(event.object);
      else if (event.type === 'MODIFIED') store.update(event.object);
      else if (event.type === 'DELETED') store.delete(event.object);
      else ended = this.#options.initial && isInitialEventsEnd(event as WatchEvent);
    } catch (error) {
      this.#options.onProblem('store', error instanceof Error ? error : new Error(String(error)));
    }
    if (event.type === 'BOOKMARK') this.#bookmark = resourceVersion;
    store.updateResourceVersion?.(resourceVersion);
    this.#events++;
    return ended ? INITIAL_EVENTS_END : APPLIED;
  }
}

/** Something else than a Status in an ERROR event is an error without a class. */
function errorOf(object: unknown): Error {
  const { kind } = object as KubernetesObject;
  if (kind === 'Status') return new StatusError(object as ConstructorParameters<typeof StatusError>[0]);
  return new DecodeError('BAD_EVENT', `unexpected object in an ERROR event: ${JSON.stringify(kind)}`);
}
