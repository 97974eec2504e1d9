// Strategic merge patch: a merge patch that knows how each list and map of a type is merged.
// Upstream: apimachinery@v0.30.3:pkg/util/strategicpatch/patch.go#StrategicMergeMapPatch
import { setOwn } from '../schema/json-reader.ts';
import type { Schema } from '../schema/schema.ts';
import { cloneJson, isObject, type JsonObject, own } from './json-value.ts';
import * as errors from './smp-errors.ts';
import {
  deduplicateScalars,
  findByKey,
  isDeleteDirective,
  itemsAreObjects,
  normalizeElementOrder,
  objectsOf,
  partition,
} from './smp-lists.ts';
import { listMeta, mapMeta, type PatchMeta } from './smp-schema.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
const SET_ORDER = '$setElementOrder';

/**
 * The document with the patch merged in by the rules of its type; the inputs stay as they are. The result still has to be decoded:
 * values of a wrong type and unknown fields pass through here.
 *
 * @param schema Undefined for custom resources, which do not support this format.
 * @throws PatchError with upstream's message.
 */
export function applyStrategicMergePatch(
  document: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
): JsonObject {
  if (schema === undefined) throw errors.unsupportedFormat();
  // Both copies may be changed from here on, which is how the directives leave the patch.
  return mergeMap(cloneJson(document), cloneJson(patch), schema);
}

function mergeMap(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) {
    const directive = patch[DIRECTIVE];
    if (directive === 'delete') return {};
    if (directive !== 'replace') throw errors.badPatchType(directive, patch);
    delete patch[DIRECTIVE];
    return patch;
  }
  applyRetainKeys(original, patch);
  applySetElementOrder(original, patch, schema);
  for (const patchKey of Object.keys(patch)) mergeField(original, patchKey, patch[patchKey], schema);
  return original;
}

function mergeField(original: JsonObject, patchKey: string, value: unknown, schema: Schema | undefined): void {
  const isDeletion = patchKey.startsWith(DELETE_FROM_LIST);
  const key = isDeletion ? keyAfter(patchKey, DELETE_FROM_LIST) : patchKey;
  if (value === null) {
    delete original[key];
    return;
  }
  if (!Object.hasOwn(original, key) || errors.goTypeName(original[key]) !== errors.goTypeName(value)) {
    if (!isDeletion) setWithoutDirectives(original, key, withoutNulls(value));
    return;
  }
  const current = original[key];
  if (isObject(current)) {
    const meta = mapMeta(schema, key);
    setOwn(original, key, meta.strategy === 'replace' ? value : mergeMap(current, value as JsonObject, meta.schema));
  } else if (Array.isArray(current)) {
    setOwn(original, key, mergeList(current, value as unknown[], listMeta(schema, key), isDeletion));
  } else setWithoutDirectives(original, key, value);
}

/** The part after the slash of e.g. `$setElementOrder/containers`. */
function keyAfter(patchKey: string, prefix: string): string {
  if (patchKey.startsWith(`${prefix}/`)) return patchKey.slice(prefix.length + 1);
  throw prefix === SET_ORDER ? errors.badSetElementOrder() : errors.badPrimitiveList();
}

/** Nulls in objects of a value that is new to the document; changes the value in place. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) value.forEach(withoutNulls);
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (value[key] === null) delete value[key];
      else withoutNulls(value[key]);
    }
  }
  return value;
}

function setWithoutDirectives(target: JsonObject, key: string, value: unknown): void {
  const kept = withoutDirectives(value);
  if (kept === undefined) delete target[key];
  else setOwn(target, key, kept);
}

/** Undefined for an object that is a directive. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  for (const key of Object.keys(value)) setWithoutDirectives(value, key, value[key]);
  return value;
}

function applyRetainKeys(original: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const retained = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw errors.badRetainKeys();
  const keys = new Set<unknown>(retained);
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
    if (patch[key] !== null && !isDirective && !keys.has(key)) throw errors.badRetainKeys();
  }
  for (const key of Object.keys(original)) if (!keys.has(key)) delete original[key];
}

function listOrFail(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw errors.badArgType('list', value);
  return value;
}

/** Merges each list that comes with an order, and takes it out of the patch. */
function applySetElementOrder(original: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
  for (const patchKey of Object.keys(patch)) {
    if (!patchKey.startsWith(SET_ORDER)) continue;
    const order = listOrFail(patch[patchKey]);
    delete patch[patchKey];
    const key = keyAfter(patchKey, SET_ORDER);
    const before = Object.hasOwn(original, key) ? listOrFail(original[key]) : undefined;
    const change = Object.hasOwn(patch, key) ? listOrFail(patch[key]) : undefined;
    const meta = listMeta(schema, key);
    checkOrder(change ?? [], order, meta.mergeKey);
    if (before === undefined && change === undefined) continue;
    // The merge works on the copy; the order of the server is the one before it.
    const serverOrder = [...(before ?? [])];
    const merged =
      before === undefined
        ? (withoutDirectives(change) as unknown[])
        : change === undefined
          ? before
          : mergeList(before, change, meta, false);
    const { present, absent } = partition(merged, order, meta.mergeKey);
    const objects = itemsAreObjects(serverOrder, change ?? []);
    setOwn(original, key, normalizeElementOrder(present, absent, order, serverOrder, meta.mergeKey, objects));
    delete patch[key];
  }
}

