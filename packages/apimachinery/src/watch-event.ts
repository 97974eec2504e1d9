// The items of a watch stream.
// Upstream: apimachinery@v0.30.3:pkg/watch/watch.go, pkg/apis/meta/v1/watch.go
import type { KubernetesObject, ObjectMetaLike } from './object-meta.ts';
import type { Status } from './status.ts';

/** Annotation of the bookmark that ends the initial events of a streaming list. */
export const INITIAL_EVENTS_END_ANNOTATION: string = 'k8s.io/initial-events-end';

export interface BookmarkObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMetaLike;
}

export type WatchEvent<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: BookmarkObject }
  | { readonly type: 'ERROR'; readonly object: Status };

export type WatchEventType = WatchEvent['type'];

/** True for the bookmark that says "the initial state is complete". */
export function isInitialEventsEnd(event: WatchEvent): boolean {
  return event.type === 'BOOKMARK' && event.object.metadata.annotations?.[INITIAL_EVENTS_END_ANNOTATION] === 'true';
}
