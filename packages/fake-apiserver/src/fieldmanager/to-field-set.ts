// All fields that an object mentions.
// Upstream: structured-merge-diff@v4.4.1:typed/tofieldset.go
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { listItemName } from './list-item.ts';
import { fieldElement, type Path } from './path-element.ts';
import { deduceAtom, type ListAtom, type MapAtom, type SmdType } from './smd-type.ts';
import { asList, asMap } from './smd-value.ts';

/** The value must have passed `validateTyped`. */
export function toFieldSet(value: unknown, type: SmdType): FieldSet {
  const builder = new FieldSetBuilder();
  visit(value, type, [], builder);
  return builder.build();
}

function visit(value: unknown, type: SmdType | undefined, path: Path, set: FieldSetBuilder): void {
  const atom = deduceAtom(type?.atom ?? {}, value);
  if (atom.map !== undefined) visitMap(value, atom.map, path, set);
  else if (atom.scalar !== undefined) set.insert(path);
  else if (atom.list !== undefined) visitList(value, atom.list, path, set);
}

function visitList(value: unknown, list: ListAtom, path: Path, set: FieldSetBuilder): void {
  if (list.atomic) {
    set.insert(path);
    return;
  }
  const items = asList(value) ?? [];
  const names = items.map((item) => {
    const name = listItemName(list, item);
    return 'element' in name ? name.element : '';
  });
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const [index, name] of names.entries()) {
    const itemPath = [...path, name];
    // Of doubles only the name is owned, once for all of them.
    if (counts.get(name) === 1) visit(items[index], list.element, itemPath, set);
    set.insert(itemPath);
  }
}

function visitMap(value: unknown, map: MapAtom, path: Path, set: FieldSetBuilder): void {
  if (map.atomic) {
    set.insert(path);
    return;
  }
  const object = asMap(value);
  for (const key of Object.keys(object ?? {})) {
    const field = map.field(key);
    const item = object![key];
    const itemPath = [...path, fieldElement(key)];
    visit(item, field?.type ?? map.element, itemPath, set);
    const isEmptyMap = asMap(item) !== undefined && Object.keys(item as object).length === 0;
    if (item === null || isEmptyMap || field === undefined) set.insert(itemPath);
  }
}
