// Defaults in a schema must be valid values that pruning leaves alone.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/defaulting/validation.go
// Differs: defaults inside of metadata are checked as values, not as part of whole metadata.
import { CelValidator } from '../cel/cel-validator.ts';
import { child, type FieldError, invalid, key } from '../field-error.ts';
import { validateEmbedded } from '../schema/coercion.ts';
import { jsonEqual } from '../schema/json.ts';
import { pruneUnknownFields } from '../schema/pruning.ts';
import { asResourceRoot, type Structural } from '../schema/structural.ts';
import { validateValue } from './value-validator.ts';

/** Errors of every default of a version's schema. */
export function validateDefaults(schema: Structural, path: string, requirePruned: boolean): FieldError[] {
  return validate(asResourceRoot(schema), path, false, requirePruned);
}

/** Upstream forgets the types of int-or-string fields when it looks at defaults, and with them those inside of junctors. */
function anyIntOrString(schema: Structural, nested = false): Structural {
  const inside = (options: readonly Structural[]): Structural[] =>
    options.map((option) => anyIntOrString(option, true));
  const { items, not, properties, additionalProperties: values } = schema;
  return {
    ...schema,
    intOrString: false,
    ...(nested ? { type: undefined } : {}),
    items: items === undefined ? undefined : anyIntOrString(items, nested),
    additionalProperties: values === undefined || values === true ? values : anyIntOrString(values, nested),
    properties: properties && new Map([...properties].map(([name, child]) => [name, anyIntOrString(child, nested)])),
    allOf: inside(schema.allOf),
    anyOf: inside(schema.anyOf),
    oneOf: inside(schema.oneOf),
    not: not === undefined ? undefined : anyIntOrString(not, true),
  };
}

function validate(schema: Structural, path: string, outerMeta: boolean, requirePruned: boolean): FieldError[] {
  const insideMeta = outerMeta && !schema.embeddedResource;
  const errors = schema.hasDefault ? ofDefault(schema, child(path, 'default'), insideMeta, requirePruned) : [];
  // Defaults are forbidden below additionalProperties, so nobody looks there.
  if (schema.items !== undefined)
    errors.push(...validate(schema.items, child(path, 'items'), insideMeta, requirePruned));
  for (const [name, property] of schema.properties ?? []) {
    const meta = insideMeta || (schema.embeddedResource && ['metadata', 'apiVersion', 'kind'].includes(name));
    errors.push(...validate(property, key(child(path, 'properties'), name), meta, requirePruned));
  }
  return errors;
}

function ofDefault(schema: Structural, path: string, insideMeta: boolean, requirePruned: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const value = schema.default;
  if (!insideMeta && requirePruned) {
    const pruned = pruneUnknownFields(value, schema, schema.embeddedResource);
    if (!jsonEqual(pruned.value, value)) errors.push(invalid(path, value, 'must not have unknown fields'));
  }
  const embedded = insideMeta ? [] : validateEmbedded(value, schema, undefined, path);
  if (embedded.length > 0) return [...errors, ...embedded];
  const wrong = validateValue(value, anyIntOrString(schema), { path });
  if (wrong.length > 0) return [...errors, ...wrong];
  const cel = CelValidator.of(schema, schema.embeddedResource);
  if (cel === undefined) return errors;
  const same = cel.validate(path, schema, value, { old: value });
  errors.push(...same);
  if (same.length === 0) errors.push(...cel.validate(path, schema, value, {}));
  return errors;
}
