// Lists of type set and map: no element, no key twice.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/listtype/validation.go
import { child, duplicate, type FieldError, type FieldPath, index, invalid, key } from '../field-error.ts';
import { isObject, jsonEqual, objectEntries } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';

/** All duplicates below `value`. */
export function validateListTypes(value: unknown, schema: Structural | undefined, path?: FieldPath): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const errors =
      schema.listType === 'set'
        ? duplicatesOf(value, path)
        : schema.listType === 'map'
          ? mapErrors(value, schema, path)
          : [];
    for (const [position, item] of value.entries())
      errors.push(...validateListTypes(item, schema.items, index(path, position)));
    return errors;
  }
  if (!isObject(value)) return [];
  const errors: FieldError[] = [];
  const values = schema.additionalProperties;
  for (const [name, item] of objectEntries(value)) {
    if (values !== undefined && values !== true) errors.push(...validateListTypes(item, values, key(path, name)));
    errors.push(...validateListTypes(item, schema.properties?.get(name), child(path, name)));
  }
  return errors;
}

/** Each repeated value is reported once, at its second place. */
function duplicatesOf(values: readonly unknown[], path: FieldPath): FieldError[] {
  const seen: { readonly value: unknown; times: number }[] = [];
  const scalars = new Map<unknown, { readonly value: unknown; times: number }>();
  const errors: FieldError[] = [];
  for (const [position, value] of values.entries()) {
    const scalar = typeof value !== 'object' || value === null;
    const known = scalar ? scalars.get(value) : seen.find((entry) => jsonEqual(entry.value, value));
    if (known === undefined) {
      const entry = { value, times: 1 };
      if (scalar) scalars.set(value, entry);
      else seen.push(entry);
      continue;
    }
    known.times += 1;
    if (known.times === 2) errors.push(duplicate(index(path, position), value));
  }
  return errors;
}

function mapErrors(values: readonly unknown[], schema: Structural, path: FieldPath): FieldError[] {
  for (const [position, item] of values.entries()) {
    if (item !== null && !isObject(item)) {
      return [invalid(index(path, position), item, 'must be an object for an array of list-type map')];
    }
  }
  const keys = values.map((item) =>
    Object.fromEntries(
      schema.listMapKeys
        .filter((name) => isObject(item) && Object.hasOwn(item, name))
        .map((name) => [name, (item as Record<string, unknown>)[name]]),
    ),
  );
  return duplicatesOf(keys, path);
}
