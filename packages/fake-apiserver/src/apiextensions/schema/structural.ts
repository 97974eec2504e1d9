// The openAPIV3Schema of a CRD version as the server works with it: what prunes, defaults, validates, patches and explains.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/structural.go#Structural
// Differs: logical junctors (allOf, not, ...) are of the same type, where upstream has a nested one.
import type { Schema, SchemaType } from '../../schema/schema.ts';
import { isObject, type JsonObject, objectEntries } from './json.ts';

/** One entry of `x-kubernetes-validations`. Absent texts are ''. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
}

/** A compiled schema node. The root one is the resource without `apiVersion`, `kind` and `metadata` unless they are spelled out. */
export interface Structural extends Schema {
  readonly properties: ReadonlyMap<string, Structural> | undefined;
  /** `false` refuses properties that are not named; it exists only inside junctors and old schemas. */
  readonly additionalProperties: Structural | true | undefined;
  readonly forbidsAdditionalProperties: boolean;
  readonly items: Structural | undefined;
  readonly title: string;
  readonly description: string;
  readonly hasDefault: boolean;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly multipleOf: number | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: string;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly allOf: readonly Structural[];
  readonly anyOf: readonly Structural[];
  readonly oneOf: readonly Structural[];
  readonly not: Structural | undefined;
  readonly validations: readonly ValidationRule[];
  /** The JSON it was made from. */
  readonly raw: JsonObject;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

function ruleOf(value: unknown): ValidationRule {
  const rule = isObject(value) ? value : {};
  return {
    rule: text(rule['rule']),
    message: text(rule['message']),
    messageExpression: text(rule['messageExpression']),
    reason: optionalText(rule['reason']),
    fieldPath: text(rule['fieldPath']),
    optionalOldSelf: typeof rule['optionalOldSelf'] === 'boolean' ? rule['optionalOldSelf'] : undefined,
  };
}

const list = (value: unknown): readonly Structural[] =>
  Array.isArray(value) ? value.filter(isObject).map((item) => newStructural(item)) : [];

function additional(value: unknown): Structural | true | undefined {
  if (isObject(value)) return newStructural(value);
  return value === true ? true : undefined;
}

/**
 * Compiles a JSONSchemaProps. It never fails: what is not of the expected type counts as absent, and whether the schema is
 * structural is the question of {@link file://../validation/validate-structural.ts}.
 */
export function newStructural(raw: JsonObject): Structural {
  const properties = isObject(raw['properties'])
    ? new Map(objectEntries(raw['properties']).map(([name, item]) => [name, newStructural(isObject(item) ? item : {})]))
    : undefined;
  const items = raw['items'];
  const rules = raw['x-kubernetes-validations'];
  const defaultValue = raw['default'];
  return {
    name: undefined,
    raw,
    type: optionalText(raw['type']) as SchemaType | undefined,
    format: optionalText(raw['format']),
    title: text(raw['title']),
    description: text(raw['description']),
    properties: properties?.size === 0 ? undefined : properties,
    required: strings(raw['required']),
    additionalProperties: additional(raw['additionalProperties']),
    forbidsAdditionalProperties: raw['additionalProperties'] === false,
    items: isObject(items) ? newStructural(items) : undefined,
    default: defaultValue === null ? undefined : defaultValue,
    hasDefault: defaultValue !== undefined && defaultValue !== null,
    enum: Array.isArray(raw['enum']) && raw['enum'].length > 0 ? raw['enum'] : undefined,
    nullable: raw['nullable'] === true,
    listType: optionalText(raw['x-kubernetes-list-type']) as Structural['listType'],
    listMapKeys: strings(raw['x-kubernetes-list-map-keys']),
    mapType: optionalText(raw['x-kubernetes-map-type']) as Structural['mapType'],
    patchStrategies: [],
    patchMergeKey: undefined,
    intOrString: raw['x-kubernetes-int-or-string'] === true,
    preserveUnknownFields: raw['x-kubernetes-preserve-unknown-fields'] === true,
    embeddedResource: raw['x-kubernetes-embedded-resource'] === true,
    maximum: number(raw['maximum']),
    exclusiveMaximum: raw['exclusiveMaximum'] === true,
    minimum: number(raw['minimum']),
    exclusiveMinimum: raw['exclusiveMinimum'] === true,
    multipleOf: number(raw['multipleOf']),
    maxLength: number(raw['maxLength']),
    minLength: number(raw['minLength']),
    pattern: text(raw['pattern']),
    maxItems: number(raw['maxItems']),
    minItems: number(raw['minItems']),
    uniqueItems: raw['uniqueItems'] === true,
    maxProperties: number(raw['maxProperties']),
    minProperties: number(raw['minProperties']),
    allOf: list(raw['allOf']),
    anyOf: list(raw['anyOf']),
    oneOf: list(raw['oneOf']),
    not: isObject(raw['not']) ? newStructural(raw['not']) : undefined,
    validations: Array.isArray(rules) ? rules.map(ruleOf) : [],
  };
}

/** The same node as the root of a resource: metadata is never pruned, apiVersion and kind are checked. */
export function asResourceRoot(schema: Structural): Structural {
  return schema.embeddedResource ? schema : { ...schema, embeddedResource: true };
}

/** What lies under a field of an object, undefined when the schema does not say. */
export function schemaOfField(schema: Structural | undefined, field: string): Structural | undefined {
  const property = schema?.properties?.get(field);
  if (property !== undefined) return property;
  const values = schema?.additionalProperties;
  return values === true ? undefined : values;
}

/** True when the predicate holds somewhere in the schema. */
export function schemaHas(schema: Structural | undefined, predicate: (schema: Structural) => boolean): boolean {
  if (schema === undefined) return false;
  if (predicate(schema)) return true;
  const values = schema.additionalProperties;
  const below = [
    schema.items,
    schema.not,
    values === true ? undefined : values,
    ...schema.allOf,
    ...schema.anyOf,
    ...schema.oneOf,
    ...(schema.properties?.values() ?? []),
  ];
  return below.some((item) => schemaHas(item, predicate));
}
