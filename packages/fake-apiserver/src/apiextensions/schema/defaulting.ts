// Fills defaults of a schema in and drops nulls that nobody allowed.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/defaulting/algorithm.go, prunenulls.go
// Differs: values are immutable here; both functions return the same value when nothing changed.
import { isObject, objectEntries, withFields } from './json.ts';
import { type Structural, schemaOfField } from './structural.ts';

function mapArray(value: readonly unknown[], each: (item: unknown) => unknown): unknown {
  let changed = false;
  const out = value.map((item) => {
    const next = each(item);
    changed ||= next !== item;
    return next;
  });
  return changed ? out : value;
}

const isNonNullableNull = (value: unknown, schema: Structural | undefined): boolean =>
  value === null && schema !== undefined && !schema.nullable;

/** A null where nothing may be null becomes the default; without one it stays null, as validation is to see it. */
const nullOrDefault = (value: unknown, schema: Structural | undefined): unknown =>
  isNonNullableNull(value, schema) && schema!.hasDefault ? schema!.default : value;

/** Applies the defaults below `value`; the value itself is never replaced. */
export function applyDefaults(value: unknown, schema: Structural | undefined): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    return mapArray(value, (item) => applyDefaults(nullOrDefault(item, schema.items), schema.items));
  }
  if (!isObject(value)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, property] of schema.properties ?? []) {
    if (!property.hasDefault) continue;
    if (!Object.hasOwn(value, name) || isNonNullableNull(value[name], property)) {
      changes.set(name, applyDefaults(property.default, property));
    }
  }
  for (const [name, item] of objectEntries(value)) {
    if (changes.has(name)) continue;
    const below = schemaOfField(schema, name);
    if (below === undefined) continue;
    const next = applyDefaults(schema.properties?.has(name) ? item : nullOrDefault(item, below), below);
    if (next !== item) changes.set(name, next);
  }
  return changes.size === 0 ? value : withFields(value, changes);
}

/** Removes null fields that are neither nullable nor defaulted. Nulls in lists stay. */
export function dropNulls(value: unknown, schema: Structural | undefined): unknown {
  if (Array.isArray(value)) return mapArray(value, (item) => dropNulls(item, schema?.items));
  if (!isObject(value)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, item] of objectEntries(value)) {
    const below = schemaOfField(schema, name);
    if (isNonNullableNull(item, below) && !below!.hasDefault) changes.set(name, undefined);
    else changes.set(name, dropNulls(item, below));
  }
  return withFields(value, changes);
}
