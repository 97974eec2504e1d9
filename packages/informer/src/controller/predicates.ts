// Which events are worth a reconcile.
// Upstream: controller-runtime@v0.18.4:pkg/predicate/predicate.go
import type { KubernetesObject, LabelSelector } from '@kube-rx/apimachinery';
import { parseLabelSelector } from '@kube-rx/apimachinery';
import type { StoreEvent } from '../shared-informer/store-event.ts';

/** An event about an object. */
export type ObjectEvent<T extends KubernetesObject> = Exclude<StoreEvent<T>, { readonly type: 'synced' }>;

/** False drops the event. A recreated object comes as an update whose UIDs differ. */
export type EventPredicate<T extends KubernetesObject = KubernetesObject> = (event: ObjectEvent<T>) => boolean;

type Updated = Extract<ObjectEvent<KubernetesObject>, { readonly type: 'updated' }>;

/** Additions and deletions pass, updates when `changed` says so or the object is another one. */
function onUpdate(changed: (event: Updated) => boolean): EventPredicate {
  return (event) => event.type !== 'updated' || event.recreated || changed(event);
}

/** The spec changed; for kinds whose generation counts that. Changes of status, labels and annotations do not pass. */
export const generationChanged: EventPredicate = onUpdate(
  ({ previous, object }) => previous.metadata.generation !== object.metadata.generation,
);

/** Anything changed: drops resyncs. */
export const resourceVersionChanged: EventPredicate = onUpdate(
  ({ previous, object }) => previous.metadata.resourceVersion !== object.metadata.resourceVersion,
);

export const labelsChanged: EventPredicate = onUpdate(
  ({ previous, object }) => !sameStrings(previous.metadata.labels, object.metadata.labels),
);

export const annotationsChanged: EventPredicate = onUpdate(
  ({ previous, object }) => !sameStrings(previous.metadata.annotations, object.metadata.annotations),
);

/** The object has such labels now, or had them before the update. */
export function matchesLabels(selector: LabelSelector | string): EventPredicate {
  const parsed = typeof selector === 'string' ? parseLabelSelector(selector) : selector;
  return (event) =>
    parsed.matches(event.object.metadata.labels) ||
    (event.type === 'updated' && parsed.matches(event.previous.metadata.labels));
}

export function everyPredicate<T extends KubernetesObject>(
  ...predicates: readonly EventPredicate<T>[]
): EventPredicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

export function somePredicate<T extends KubernetesObject>(
  ...predicates: readonly EventPredicate<T>[]
): EventPredicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

export function notPredicate<T extends KubernetesObject>(predicate: EventPredicate<T>): EventPredicate<T> {
  return (event) => !predicate(event);
}

type Strings = { readonly [key: string]: string } | undefined;

function sameStrings(a: Strings, b: Strings): boolean {
  const left = Object.entries(a ?? {});
  return left.length === Object.keys(b ?? {}).length && left.every(([key, value]) => b?.[key] === value);
}
