// An object without the fields of a set.
// Upstream: structured-merge-diff@v4.4.1:typed/remove.go
import { setOwn } from '../schema/json-reader.ts';
import type { FieldSet } from './field-set.ts';
import { listItemName } from './list-item.ts';
import { fieldElement } from './path-element.ts';
import { deduceAtom, type ListAtom, type MapAtom, type SmdType } from './smd-type.ts';
import { asList, asMap } from './smd-value.ts';

/** Null for what loses its last item, as upstream leaves it. */
export function removeItems(value: unknown, set: FieldSet, type: SmdType | undefined): unknown {
  const atom = deduceAtom(type?.atom ?? {}, value);
  if (atom.map !== undefined) return removeFromMap(value, set, atom.map);
  if (atom.scalar !== undefined) return value;
  return atom.list === undefined ? null : removeFromList(value, set, atom.list);
}

function removeFromList(value: unknown, set: FieldSet, list: ListAtom): unknown {
  // Something owned as a whole is only visited to be removed.
  if (list.atomic) return null;
  const out: unknown[] = [];
  for (const item of asList(value) ?? []) {
    const name = listItemName(list, item);
    const element = 'element' in name ? name.element : '';
    if (set.members.has(element)) continue;
    const below = set.withPrefix(element);
    out.push(below.isEmpty ? item : removeItems(item, below, list.element));
  }
  return out.length > 0 ? out : null;
}

function removeFromMap(value: unknown, set: FieldSet, map: MapAtom): unknown {
  if (map.atomic) return null;
  const object = asMap(value);
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(object ?? {})) {
    const element = fieldElement(key);
    if (set.members.has(element)) continue;
    const below = set.withPrefix(element);
    const item = object![key];
    setOwn(out, key, below.isEmpty ? item : removeItems(item, below, map.field(key)?.type ?? map.element));
  }
  return Object.keys(out).length > 0 ? out : null;
}
