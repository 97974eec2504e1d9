// Plain JSON with user-chosen keys, handled so that a key such as `__proto__` is nothing special.
import { goDynamicType } from '../../schema/go-dynamic-type.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectEntries = (value: JsonObject): [string, unknown][] => Object.entries(value);

/** An own field, undefined when it is absent: never one of the prototype. */
export const getField = (value: JsonObject, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Builds an object from entries; every key becomes plain own data. */
export function fromEntries(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries);
}

/**
 * A copy with some fields replaced or, where the new value is undefined, removed. New fields come last.
 * Returns the same object when nothing changes.
 */
export function withFields(value: JsonObject, changes: ReadonlyMap<string, unknown>): JsonObject {
  let differs = false;
  for (const [name, next] of changes) {
    if (Object.hasOwn(value, name) ? value[name] !== next : next !== undefined) {
      differs = true;
      break;
    }
  }
  if (!differs) return value;
  const entries = new Map(objectEntries(value));
  for (const [name, next] of changes) {
    if (next === undefined) entries.delete(name);
    else entries.set(name, next);
  }
  return fromEntries(entries);
}

/** Semantic equality of JSON; the order of keys does not count. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, position) => jsonEqual(item, b[position]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && jsonEqual(a[name], b[name]))
  );
}

/** As {@link jsonEqual}, but an absent field, null, an empty list and an empty object are the same. */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, position) => semanticEqual(item, b[position]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) if (!semanticEqual(getField(a, name), getField(b, name))) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The value at a path of plain fields. `found` is false when a field is missing; a value in between that is no object gives an error text. */
export function nested(
  value: unknown,
  path: readonly string[],
): { readonly found: boolean; readonly value?: unknown; readonly error?: string } {
  let current = value;
  for (const [position, name] of path.entries()) {
    if (current === null) return { found: false };
    if (!isObject(current)) {
      const walked = path.slice(0, position + 1).join('.');
      return {
        found: false,
        error: `.${walked} accessor error: ${shownWithType(current)}, expected map[string]interface{}`,
      };
    }
    if (!Object.hasOwn(current, name)) return { found: false };
    current = current[name];
  }
  return { found: true, value: current };
}

export function shownWithType(value: unknown): string {
  return `${goText(value)} is of the type ${goType(value)}`;
}

const goText = (value: unknown): string =>
  value === null ? '<nil>' : typeof value === 'object' ? JSON.stringify(value) : String(value);

export function goType(value: unknown): string {
  return value === null || value === undefined ? '<nil>' : goDynamicType(value);
}
