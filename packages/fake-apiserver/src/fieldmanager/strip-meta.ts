// Fields that are never part of managedFields.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/stripmeta.go
import { FieldSet } from './field-set.ts';
import type { VersionedSet } from './managed-fields.ts';
import { fieldElement } from './path-element.ts';

const META_FIELDS = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const NEVER_OWNED = FieldSet.of(
  ...[['apiVersion'], ['kind'], ['metadata'], ...META_FIELDS.map((name) => ['metadata', name])].map((path) =>
    path.map(fieldElement),
  ),
);

/** Takes the fields nobody owns out of a manager's set, and the manager with them if nothing is left. */
export function stripMeta(fields: Map<string, VersionedSet>, manager: string): void {
  const versioned = fields.get(manager);
  if (versioned === undefined) return;
  const set = versioned.set.difference(NEVER_OWNED);
  if (set.isEmpty) fields.delete(manager);
  else fields.set(manager, { ...versioned, set });
}
