// The fields of a version that field selectors may name.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go#ValidateCustomResourceSelectableFields
import { child, duplicate, type FieldError, index, invalid, required, tooMany } from '../field-error.ts';
import type { Structural } from '../schema/structural.ts';
import { validFieldPath } from './valid-field-path.ts';

const MAX_FIELDS = 8;
const SELECTABLE: ReadonlySet<string | undefined> = new Set(['string', 'boolean', 'integer']);

/** `withoutSchema` is what upstream says when there is no schema next to the fields. */
export function selectableFieldErrors(
  fields: readonly string[],
  schema: Structural | undefined,
  path: string,
  withoutSchema: string,
): FieldError[] {
  if (fields.length === 0) return [];
  if (schema === undefined) return [invalid(path, '', withoutSchema)];
  const known = new Set<string | undefined>();
  const errors = fields.flatMap((jsonPath, position): FieldError[] => {
    const at = child(index(path, position), 'jsonPath');
    if (jsonPath === '') return [required(at, '')];
    const found = validFieldPath(jsonPath, schema, false);
    if ('error' in found) return [invalid(at, jsonPath, `is an invalid path: ${found.error}`)];
    const wrong: FieldError[] = [];
    if (found.path === 'metadata' || found.path?.startsWith('metadata.')) {
      wrong.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!SELECTABLE.has(found.schema.type)) {
      const types = 'type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      wrong.push(invalid(at, jsonPath, `must point to a field of ${types}`));
    }
    if (known.has(found.path)) wrong.push(duplicate(at, jsonPath));
    known.add(found.path);
    return wrong;
  });
  if (known.size > MAX_FIELDS) errors.push(tooMany(path, known.size, MAX_FIELDS));
  return errors;
}
