// From events of informers to requests of a controller.
// Upstream: controller-runtime@v0.18.4:pkg/handler/enqueue_owner.go#EnqueueRequestForOwner, enqueue_mapped.go
// Differs: an owner is known by its UID in the cache of the controller's own kind, so no scheme and no scope is needed.
import type { KubernetesObject, OwnerReference } from '@kube-rx/apimachinery';
import type { HandlerOptions, HandlerRegistration } from '../shared-informer/event-handler.ts';
import type { StoreEvent } from '../shared-informer/store-event.ts';
import type { ReadonlyStore } from '../store/store.ts';
import type { EventPredicate, ObjectEvent } from './predicates.ts';
import type { ReconcileRequest } from './reconciler.ts';

/** What a controller needs of an informer. */
export interface ReconcileSource<T extends KubernetesObject> {
  readonly store: Pick<ReadonlyStore<T>, 'get' | 'list'>;
  handle(handler: (event: StoreEvent<T>) => void, options?: HandlerOptions): HandlerRegistration;
}

/** A source with the way from its events to requests. Made by {@link watching} and {@link owned}. */
export interface ControllerWatch {
  /** For messages. */
  readonly description: string;
  attach(enqueue: Enqueue, owners: OwnerLookup, options: HandlerOptions): HandlerRegistration;
}

/** `low`: nothing new is known of the object, so that it may wait behind those of which there is. */
export type Enqueue = (request: ReconcileRequest, urgency: 'normal' | 'low') => void;

/** What a first list or a resync brings is no news. */
function urgencyOf(event: ObjectEvent<KubernetesObject>): 'normal' | 'low' {
  if (event.type === 'added') return event.initial ? 'low' : 'normal';
  if (event.type === 'deleted') return 'normal';
  return event.previous.metadata.resourceVersion === event.object.metadata.resourceVersion ? 'low' : 'normal';
}

/** The cached object of the controller's own kind that a reference points to. */
export type OwnerLookup = (reference: OwnerReference, namespace: string | undefined) => ReconcileRequest | undefined;

export function requestOf(object: KubernetesObject): ReconcileRequest {
  const { name = '', namespace } = object.metadata ?? {};
  return namespace === undefined || namespace === '' ? { name } : { name, namespace };
}

/** Both states of an update count: the object may have moved from one owner to another. */
function objectsOf<T extends KubernetesObject>(event: ObjectEvent<T>): readonly T[] {
  return event.type === 'updated' ? [event.previous, event.object] : [event.object];
}

export function ownerLookup(store: Pick<ReadonlyStore<KubernetesObject>, 'get'>): OwnerLookup {
  return ({ name, uid }, namespace) => {
    // An owner is in the namespace of what it owns, or in none.
    const candidates = namespace === undefined ? [store.get(name)] : [store.get(name, namespace), store.get(name)];
    const owner = candidates.find((candidate) => candidate?.metadata.uid === uid);
    return owner && requestOf(owner);
  };
}

/**
 * Reconciles what `map` answers for each event.
 *
 * @example watching(configMaps, (event) => ({ name: event.object.metadata.labels?.app ?? '' }))
 */
export function watching<T extends KubernetesObject>(
  source: ReconcileSource<T>,
  map: (event: ObjectEvent<T>) => ReconcileRequest | readonly ReconcileRequest[] | undefined,
  options: { readonly when?: EventPredicate<T>; readonly description?: string } = {},
): ControllerWatch {
  return {
    description: options.description ?? 'watched',
    attach(enqueue, _owners, handlerOptions) {
      return source.handle((event) => {
        if (event.type === 'synced' || options.when?.(event) === false) return;
        const requests = map(event);
        if (requests === undefined) return;
        const urgency = urgencyOf(event);
        for (const request of Array.isArray(requests) ? requests : [requests]) enqueue(request, urgency);
      }, handlerOptions);
    },
  };
}

/** Reconciles the object that owns what changed. */
export function owned<T extends KubernetesObject>(
  source: ReconcileSource<T>,
  options: {
    readonly when?: EventPredicate<T>;
    /** Every owner instead of the one that is marked as the controller. @defaultValue false */
    readonly everyOwner?: boolean;
    readonly description?: string;
  } = {},
): ControllerWatch {
  const { everyOwner = false, when } = options;
  return {
    description: options.description ?? 'owned',
    attach(enqueue, owners, handlerOptions) {
      return source.handle((event) => {
        if (event.type === 'synced' || when?.(event) === false) return;
        const urgency = urgencyOf(event);
        for (const object of objectsOf(event)) {
          const metadata = object.metadata as { readonly ownerReferences?: readonly OwnerReference[] } | undefined;
          for (const reference of metadata?.ownerReferences ?? []) {
            if (!everyOwner && reference.controller !== true) continue;
            const owner = owners(reference, object.metadata?.namespace);
            if (owner !== undefined) enqueue(owner, urgency);
          }
        }
      }, handlerOptions);
    },
  };
}

/** Reconciles the objects themselves. */
export function own<T extends KubernetesObject>(
  source: ReconcileSource<T>,
  when: EventPredicate<T> | undefined,
): ControllerWatch {
  return watching(source, (event) => requestOf(event.object), {
    ...(when === undefined ? {} : { when }),
    description: 'for',
  });
}
