// Checks every node of an openAPIV3Schema of a CRD, its CEL rules included.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go#ValidateCustomResourceDefinitionOpenAPISchema

import { goQuote } from '@kube-rx/apimachinery';
import {
  child,
  type FieldError,
  forbidden,
  index,
  invalid,
  key,
  notSupported,
  RawValue,
  required,
} from '../field-error.ts';
import { isObject, objectEntries } from '../schema/json.ts';
import { newStructural, type Structural } from '../schema/structural.ts';
import { type CelContext, validateCelRules } from './cel-context.ts';
import { ruleShapeErrors } from './rule-shape.ts';
import type { SchemaRules } from './schema-rules.ts';

/** Schema errors come before CEL errors, whatever node they are of. */
export class SchemaErrors {
  readonly schema: FieldError[] = [];
  readonly cel: FieldError[] = [];

  get all(): FieldError[] {
    return [...this.schema, ...this.cel];
  }

  append(other: SchemaErrors): void {
    this.schema.push(...other.schema);
    this.cel.push(...other.cel);
  }
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);
const UNSUPPORTED = ['additionalItems', 'patternProperties', 'definitions', 'dependencies'];

/** Errors of a node and all below it. `cel` is undefined where rules are not to be compiled. */
export function validateOpenApiSchema(
  schema: Structural,
  path: string,
  rules: SchemaRules,
  isRoot: boolean,
  cel: CelContext | undefined,
): SchemaErrors {
  const errors = new SchemaErrors();
  errors.schema.push(...standardErrors(schema, path, rules));
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.schema.push(forbidden(child(path, 'uniqueItems'), detail));
  }
  validateChildren(schema, path, rules, isRoot, cel, errors);
  errors.schema.push(...extensionErrors(schema, path, rules));
  errors.schema.push(...ruleShapeErrors(schema, path));
  // Broken schemas have no types to compile rules against.
  if (schema.validations.length > 0 && errors.schema.length === 0 && cel !== undefined) {
    errors.cel.push(...validateCelRules(schema, path, cel, rules));
  }
  return errors;
}

