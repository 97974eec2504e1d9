// Is a schema structural: every field has one type outside of the logical junctors, which may only restrict values.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/validation.go, complete.go
import {
  child,
  errorText,
  type FieldError,
  type FieldPath,
  forbidden,
  index,
  invalid,
  key,
  required,
} from '../field-error.ts';
import { isObject, jsonEqual } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';
import { compileGoRegexp } from './go-regexp.ts';

type Level = 'root' | 'item' | 'field';

const typeOf = (schema: Structural): string => schema.type ?? '';
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** All violations, sorted by their text. */
export function validateStructural(schema: Structural, path: FieldPath): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
  return errors
    .map((error) => ({ error, text: errorText(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error);
}

function invariants(schema: Structural, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const type = typeOf(schema);
  if (type === 'array' && schema.items === undefined) errors.push(required(child(path, 'items'), 'must be specified'));
  if (schema.items !== undefined) errors.push(...invariants(schema.items, 'item', child(path, 'items')));
  for (const [name, property] of schema.properties ?? []) {
    errors.push(...invariants(property, 'field', key(child(path, 'properties'), name)));
  }
  const values = schema.additionalProperties;
  if (values !== undefined || schema.forbidsAdditionalProperties) {
    if (level === 'root') errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used at the root'));
    if (values !== undefined && values !== true)
      errors.push(...invariants(values, 'field', child(path, 'additionalProperties')));
  }
  errors.push(...extensions(schema, path));
  errors.push(
    ...valueValidation(schema, isIntOrString(schema.raw['anyOf']), isIntOrStringAllOf(schema), path),
    ...types(schema, level, path),
    ...metadata(schema, level, path),
  );
  return errors;
}

function extensions(schema: Structural, path: FieldPath): FieldError[] {
  if (!schema.intOrString) return [];
  return [
    ['x-kubernetes-preserve-unknown-fields', schema.preserveUnknownFields] as const,
    ['x-kubernetes-embedded-resource', schema.embeddedResource] as const,
  ]
    .filter(([, set]) => set)
    .map(([name, set]) => invalid(child(path, name), set, 'must be false if x-kubernetes-int-or-string is true'));
}

function types(schema: Structural, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const type = typeOf(schema);
  const at = child(path, 'type');
  if (schema.embeddedResource && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(at, detail) : invalid(at, type, detail));
  } else if (type === '' && !schema.intOrString && !schema.preserveUnknownFields) {
    const where = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' }[
      level
    ];
    errors.push(required(at, `must not be empty ${where}`));
  }
  if (schema.embeddedResource && (schema.additionalProperties !== undefined || schema.forbidsAdditionalProperties)) {
    errors.push(
      forbidden(child(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalid(at, type, 'must be object at the root'));
  return errors;
}

function metadata(schema: Structural, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const checked = level === 'root' || schema.embeddedResource;
  const properties = child(path, 'properties');
  for (const name of ['kind', 'apiVersion']) {
    const property = schema.properties?.get(name);
    if (checked && property !== undefined && typeOf(property) !== 'string') {
      errors.push(invalid(child(key(properties, name), 'type'), typeOf(property), 'must be string'));
    }
  }
  const meta = schema.properties?.get('metadata');
  if (meta !== undefined) {
    const at = key(properties, 'metadata');
    if (checked && typeOf(meta) !== 'object') errors.push(invalid(child(at, 'type'), typeOf(meta), 'must be object'));
    if (level === 'root' && !restrictsNamesOnly(meta)) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      errors.push(forbidden(at, detail));
    }
  }
  if (schema.embeddedResource && !schema.preserveUnknownFields && (schema.properties?.size ?? 0) === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(properties, detail));
  }
  return errors;
}

const IGNORED_IN_METADATA: ReadonlySet<string> = new Set(['type', 'default', 'externalDocs', 'example']);

/** `metadata` at the root may only say something about the two names; its type and default do not count. */
function restrictsNamesOnly(meta: Structural): boolean {
  for (const [name, value] of Object.entries(meta.raw)) {
    if (IGNORED_IN_METADATA.has(name) || value === null || value === false || value === '') continue;
    if (name === 'properties' && isObject(value)) {
      if (Object.keys(value).every((field) => field === 'name' || field === 'generateName')) continue;
    }
    return false;
  }
  return true;
}

const isIntOrString = (anyOf: unknown): boolean => Array.isArray(anyOf) && jsonEqual(anyOf, INT_OR_STRING);

function isIntOrStringAllOf(schema: Structural): boolean {
  return isIntOrString(schema.allOf[0]?.raw['anyOf']);
}

function valueValidation(
  schema: Structural,
  skipAnyOf: boolean,
  skipFirstAllOfAnyOf: boolean,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!skipAnyOf) {
    for (const [position, option] of schema.anyOf.entries()) {
      errors.push(...nestedValidation(option, false, index(child(path, 'anyOf'), position)));
    }
  }
  for (const [position, option] of schema.allOf.entries()) {
    errors.push(
      ...nestedValidation(option, skipFirstAllOfAnyOf && position === 0, index(child(path, 'allOf'), position)),
    );
  }
  for (const [position, option] of schema.oneOf.entries()) {
    errors.push(...nestedValidation(option, false, index(child(path, 'oneOf'), position)));
  }
  if (schema.not !== undefined) errors.push(...nestedValidation(schema.not, false, child(path, 'not')));
  if (schema.pattern !== '') {
    try {
      compileGoRegexp(schema.pattern);
    } catch (error) {
      const detail = `must be a valid regular expression, but isn't: ${(error as Error).message}`;
      errors.push(invalid(child(path, 'pattern'), schema.pattern, detail));
    }
  }
  return errors;
}

