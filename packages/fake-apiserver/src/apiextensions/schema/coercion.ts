// Cleans the type and object metadata of embedded resources, and validates it.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/objectmeta/algorithm.go, validation.go
import { isDNS1035Label, parseGroupVersion } from '@kube-rx/apimachinery';
import { child, type FieldError, type FieldPath, index, invalid, key, required } from '../field-error.ts';
import { isObject, type JsonObject, objectEntries, withFields } from './json.ts';
import type { ObjectMetaDecoder } from './object-meta.ts';
import type { Structural } from './structural.ts';

export interface Coerced {
  readonly value: unknown;
  readonly unknownFields: readonly string[];
  readonly error?: FieldError;
}

class Coercer {
  readonly unknownFields: string[] = [];
  readonly #drop: boolean;
  readonly #decoder: ObjectMetaDecoder;

  constructor(decoder: ObjectMetaDecoder, dropInvalid: boolean) {
    this.#decoder = decoder;
    this.#drop = dropInvalid;
  }

  coerce(value: unknown, schema: Structural | undefined, path: FieldPath): unknown {
    if (schema === undefined) return value;
    if (Array.isArray(value)) {
      let changed = false;
      const out = value.map((item, position) => {
        const next = this.coerce(item, schema.items, index(path, position));
        changed ||= next !== item;
        return next;
      });
      return changed ? out : value;
    }
    if (!isObject(value)) return value;
    const changes = new Map<string, unknown>();
    for (const [name, item] of objectEntries(value)) {
      const next = schema.embeddedResource ? this.#meta(name, item, path) : item;
      if (next === undefined) {
        changes.set(name, undefined);
        continue;
      }
      const property = schema.properties?.get(name);
      const values = schema.additionalProperties;
      if (property !== undefined) changes.set(name, this.coerce(next, property, child(path, name)));
      else if (values !== undefined && values !== true) changes.set(name, this.coerce(next, values, key(path, name)));
      else if (next !== item) changes.set(name, next);
    }
    return withFields(value, changes);
  }

  #meta(name: string, item: unknown, path: FieldPath): unknown {
    if (name === 'apiVersion' || name === 'kind') {
      if (typeof item === 'string') return item;
      if (this.#drop) return undefined;
      throw new CoercionError(invalid(child(path, name), item, 'must be a string'));
    }
    if (name !== 'metadata') return item;
    const where = child(path, 'metadata');
    const decoded = this.#decoder.decode(item, where, this.#drop);
    if ('error' in decoded) throw new CoercionError(invalid(where, item, decoded.error));
    this.unknownFields.push(...decoded.unknownFields);
    return decoded.metadata;
  }
}

class CoercionError extends Error {
  readonly fieldError: FieldError;
  constructor(fieldError: FieldError) {
    super(fieldError.message);
    this.fieldError = fieldError;
  }
}

/** Decodes the metadata of embedded resources below `value`; `dropInvalid` drops what does not decode instead of failing. */
export function coerceEmbedded(
  value: unknown,
  schema: Structural,
  decoder: ObjectMetaDecoder,
  options: { readonly path?: FieldPath; readonly dropInvalid?: boolean } = {},
): Coerced {
  const coercer = new Coercer(decoder, options.dropInvalid ?? false);
  try {
    const coerced = coercer.coerce(value, schema, options.path);
    return { value: coerced, unknownFields: coercer.unknownFields.sort() };
  } catch (error) {
    if (error instanceof CoercionError) return { value, unknownFields: [], error: error.fieldError };
    throw error;
  }
}

/** Decodes and checks the metadata of embedded resources; what metadata may say is up to the registry. */
export interface EmbeddedRules {
  readonly decoder: ObjectMetaDecoder;
  validateMetadata(metadata: JsonObject, path: string): readonly FieldError[];
}

function validateEmbeddedResource(value: JsonObject, path: FieldPath, rules: EmbeddedRules | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) {
    if (!Object.hasOwn(value, name)) errors.push(required(child(path, name), 'must not be empty'));
  }
  for (const [name, item] of objectEntries(value)) {
    const where = child(path, name);
    if (name === 'apiVersion' || name === 'kind') errors.push(...typeMetaErrors(name, item, where));
    else if (name === 'metadata' && rules !== undefined) {
      const decoded = rules.decoder.decode(item, where);
      if ('error' in decoded) errors.push(invalid(where, item, decoded.error));
      else errors.push(...rules.validateMetadata(decoded.metadata, where));
    }
  }
  return errors;
}

function typeMetaErrors(name: 'apiVersion' | 'kind', value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  if (value === '') return [invalid(path, value, 'must not be empty')];
  if (name === 'apiVersion') {
    return parseGroupVersion(value) === undefined
      ? [invalid(path, value, `unexpected GroupVersion string: ${value}`)]
      : [];
  }
  const wrong = isDNS1035Label(value.toLowerCase());
  if (wrong.length === 0) return [];
  return [invalid(path, value, `may have mixed case, but should otherwise match: ${wrong.join(',')}`)];
}

/**
 * Errors of all embedded resources below `value`, and of the value itself when its schema says it is one. Metadata is looked
 * at only with rules for it.
 */
export function validateEmbedded(
  value: unknown,
  schema: Structural | undefined,
  rules: EmbeddedRules | undefined,
  path?: FieldPath,
): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, position) => validateEmbedded(item, schema.items, rules, index(path, position)));
  }
  if (!isObject(value)) return [];
  const errors = schema.embeddedResource ? validateEmbeddedResource(value, path, rules) : [];
  for (const [name, item] of objectEntries(value)) {
    const property = schema.properties?.get(name);
    const values = schema.additionalProperties;
    if (property !== undefined) errors.push(...validateEmbedded(item, property, rules, child(path, name)));
    else if (values !== undefined && values !== true)
      errors.push(...validateEmbedded(item, values, rules, key(path, name)));
  }
  return errors;
}