function validateChildren(
  schema: Structural,
  path: string,
  rules: SchemaRules,
  isRoot: boolean,
  cel: CelContext | undefined,
  errors: SchemaErrors,
): void {
  const below = (node: Structural, at: string, its: SchemaRules, context: CelContext | undefined): void =>
    errors.append(validateOpenApiSchema(node, at, its, false, context));
  const values = schema.additionalProperties;
  if (values !== undefined || schema.forbidsAdditionalProperties) {
    const at = child(path, 'additionalProperties');
    if (schema.properties !== undefined && values !== true) {
      errors.schema.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (values !== undefined && values !== true) {
      const reason = 'inside additionalProperties applying to object metadata';
      const its = rules.insideResourceMeta ? forbidDefaults(rules, reason) : rules;
      below(values, at, its, cel?.child(values));
    }
  }
  for (const [name, property] of schema.properties ?? []) {
    let its = rules;
    if ((isRoot || schema.embeddedResource) && META_FIELDS.has(name)) {
      its = { ...its, insideResourceMeta: true };
      if (isRoot) its = forbidDefaults(its, `in top-level ${name}`);
    }
    below(property, key(child(path, 'properties'), name), its, cel?.child(property));
  }
  if (schema.not !== undefined) below(schema.not, child(path, 'not'), rules, undefined);
  for (const [name, options] of [
    ['allOf', schema.allOf],
    ['oneOf', schema.oneOf],
    ['anyOf', schema.anyOf],
  ] as const) {
    for (const [position, option] of options.entries())
      below(option, index(child(path, name), position), rules, undefined);
  }
  const its = schema.listType === 'map' ? rules : forbidOldSelf(rules, path);
  if (schema.items !== undefined) below(schema.items, child(path, 'items'), its, cel?.child(schema.items));
  const items = schema.raw['items'];
  if (Array.isArray(items)) {
    for (const [position, item] of items.filter(isObject).entries()) {
      below(newStructural(item), index(child(path, 'items'), position), its, undefined);
    }
  }
}

const forbidDefaults = (rules: SchemaRules, reason: string): SchemaRules => ({
  ...rules,
  allowDefaults: false,
  disallowDefaultsReason: reason,
});

const forbidOldSelf = (rules: SchemaRules, path: string): SchemaRules =>
  rules.uncorrelatablePath === undefined ? { ...rules, uncorrelatablePath: path } : rules;

function standardErrors(schema: Structural, path: string, rules: SchemaRules): FieldError[] {
  const errors: FieldError[] = [];
  const { raw } = schema;
  const type = schema.type ?? '';
  if (rules.requireValidPropertyType && type !== '' && !TYPES.includes(type)) {
    errors.push(notSupported(child(path, 'type'), type, TYPES));
  }
  if (schema.hasDefault && !rules.allowDefaults) {
    const reason = rules.disallowDefaultsReason;
    errors.push(forbidden(child(path, 'default'), `must not be set${reason === '' ? '' : ` ${reason}`}`));
  }
  if (typeof raw['id'] === 'string' && raw['id'] !== '')
    errors.push(forbidden(child(path, 'id'), 'id is not supported'));
  for (const name of UNSUPPORTED) {
    const value = raw[name];
    const set = isObject(value)
      ? objectEntries(value).length > 0 || name === 'additionalItems'
      : value === true || value === false;
    if (set) errors.push(forbidden(child(path, name), `${name} is not supported`));
  }
  if (typeof raw['$ref'] === 'string') errors.push(forbidden(child(path, '$ref'), '$ref is not supported'));
  if ((type as string) === 'null') {
    errors.push(forbidden(child(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(raw['items']) && raw['items'].length > 0) {
    errors.push(forbidden(child(path, 'items'), 'items must be a schema object and not an array'));
  }
  if (rules.insideResourceMeta && schema.embeddedResource) {
    errors.push(forbidden(child(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  }
  return errors;
}

function typeRequired(schema: Structural, path: string, type: string, extension: string): FieldError | undefined {
  if (schema.type === type) return undefined;
  const detail = `must be ${type} if ${extension} is specified`;
  const at = child(path, 'type');
  return (schema.type ?? '') === '' ? required(at, detail) : invalid(at, schema.type, detail);
}

function extensionErrors(schema: Structural, path: string, rules: SchemaRules): FieldError[] {
  const errors: FieldError[] = [];
  const listType: string | undefined = schema.listType;
  const mapType: string | undefined = schema.mapType;
  if (schema.raw['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  if (mapType !== undefined) {
    const wrongType = typeRequired(schema, path, 'object', 'x-kubernetes-map-type');
    if (wrongType !== undefined) errors.push(wrongType);
    if (mapType !== 'atomic' && mapType !== 'granular') {
      errors.push(notSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
    }
  }
  if (listType !== undefined) {
    const wrongType = typeRequired(schema, path, 'array', 'x-kubernetes-list-type');
    if (wrongType !== undefined) errors.push(wrongType);
    else if (rules.requireAtomicSetType && listType === 'set') errors.push(...atomicItemErrors(schema, path));
    if (!['atomic', 'set', 'map'].includes(listType)) {
      errors.push(notSupported(child(path, 'x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
    }
  }
  if (schema.listMapKeys.length > 0 && listType !== 'map') {
    const at = child(path, 'x-kubernetes-list-type');
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  if (listType === 'map') errors.push(...mapListErrors(schema, path));
  if (rules.requireMapListKeysMapSetValidation) errors.push(...mapListKeyErrors(schema, path));
  return errors;
}

function atomicItemErrors(schema: Structural, path: string): FieldError[] {
  const { items } = schema;
  if (items === undefined) return [];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const shown = items.listType === undefined ? null : items.listType;
  if (items.type === 'array' && items.listType !== undefined && items.listType !== 'atomic') {
    return [invalid(child(path, 'items', 'x-kubernetes-list-type'), shown, detail)];
  }
  if (items.type === 'object' && items.mapType !== 'atomic') {
    return [invalid(child(path, 'items', 'x-kubernetes-map-type'), shown, detail)];
  }
  return [];
}

const goStrings = (values: readonly string[]): RawValue => new RawValue(`[]string{${values.map(goQuote).join(', ')}}`);

function mapListErrors(schema: Structural, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const keysPath = child(path, 'x-kubernetes-list-map-keys');
  if (schema.listMapKeys.length === 0)
    errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  const { items } = schema;
  if (items === undefined) {
    if (!Array.isArray(schema.raw['items'])) {
      errors.push(required(child(path, 'items'), 'must have a schema if x-kubernetes-list-type is map'));
    }
    return errors;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(child(path, 'items', 'type'), items.type ?? '', detail));
    return errors;
  }
  const seen = new Set<string>();
  for (const name of schema.listMapKeys) {
    const property = items.properties?.get(name);
    if (property === undefined) {
      errors.push(invalid(keysPath, goStrings(schema.listMapKeys), 'entries must all be names of item properties'));
    } else if (property.type === 'array' || property.type === 'object') {
      const at = child(key(child(path, 'items', 'properties'), name), 'type');
      errors.push(invalid(at, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (seen.has(name))
      errors.push(invalid(keysPath, goStrings(schema.listMapKeys), 'must not contain duplicate entries'));
    seen.add(name);
  }
  return errors;
}

/** Elements of sets and maps are never null; the keys of maps are always there. */
export function mapListKeyErrors(schema: Structural, path: string): FieldError[] {
  const { items, listType } = schema;
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items.nullable) {
    errors.push(
      forbidden(child(path, 'items', 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  }
  if (listType !== 'map') return errors;
  for (const name of schema.listMapKeys) {
    const property = items.properties?.get(name);
    if (property === undefined) continue;
    const at = key(child(path, 'items', 'properties'), name);
    const prefix = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!items.required.includes(name) && !property.hasDefault) {
      errors.push(required(child(at, 'default'), `${prefix} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbidden(child(at, 'nullable'), `${prefix} cannot be nullable`));
  }
  return errors;
}
