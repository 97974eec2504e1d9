// JSON as data: reading by pointer, narrowing to pointers, rebuilding.

/** JSON read without a type. */
// biome-ignore lint/suspicious/noExplicitAny: recorded answers have every shape there is
export type Json = any;

type Fields = Readonly<Record<string, Json>>;

export function isObject(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy in which `change` has replaced every value, inner ones first. */
export function rebuild(value: Json, change: (value: Json, key: string) => Json, key = ''): Json {
  if (Array.isArray(value)) {
    return change(
      value.map((element) => rebuild(element, change, key)),
      key,
    );
  }
  if (!isObject(value)) return change(value, key);
  const fields = Object.entries(value).map(([name, inner]) => [name, rebuild(inner, change, name)]);
  return change(Object.fromEntries(fields), key);
}

/** Text that is equal for equal values, whatever the order of their keys. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  const fields = Object.keys(value).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

function segments(pointer: string): string[] {
  // A slash within [name=a/b] does not end the segment.
  const parts = pointer.match(/\/(\[[^\]]*\]|[^/]*)/g) ?? [];
  return parts.map((part) => part.slice(1).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Which keys of a value a segment means: one name, one index, the element `[field=value]`, or `*` for each element. */
function keysFor(value: Json, segment: string): (string | number)[] {
  if (!Array.isArray(value)) return isObject(value) && Object.hasOwn(value, segment) ? [segment] : [];
  if (segment === '*') return [...value.keys()];
  const choice = /^\[([^=]+)=(.*)\]$/.exec(segment);
  if (choice === null) return Number(segment) < value.length ? [Number(segment)] : [];
  const place = value.findIndex((element) => String(element?.[choice[1]!]) === choice[2]);
  return place < 0 ? [] : [place];
}

/** The value a pointer names; undefined when there is none. */
export function pick(value: Json, pointer: string): Json {
  let found = value;
  for (const segment of segments(pointer)) {
    const [key] = keysFor(found, segment);
    if (key === undefined) return undefined;
    found = found[key];
  }
  return found;
}

/** Only what the pointers name, in the structure around it; elements come in the order in which they are named. */
export function keepOnly(value: Json, pointers: readonly string[]): Json {
  return narrow(value, pointers.map(segments));
}

function narrow(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.some((path) => path.length === 0) || typeof value !== 'object' || value === null) return value;
  const chosen = new Map<string | number, (readonly string[])[]>();
  for (const [segment, ...rest] of paths) {
    for (const key of keysFor(value, segment!)) chosen.set(key, [...(chosen.get(key) ?? []), rest]);
  }
  const entries = [...chosen].map(([key, rests]) => [key, narrow(value[key], rests)] as const);
  return Array.isArray(value) ? entries.map(([, element]) => element) : Object.fromEntries(entries);
}

/** Everything but what the pointers name. */
export function without(value: Json, pointers: readonly string[]): Json {
  const copy = structuredClone(value);
  for (const path of pointers.map(segments)) remove(copy, path);
  return copy;
}

function remove(value: Json, [segment, ...rest]: readonly string[]): void {
  for (const key of keysFor(value, segment!)) {
    if (rest.length > 0) remove(value[key], rest);
    else if (Array.isArray(value)) value.splice(Number(key), 1);
    else delete value[key];
  }
}