function nestedValidation(schema: Structural, skipAnyOf: boolean, path: FieldPath): FieldError[] {
  const errors = valueValidation(schema, skipAnyOf, false, path);
  if (schema.items !== undefined) errors.push(...nestedValidation(schema.items, false, child(path, 'items')));
  for (const [name, property] of schema.properties ?? []) {
    errors.push(...nestedValidation(property, false, key(child(path, 'properties'), name)));
  }
  const refuse = (refused: boolean, name: string, detail: string): void => {
    if (refused) errors.push(forbidden(child(path, name), `must be ${detail} to be structural`));
  };
  refuse(typeOf(schema) !== '', 'type', 'empty');
  refuse(
    schema.additionalProperties !== undefined || schema.forbidsAdditionalProperties,
    'additionalProperties',
    'undefined',
  );
  refuse(schema.hasDefault, 'default', 'undefined');
  refuse(schema.title !== '', 'title', 'empty');
  refuse(schema.description !== '', 'description', 'empty');
  refuse(schema.nullable, 'nullable', 'false');
  refuse(schema.preserveUnknownFields, 'x-kubernetes-preserve-unknown-fields', 'false');
  refuse(schema.embeddedResource, 'x-kubernetes-embedded-resource', 'false');
  refuse(schema.intOrString, 'x-kubernetes-int-or-string', 'false');
  refuse(schema.listMapKeys.length > 0, 'x-kubernetes-list-map-keys', 'empty');
  refuse(schema.listType !== undefined, 'x-kubernetes-list-type', 'undefined');
  refuse(schema.mapType !== undefined, 'x-kubernetes-map-type', 'undefined');
  refuse(schema.validations.length > 0, 'x-kubernetes-validations', 'empty');
  if (schema.properties?.has('metadata')) {
    errors.push(forbidden(key(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

/** Whatever a junctor names must also be named outside of it. */
function completeness(rules: Structural, schema: Structural, at: FieldPath, from: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const each = (options: readonly Structural[], name: string): void => {
    for (const [position, option] of options.entries()) {
      errors.push(...nestedCompleteness(option, schema, at, index(child(from, name), position)));
    }
  };
  if (rules.not !== undefined) errors.push(...nestedCompleteness(rules.not, schema, at, child(from, 'not')));
  each(rules.allOf, 'allOf');
  each(rules.anyOf, 'anyOf');
  each(rules.oneOf, 'oneOf');
  return errors;
}

function nestedCompleteness(
  rules: Structural,
  schema: Structural | undefined,
  at: FieldPath,
  from: FieldPath,
): FieldError[] {
  if (schema === undefined) return [required(at, `because it is defined in ${from ?? '<nil>'}`)];
  const errors = completeness(rules, schema, at, from);
  if (rules.items !== undefined) {
    errors.push(...nestedCompleteness(rules.items, schema.items, child(at, 'items'), child(from, 'items')));
  }
  for (const [name, property] of rules.properties ?? []) {
    const [there, here] = [key(child(at, 'properties'), name), key(child(from, 'properties'), name)];
    errors.push(...nestedCompleteness(property, schema.properties?.get(name), there, here));
  }
  return errors;
}