/** Items of the patch must be in the order, in the same sequence. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (order.length === 0 || change.length === 0) return;
  if (mergeKey !== '') for (const item of change) if (!isObject(item)) throw errors.badArgType('map', item);
  const kept = mergeKey === '' ? change : change.filter((item) => !isDeleteDirective(item));
  let at = 0;
  let inOrder = 0;
  while (at < kept.length && inOrder < order.length) {
    const item = kept[at];
    if (isObject(item) && Object.hasOwn(item, DIRECTIVE)) {
      at++;
      continue;
    }
    if (sameKey(item, order[inOrder], mergeKey)) at++;
    inOrder++;
  }
  if (at < kept.length && inOrder >= order.length) {
    throw errors.other(
      `The order in patch list:\n${errors.print(change)}\n doesn't match ${SET_ORDER} list:\n${errors.print(order)}\n`,
    );
  }
}

function sameKey(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === '') return left === right;
  for (const item of [left, right]) {
    if (!isObject(item)) throw errors.badArgType('map', item);
    if (!Object.hasOwn(item, mergeKey)) throw errors.noMergeKey(item, mergeKey);
  }
  return (left as JsonObject)[mergeKey] === (right as JsonObject)[mergeKey];
}

function mergeList(original: unknown[], patch: unknown[], meta: PatchMeta, isDeletion: boolean): unknown[] {
  if (meta.strategy !== 'merge' && !isDeletion) return patch;
  if (original.length === 0 && patch.length === 0) return original;
  if (!itemsAreObjects(original, patch)) {
    if (isDeletion) {
      const gone = new Set(patch);
      return original.filter((item) => !gone.has(item));
    }
    const { present, absent } = partition(deduplicateScalars([...original, ...patch]), patch, '');
    return normalizeElementOrder(present, absent, patch, original, meta.mergeKey, false);
  }
  const { mergeKey } = meta;
  if (mergeKey === '') throw errors.other('cannot merge lists without merge key for struct');
  const { kept, changes } = applyListDirectives(original, patch, mergeKey);
  const merged = [...kept];
  for (const change of objectsOf(changes)) {
    if (!Object.hasOwn(change, mergeKey)) throw errors.noMergeKey(change, mergeKey);
    const at = findByKey(merged, mergeKey, own(change, mergeKey));
    if (at < 0) merged.push(change);
    else merged[at] = mergeMap(merged[at] as JsonObject, change, meta.schema);
  }
  const { present, absent } = partition(merged, changes, mergeKey);
  return normalizeElementOrder(present, absent, changes, kept, mergeKey, true);
}

/** Carries out `$patch: delete` and `$patch: replace` among the items. */
function applyListDirectives(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
): { readonly kept: readonly unknown[]; readonly changes: readonly unknown[] } {
  let kept = [...original];
  let replace = false;
  const changes: unknown[] = [];
  for (const item of objectsOf(patch)) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      changes.push(item);
      continue;
    }
    const directive = item[DIRECTIVE];
    if (directive === 'delete') {
      if (!Object.hasOwn(item, mergeKey)) throw errors.noMergeKey(item, mergeKey);
      kept = kept.filter((one) => !(isObject(one) && own(one, mergeKey) === item[mergeKey]));
    } else if (directive === 'replace') replace = true;
    else if (directive === 'merge') throw errors.other('merging lists cannot yet be specified in the patch');
    else throw errors.badPatchType(directive, item);
  }
  return replace ? { kept: changes, changes: [] } : { kept, changes };
}
