// Brings a stored field set up to a type that has changed since: what became atomic is owned as a whole.
// Upstream: structured-merge-diff@v4.4.1:typed/reconcile_schema.go
import { FieldSet } from './field-set.ts';
import { fieldNameOf, type Path } from './path-element.ts';
import { type Atom, deduced, type MapAtom, type SmdType } from './smd-type.ts';

// Sets are never changed, and most of an object's managers stay as they are from write to write.
const inStep = new WeakMap<FieldSet, SmdType>();

/** The same set when nothing changed. */
export function reconcileWithSchema(set: FieldSet, type: SmdType): FieldSet {
  if (inStep.get(set) === type) return set;
  const roots: Path[] = [];
  visit(set, type, [], false, roots);
  if (roots.length === 0) {
    inStep.set(set, type);
    return set;
  }
  const found = FieldSet.of(...roots);
  return set.recursiveDifference(found).union(found);
}

function visit(set: FieldSet | undefined, type: SmdType, path: Path, isAtomic: boolean, roots: Path[]): void {
  const { map, scalar, list }: Atom = type.atom;
  if (map !== undefined) {
    if (isUntypedDeduced(map)) return;
    if (!isAtomic && map.atomic) {
      if (set !== undefined && !set.isEmpty) roots.push(path);
    } else if (set !== undefined) visitItems(set, path, roots, (element) => typeAt(map, element));
    return;
  }
  if (scalar !== undefined || list === undefined) return;
  if (!isAtomic && list.atomic) roots.push(path);
  else if (set !== undefined) visitItems(set, path, roots, () => list.element);
}

function visitItems(set: FieldSet, path: Path, roots: Path[], typeOf: (element: string) => SmdType | undefined): void {
  for (const element of new Set([...set.children.keys(), ...set.members])) {
    const type = typeOf(element);
    if (type === undefined) continue;
    const below = set.children.get(element);
    visit(below, type, [...path, element], set.members.has(element) && below === undefined, roots);
  }
}

function typeAt(map: MapAtom, element: string): SmdType | undefined {
  const name = fieldNameOf(element);
  return (name === undefined ? undefined : map.field(name)?.type) ?? map.element;
}

/** Types without a schema know neither atomic nor granular. */
function isUntypedDeduced(map: MapAtom): boolean {
  if (map.hasFields) return false;
  return map.element === deduced || map.element?.atom.scalar === 'untyped';
}
