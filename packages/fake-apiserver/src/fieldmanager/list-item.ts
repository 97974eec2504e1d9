// How an item of a list is named: by its keys or, in a set, by itself.
// Upstream: structured-merge-diff@v4.4.1:typed/helpers.go#listItemToPathElement
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListAtom } from './smd-type.ts';
import { asMap } from './smd-value.ts';

export type ListItemName = { readonly element: PathElement } | { readonly problem: string };

export function listItemName(list: ListAtom, item: unknown): ListItemName {
  return list.keys.length > 0 ? keyedItem(list, item) : setItem(item);
}

function keyedItem(list: ListAtom, item: unknown): ListItemName {
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  const map = asMap(item);
  if (map === undefined) return { problem: 'associative list with keys may not have non-map elements' };
  const keys: [string, unknown][] = [];
  for (const name of list.keys) {
    if (Object.hasOwn(map, name)) {
      keys.push([name, map[name]]);
      continue;
    }
    const fields = list.element.atom.map;
    if (fields === undefined) {
      return {
        problem: `couldn't find default value for ${name}: associative list may not have non-map types`,
      };
    }
    const fallback = fields.field(name)?.default;
    if (fallback === undefined || fallback === null) {
      return {
        problem: `associative list with keys has an element that omits key field ${JSON.stringify(name)} (and doesn't have default value)`,
      };
    }
    keys.push([name, fallback]);
  }
  return { element: keyElement(keys) };
}

function setItem(item: unknown): ListItemName {
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' };
  if (typeof item === 'object') return { problem: "associative list without keys has an element that's a map type" };
  return { element: valueElement(item) };
}
