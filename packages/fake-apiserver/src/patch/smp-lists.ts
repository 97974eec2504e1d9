// Lists in a strategic merge: same-kind checks, look-up by key and the order of the result.
// Upstream: apimachinery@v0.30.3:pkg/util/strategicpatch/patch.go#normalizeElementOrder
import { goPrint } from './go-print.ts';
import { isObject, type JsonObject, own } from './json-value.ts';
import { badArgType, goTypeName, listOfLists, noMergeKey, other } from './smp-errors.ts';

type List = readonly unknown[];

/** True when all items of all lists are objects, false when all are scalars of one type. */
export function itemsAreObjects(...lists: List[]): boolean {
  const items = lists.flat();
  if (items.length === 0) throw other('no elements in any of the given slices');
  if (Array.isArray(items[0])) throw listOfLists();
  const type = goTypeName(items[0]);
  if (items[0] === null || items.some((item) => goTypeName(item) !== type)) {
    throw other(`list element types are not identical: ${goPrint(lists)}`);
  }
  return isObject(items[0]);
}

export function findByKey(list: List, key: string, value: unknown): number {
  for (const [index, item] of list.entries()) {
    if (!isObject(item)) throw other(`value for key ${index} is not a map`);
    if (Object.hasOwn(item, key) && item[key] === value) return index;
  }
  return -1;
}

/** Splits by whether an item, by its key or itself, is in the other list. */
export function partition(list: List, by: List, mergeKey: string): { present: unknown[]; absent: unknown[] } {
  const present: unknown[] = [];
  const absent: unknown[] = [];
  const scalars = new Set(by);
  for (const item of list) {
    let found: boolean;
    if (mergeKey === '') found = scalars.has(item);
    else {
      if (!isObject(item)) throw badArgType('map', item);
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
      found = findByKey(by, mergeKey, item[mergeKey]) >= 0;
    }
    (found ? present : absent).push(item);
  }
  return { present, absent };
}

/** Position in the list of the item with the same key (or the same scalar), looked up once per distinct value. */
class Positions {
  readonly #positions = new Map<unknown, number>();
  readonly #valueOf: (item: unknown) => unknown;

  constructor(list: List, mergeKey: string, objects: boolean) {
    this.#valueOf = objects ? (item) => (isObject(item) ? own(item, mergeKey) : undefined) : (item) => item;
    for (const [index, item] of list.entries()) {
      const value = this.#valueOf(item);
      if (!this.#positions.has(value)) this.#positions.set(value, index);
    }
  }

  of(item: unknown): number {
    return this.#positions.get(this.#valueOf(item)) ?? -1;
  }
}

export function isDeleteDirective(item: unknown): boolean {
  return isObject(item) && own(item, '$patch') === 'delete';
}

function sortBy(list: List, order: List, mergeKey: string, objects: boolean): unknown[] {
  if (objects) {
    for (const item of [...list, ...order]) {
      if (!isObject(item)) throw badArgType('map', item);
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    }
  }
  const deleted = objects ? list.filter(isDeleteDirective) : [];
  const kept = objects ? list.filter((item) => !isDeleteDirective(item)) : [...list];
  const positions = new Positions(order, mergeKey, objects);
  // Items without a place in the order go first, the later the more, as upstream's comparison has it.
  const unplaced = kept.filter((item) => positions.of(item) < 0).reverse();
  const placed = kept.filter((item) => positions.of(item) >= 0).sort((a, b) => positions.of(a) - positions.of(b));
  return [...unplaced, ...placed, ...deleted];
}

/**
 * Order of a merged list: items of the patch as the patch orders them, items only the server has as it had them; where the two
 * meet, the server's order decides if it knows both, else the patch goes first.
 */
export function normalizeElementOrder(
  patchItems: List,
  serverOnly: List,
  patchOrder: List,
  serverOrder: List,
  mergeKey: string,
  objects: boolean,
): unknown[] {
  const right = sortBy(patchItems, patchOrder, mergeKey, objects);
  const left = sortBy(serverOnly, serverOrder, mergeKey, objects);
  const positions = new Positions(serverOrder, mergeKey, objects);
  const merged: unknown[] = [];
  let taken = 0;
  for (const item of right) {
    const place = positions.of(item);
    while (taken < left.length && place >= 0) {
      const other = positions.of(left[taken]);
      if (other < 0 || other >= place) break;
      merged.push(left[taken++]);
    }
    merged.push(item);
  }
  return [...merged, ...left.slice(taken)];
}

/** Without doubles; a double is replaced by the last item, as upstream does it (the order is made later). */
export function deduplicateScalars(list: List): unknown[] {
  return [...new Set(list)];
}

export function objectsOf(list: List): readonly JsonObject[] {
  return list as readonly JsonObject[];
}
