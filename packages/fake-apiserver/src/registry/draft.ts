// Reading and changing plain JSON whose shape was checked by decoding: an absent field, null and a wrong type read alike, so
// strategies never crash on what a client sent.

/** A JSON object that its holder may change. Keys may come from users: `__proto__` is an own property like any other. */
export interface Draft {
  [field: string]: unknown;
}

export function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own value of a field, undefined when it is absent or null. */
export function get(parent: Draft | undefined, field: string): unknown {
  if (parent === undefined || !Object.hasOwn(parent, field)) return undefined;
  return parent[field] ?? undefined;
}

export function has(parent: Draft | undefined, field: string): boolean {
  return get(parent, field) !== undefined;
}

export function dict(parent: Draft | undefined, ...path: string[]): Draft | undefined {
  let at = parent;
  for (const field of path) {
    const value = get(at, field);
    if (!isDraft(value)) return undefined;
    at = value;
  }
  return at;
}

/** Like {@link dict}, but makes what is missing. */
export function ensure(parent: Draft, ...path: string[]): Draft {
  let at = parent;
  for (const field of path) {
    const value = get(at, field);
    if (isDraft(value)) {
      at = value;
      continue;
    }
    const made: Draft = {};
    put(at, field, made);
    at = made;
  }
  return at;
}

export function list(parent: Draft | undefined, field: string): readonly unknown[] {
  const value = get(parent, field);
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; other elements do not survive decoding. */
export function dicts(parent: Draft | undefined, field: string): readonly Draft[] {
  return list(parent, field).filter(isDraft);
}

export function strings(parent: Draft | undefined, field: string): readonly string[] {
  return list(parent, field).filter((item) => typeof item === 'string');
}

/** '' when absent. */
export function str(parent: Draft | undefined, field: string): string {
  const value = get(parent, field);
  return typeof value === 'string' ? value : '';
}

export function num(parent: Draft | undefined, field: string): number | undefined {
  const value = get(parent, field);
  return typeof value === 'number' ? value : undefined;
}

export function bool(parent: Draft | undefined, field: string): boolean {
  return get(parent, field) === true;
}

/** The string values of a map as entries in key order. */
export function entries(parent: Draft | undefined, field: string): readonly (readonly [string, string])[] {
  const map = dict(parent, field);
  if (map === undefined) return [];
  return Object.keys(map)
    .sort(byCodePoint)
    .map((key) => [key, typeof map[key] === 'string' ? map[key] : ''] as const);
}

/** Go's order of strings. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sets an own property, also one named `__proto__`. */
export function put(parent: Draft, field: string, value: unknown): void {
  if (field === '__proto__') {
    Object.defineProperty(parent, field, { value, enumerable: true, configurable: true, writable: true });
  } else parent[field] = value;
}

/** Sets a field that is absent or null. */
export function setDefault(parent: Draft | undefined, field: string, value: unknown): void {
  if (parent !== undefined && !has(parent, field)) put(parent, field, value);
}

/** Sets a string field that is absent, null or ''. */
export function setDefaultText(parent: Draft | undefined, field: string, value: string): void {
  if (parent !== undefined && str(parent, field) === '') put(parent, field, value);
}

/** Sets a field, or removes it when the value is undefined. */
export function assign(parent: Draft, field: string, value: unknown): void {
  if (value === undefined) delete parent[field];
  else put(parent, field, value);
}

/** A copy that shares nothing with the original. */
export function clone<T>(value: T): T {
  if (Array.isArray(value)) return value.map(clone) as T;
  if (!isDraft(value)) return value;
  const copy: Draft = {};
  for (const key of Object.keys(value)) put(copy, key, clone(value[key]));
  return copy as T;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isDraft(value) && Object.keys(value).every((key) => isEmpty(value[key]));
}

/**
 * Deep equality where absent, null and empty lists and maps are the same.
 *
 * Upstream: apimachinery@v0.30.3:pkg/api/equality/semantic.go#Semantic
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => semanticEqual(item, b[at]));
  }
  if (!isDraft(a) || !isDraft(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!semanticEqual(get(a, key), get(b, key))) return false;
  return true;
}
