// Keeps a write that changes nothing but times of managedFields from being a change at all.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/fieldmanager/equality.go#IgnoreManagedFieldsTimestampsTransformer
import type { ManagedFieldsEntry } from '@kube-rx/apimachinery';
import { jsonEqual } from '../patch/json-value.ts';
import type { ApiObject } from '../storage/api-object.ts';

/** `next`, or `next` with the old times of managedFields when all else is equal. Compares managedFields first, since they mostly differ. */
export function ignoreManagedFieldsTimestamps(next: ApiObject, old: ApiObject): ApiObject {
  const before = old.metadata.managedFields ?? [];
  const after = next.metadata.managedFields ?? [];
  if (before.length !== after.length || after.length === 0) return next;
  if (after.every((entry, index) => entry.time === before[index]!.time)) return next;
  if (!after.every((entry, index) => jsonEqual(withoutTime(entry), withoutTime(before[index]!)))) return next;
  const restored = { ...next, metadata: { ...next.metadata, managedFields: before } };
  return jsonEqual(restored, old) ? restored : next;
}

function withoutTime({ time: _, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry;
}
