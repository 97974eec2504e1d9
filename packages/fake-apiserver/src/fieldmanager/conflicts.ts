// Fields that an apply wants to change while others own them.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/conflict.go
import { goQuote, newApplyConflict, type StatusError } from '@kube-rx/apimachinery';
import type { FieldSet } from './field-set.ts';
import { managerParts } from './managed-fields.ts';
import { compareStrings, type Path, printPath } from './path-element.ts';

export interface Conflict {
  /** Manager identifier. */
  readonly manager: string;
  readonly path: Path;
}

/** Thrown by the updater; {@link conflictStatus} makes the answer of it. */
export class ConflictsError extends Error {
  override readonly name = 'ConflictsError';
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(`${conflicts.length} fields are owned by others`);
    this.conflicts = conflicts;
  }
}

/** By manager, then by path. */
export function conflictsOf(sets: ReadonlyMap<string, FieldSet>): Conflict[] {
  return [...sets.keys()].sort(compareStrings).flatMap((manager) =>
    sets
      .get(manager)!
      .paths()
      .map((path) => ({ manager, path })),
  );
}

/** The 409 of an apply: one cause per field. */
export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: printPath(path),
  }));
  return newApplyConflict(causes, message(conflicts));
}

function message(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printManager(first!.manager)}: ${printPath(first!.path)}`;
  }
  const lines: string[] = [];
  for (const manager of [...new Set(conflicts.map((conflict) => conflict.manager))].sort(compareStrings)) {
    lines.push(`conflicts with ${printManager(manager)}:`);
    for (const conflict of conflicts) if (conflict.manager === manager) lines.push(`- ${printPath(conflict.path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function printManager(identifier: string): string {
  const { manager, operation, apiVersion, subresource } = managerParts(identifier);
  const name = goQuote(manager);
  const where = subresource === '' ? name : `${name} with subresource ${goQuote(subresource)}`;
  return operation === 'Update' ? `${where} using ${apiVersion}` : where;
}
