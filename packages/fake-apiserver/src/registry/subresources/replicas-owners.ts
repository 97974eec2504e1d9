// Field ownership of `replicas`, seen from the scale and from the object that is scaled.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/scalehandler.go
import type { ManagedFieldsEntry } from '@kube-rx/apimachinery';
import { type Draft, dict, isDraft, put } from '../draft.ts';

const SCALE_VERSION = 'autoscaling/v1';

interface Owner {
  readonly id: string;
  readonly entry: ManagedFieldsEntry;
}

/** Appliers are one manager in all versions, others one per version. */
function owner(entry: ManagedFieldsEntry): Owner {
  const { manager, operation, apiVersion, subresource } = entry;
  return { id: JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]), entry };
}

const ownsReplicas = (entry: ManagedFieldsEntry): boolean =>
  Object.hasOwn(dict(entry.fieldsV1 as Draft | undefined, 'f:spec') ?? {}, 'f:replicas');

const REPLICAS = { 'f:spec': { 'f:replicas': {} } };

/** The fields without `spec.replicas`; undefined when there are none left. */
function withoutReplicas(fields: Draft): Draft | undefined {
  const { 'f:spec': spec, ...others } = fields;
  const rest = isDraft(spec) ? Object.entries(spec).filter(([field]) => field !== 'f:replicas') : [];
  const out: Draft = {};
  for (const [field, value] of Object.entries(others)) put(out, field, value);
  if (rest.length > 0) put(out, 'f:spec', Object.fromEntries(rest));
  return Object.keys(out).length === 0 ? undefined : out;
}

/** Owners of the replicas as entries of a Scale. */
export function scaleEntries(parent: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  return parent.filter(ownsReplicas).map((entry) => ({ ...entry, apiVersion: SCALE_VERSION, fieldsV1: REPLICAS }));
}

/**
 * Entries of the parent after a write of its scale: who lost the replicas there loses them here. A new owner has no time, as
 * upstream takes times from the parent alone.
 */
export function parentEntries(
  parent: readonly ManagedFieldsEntry[],
  scale: readonly ManagedFieldsEntry[],
  apiVersion: string,
): readonly ManagedFieldsEntry[] {
  const left = new Map(scale.filter(ownsReplicas).map((entry) => [owner(entry).id, entry]));
  const kept = parent.flatMap((entry): readonly ManagedFieldsEntry[] => {
    if (!ownsReplicas(entry) || left.delete(owner(entry).id)) return [entry];
    const fields = withoutReplicas(entry.fieldsV1 as Draft);
    return fields === undefined ? [] : [{ ...entry, fieldsV1: fields }];
  });
  const gained = [...left.values()].map(({ time: _time, ...entry }) => ({ ...entry, apiVersion, fieldsV1: REPLICAS }));
  return sorted([...kept, ...gained]);
}

function sorted(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  const rank = ({ operation, time, manager }: ManagedFieldsEntry): readonly string[] => [
    operation ?? '',
    time ?? '',
    manager ?? '',
  ];
  return [...entries].sort((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    const at = left.findIndex((part, index) => part !== right[index]);
    return at === -1 ? 0 : left[at]! < right[at]! ? -1 : 1;
  });
}
