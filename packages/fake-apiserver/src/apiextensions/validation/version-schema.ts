// The schema of one version: structural, with valid defaults, valid in every node, and affordable.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go#validateCustomResourceDefinitionValidation
import { child, type FieldError, forbidden, invalid, RawValue } from '../field-error.ts';
import type { Structural } from '../schema/structural.ts';
import { CelContext } from './cel-context.ts';
import { conversionProblem } from './convertible.ts';
import type { CrdRules } from './crd-rules.ts';
import { validateDefaults } from './defaults.ts';
import { validateOpenApiSchema } from './openapi-schema.ts';
import { validateStructural } from './validate-structural.ts';

// Go's names of the fields that keep their meaning when `properties.status` is taken out of the root.
const ALLOWED_AT_ROOT: readonly (readonly [go: string, json: string])[] = [
  ['Description', 'description'],
  ['Type', 'type'],
  ['Format', 'format'],
  ['Title', 'title'],
  ['Maximum', 'maximum'],
  ['ExclusiveMaximum', 'exclusiveMaximum'],
  ['Minimum', 'minimum'],
  ['ExclusiveMinimum', 'exclusiveMinimum'],
  ['MaxLength', 'maxLength'],
  ['MinLength', 'minLength'],
  ['Pattern', 'pattern'],
  ['MaxItems', 'maxItems'],
  ['MinItems', 'minItems'],
  ['UniqueItems', 'uniqueItems'],
  ['MultipleOf', 'multipleOf'],
  ['Required', 'required'],
  ['Items', 'items'],
  ['Properties', 'properties'],
  ['ExternalDocs', 'externalDocs'],
  ['Example', 'example'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields'],
  ['XValidations', 'x-kubernetes-validations'],
];
const ALLOWED_JSON: ReadonlySet<string> = new Set(ALLOWED_AT_ROOT.map(([, json]) => json));

const isZero = (value: unknown): boolean => value === null || value === undefined || value === false || value === '';

function rootErrors(schema: Structural, path: string): FieldError[] {
  if ((schema.type ?? '') !== '' && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(child(path, 'openAPIV3Schema.type'), schema.type, detail)];
  }
  if (Object.entries(schema.raw).every(([name, value]) => isZero(value) || ALLOWED_JSON.has(name))) return [];
  const names = ALLOWED_AT_ROOT.map(([go]) => go).join(' ');
  const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(child(path, 'openAPIV3Schema'), new RawValue('apiextensions.JSONSchemaProps{}'), detail)];
}

/** Errors of a schema; `path` is that of the object that holds the openAPIV3Schema. */
export function versionSchemaErrors(
  schema: Structural,
  path: string,
  statusEnabled: boolean,
  rules: CrdRules,
): FieldError[] {
  const errors: FieldError[] = [];
  const at = child(path, 'openAPIV3Schema');
  if (statusEnabled) errors.push(...rootErrors(schema, path));
  if (schema.nullable)
    errors.push(forbidden(child(path, 'openAPIV3Schema.nullable'), 'nullable cannot be true at the root'));
  let cel: CelContext | undefined;
  const problem = rules.requireStructuralSchema ? conversionProblem(schema.raw) : undefined;
  if (rules.requireStructuralSchema && problem === undefined) {
    const structural = validateStructural(schema, at);
    const defaults = structural.length > 0 ? [] : validateDefaults(schema, at, rules.requirePrunedDefaults);
    errors.push(...structural, ...defaults);
    if (structural.length === 0 && defaults.length === 0) cel = CelContext.root(schema);
  }
  const nodeRules = {
    allowDefaults: true,
    disallowDefaultsReason: '',
    requireValidPropertyType: rules.requireValidPropertyType,
    requireAtomicSetType: rules.requireAtomicSetType,
    requireMapListKeysMapSetValidation: rules.requireMapListKeysMapSetValidation,
    suppressPerExpressionCost: rules.suppressPerExpressionCost,
    insideResourceMeta: false,
    uncorrelatablePath: undefined,
  };
  errors.push(...validateOpenApiSchema(schema, at, nodeRules, true, cel).all);
  if (errors.length === 0 && problem !== undefined) errors.push(invalid(at, '', problem));
  if (cel !== undefined) errors.push(...cel.totalErrors(at));
  return errors;
}
