// What an informer tells its handlers.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';

/**
 * A change of the cache. Per object the events come in the order of its history and always end at its last state; between objects
 * the order is the watch's (RealFIFO) or that of first touch (DeltaFIFO).
 */
export type StoreEvent<T extends KubernetesObject> =
  | {
      readonly type: 'added';
      readonly object: Live<T>;
      /** Part of the first state this handler is told. */
      readonly initial: boolean;
      readonly cause: 'list' | 'watch' | 'replay';
    }
  | {
      readonly type: 'updated';
      readonly object: Live<T>;
      readonly previous: Live<T>;
      /** The object was deleted and created again in between; the UIDs differ. */
      readonly recreated: boolean;
      readonly cause: 'list' | 'watch' | 'resync';
    }
  | {
      readonly type: 'deleted';
      /** The final state, or the last known one when only the absence was seen. */
      readonly object: Live<T>;
      readonly finalState: 'known' | 'unknown';
      readonly cause: 'list' | 'watch';
    }
  | {
      /** A list is fully delivered. */
      readonly type: 'synced';
      readonly resourceVersion: string;
      readonly size: number;
      /** False for every list after the first. */
      readonly first: boolean;
    };

/** Two shapes that mean the same to a store: nothing to tell. */
export function sameResourceVersion(a: KubernetesObject, b: KubernetesObject): boolean {
  return (a.metadata?.resourceVersion ?? '') === (b.metadata?.resourceVersion ?? '');
}
