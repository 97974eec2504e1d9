// Entries of a delta queue.
// Upstream: client-go@v0.30.3:tools/cache/delta_fifo.go#Delta, Deltas, DeletedFinalStateUnknown, dedupDeltas
// Differs: a tombstone is a delta with `finalStateUnknown`, not another object type, so that no handler can trip over it.
import type { KubernetesObject } from '@kube-rx/apimachinery';

export type DeltaType = 'Added' | 'Updated' | 'Deleted' | 'Replaced' | 'Sync';

export interface Delta<T extends KubernetesObject> {
  readonly type: DeltaType;
  /** For a tombstone the last state that was known. */
  readonly object: T;
  /** A Deleted delta that was concluded from an absence; the final state was never seen. */
  readonly finalStateUnknown: boolean;
}

/** Changes of one key, oldest first; never empty. */
export type Deltas<T extends KubernetesObject> = Delta<T>[];

export function delta<T extends KubernetesObject>(type: DeltaType, object: T, finalStateUnknown = false): Delta<T> {
  return { type, object, finalStateUnknown };
}

/**
 * Joins the last two deltas when both are deletions: one that really saw the deletion wins over a tombstone, else the newer one.
 * Changes the array.
 */
export function dedupDeltas<T extends KubernetesObject>(deltas: Deltas<T>): void {
  const last = deltas.at(-1);
  const before = deltas.at(-2);
  if (last?.type !== 'Deleted' || before?.type !== 'Deleted') return;
  deltas.length -= 2;
  deltas.push(last.finalStateUnknown ? before : last);
}
