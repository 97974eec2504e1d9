// Field ownership of `replicas`, seen from the scale and from the object that is scaled.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/scalehandler.go
import type { ManagedFieldsEntry } from '@kube-rx/apimachinery';
import { type Draft, isDraft, put } from '../draft.ts';

const SCALE_VERSION = 'autoscaling/v1';

/** Appliers are one manager in all versions, others one per version. */
function owner({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/**
 * Where the replicas stand in one version of the parent: null for nowhere, undefined for a version that is not served (any
 * more), whose owners nobody keeps.
 */
export type ReplicasPath = (apiVersion: string) => readonly string[] | null | undefined;

const IN_SPEC: readonly string[] = ['spec', 'replicas'];
const inSpec: ReplicasPath = () => IN_SPEC;

function owns(entry: ManagedFieldsEntry, path: readonly string[]): boolean {
  let fields: unknown = entry.fieldsV1;
  for (const step of path) {
    if (!isDraft(fields) || !Object.hasOwn(fields, `f:${step}`)) return false;
    fields = fields[`f:${step}`];
  }
  return true;
}

const fieldsAt = (path: readonly string[]): Draft =>
  path.reduceRight<Draft>((inner, step) => Object.fromEntries([[`f:${step}`, inner]]), {});

/** The fields without the one at the path; undefined when there are none left. */
function without(fields: Draft, [step, ...rest]: readonly string[]): Draft | undefined {
  const out: Draft = {};
  for (const [field, value] of Object.entries(fields)) {
    const kept = field !== `f:${step}` ? value : rest.length > 0 && isDraft(value) ? without(value, rest) : undefined;
    if (kept !== undefined) put(out, field, kept);
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

const pathOf = (entry: ManagedFieldsEntry, replicas: ReplicasPath): readonly string[] | undefined =>
  replicas(entry.apiVersion ?? '') ?? undefined;

/** Owners of the replicas as entries of a Scale. */
export function scaleEntries(
  parent: readonly ManagedFieldsEntry[],
  replicas: ReplicasPath = inSpec,
): readonly ManagedFieldsEntry[] {
  const fieldsV1 = fieldsAt(IN_SPEC);
  return parent.flatMap((entry) => {
    const path = pathOf(entry, replicas);
    return path !== undefined && owns(entry, path) ? [{ ...entry, apiVersion: SCALE_VERSION, fieldsV1 }] : [];
  });
}

/**
 * Entries of the parent after a write of its scale: who lost the replicas there loses them here. A new owner has no time, as
 * upstream takes times from the parent alone.
 */
export function parentEntries(
  parent: readonly ManagedFieldsEntry[],
  scale: readonly ManagedFieldsEntry[],
  apiVersion: string,
  replicas: ReplicasPath = inSpec,
): readonly ManagedFieldsEntry[] {
  const left = new Map(scale.filter((entry) => owns(entry, IN_SPEC)).map((entry) => [owner(entry), entry]));
  const kept = parent.flatMap((entry): readonly ManagedFieldsEntry[] => {
    const path = replicas(entry.apiVersion ?? '');
    if (path === undefined) return [];
    if (path === null || !owns(entry, path) || left.delete(owner(entry))) {
      return [entry];
    }
    const fields = without(entry.fieldsV1 as Draft, path);
    return fields === undefined ? [] : [{ ...entry, fieldsV1: fields }];
  });
  const fieldsV1 = fieldsAt(replicas(apiVersion) ?? IN_SPEC);
  const gained = [...left.values()].map(({ time: _time, ...entry }) => ({ ...entry, apiVersion, fieldsV1 }));
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
