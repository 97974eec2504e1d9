// Which events are worth a reconcile.
// Upstream: controller-runtime@v0.18.4:pkg/predicate/predicate.go
import type { Clock, KubernetesObject, LabelSelector } from '@kube-rx/apimachinery';
import { OptionsError, parseLabelSelector, realClock } from '@kube-rx/apimachinery';
import { LRUCache } from 'lru-cache';
import type { Live } from '../rest/resource-type.ts';
import type { StoreEvent } from '../shared-informer/store-event.ts';
import { onClock } from '../store/expiration-cache.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';

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

export interface DistinctOptions {
  /** After so long the same value counts as changed, ms. @defaultValue 3 600 000 */
  readonly ttlMs?: number | undefined;
  /** Objects whose value is remembered; above it the one that was let through longest ago goes. @defaultValue 100 000 */
  readonly max?: number | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Lets an event through when what `read` says of the object is not what it said of the last event that got through, whatever came
 * between: unlike the predicates above it looks at no previous state, so it works over resyncs and relists too. Another object under
 * the same name counts as changed, and deletions pass. Keeps state: one predicate for each watch.
 *
 * @example createController({ name: 'phases', for: pods, when: distinctValue((pod) => pod.status?.phase), reconcile })
 */
export function distinctValue<T extends KubernetesObject>(
  read: (object: Live<T>) => string | number | boolean | null | undefined,
  options: DistinctOptions = {},
): EventPredicate<T> {
  const { ttlMs = 3_600_000, max = 100_000, clock = realClock } = options;
  if (!(ttlMs > 0)) throw new OptionsError('ttlMs', ttlMs, 'a number above 0');
  if (!(max >= 1)) throw new OptionsError('max', max, 'a number of at least 1');
  const last = new LRUCache<string, { readonly uid: string | undefined; readonly value: unknown }>({
    max,
    ttl: ttlMs,
    ...onClock(clock),
  });
  return (event) => {
    const key = metaNamespaceKeyFunc(event.object);
    if (event.type === 'deleted') {
      last.delete(key);
      return true;
    }
    const { uid } = event.object.metadata;
    const value = read(event.object);
    const known = last.get(key);
    if (known !== undefined && known.uid === uid && known.value === value) return false;
    last.set(key, { uid, value });
    return true;
  };
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
