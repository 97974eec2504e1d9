// JSON of a custom resource as CEL values, by its schema.
// Upstream: apiserver@v0.30.3:pkg/cel/common/values.go#UnstructuredToVal
import { getField, isObject, type JsonObject } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';
import { orCelError } from './conversions.ts';
import { escapeName } from './escaping.ts';
import { parseDate, parseDuration, parseTimestamp } from './time.ts';
import {
  ATOMIC,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  type CelStruct,
  CelTimestamp,
  type CelValue,
  type ListIdentity,
} from './values.ts';

/** Converts a value; what its schema does not expect is a CelError. */
export function toCelValue(value: unknown, schema: Structural): CelValue {
  if (value === null || value === undefined) {
    if (schema.nullable) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema.intOrString) {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
    throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
  }
  switch (schema.type) {
    case 'object':
      if (isObject(value)) return ofObject(value, schema);
      throw new CelError('invalid data, expected a map for the provided schema with type=object');
    case 'array':
      if (Array.isArray(value)) return ofArray(value, schema);
      throw new CelError('invalid data, expected an array for the provided schema with type=array');
    case 'string':
      return ofString(value, schema);
    case 'number':
      if (typeof value === 'number') return value;
      throw new CelError('invalid data, expected float, got other');
    case 'integer':
      if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
      throw new CelError('invalid data, expected int, got other');
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw new CelError('invalid data, expected bool, got other');
    default:
      // Unknown fields keep their value for comparisons.
      return ofAny(value);
  }
}

function ofAny(value: unknown): CelValue {
  if (Array.isArray(value)) return new CelList(value.map(ofAny));
  if (isObject(value)) return new CelMap(Object.entries(value).map(([name, item]) => [name, ofAny(item)] as const));
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

function ofObject(value: JsonObject, schema: Structural): CelValue {
  const values = schema.additionalProperties;
  if (values !== undefined && values !== true) {
    return new CelMap(Object.entries(value).map(([name, item]) => [name, toCelValue(item, values)] as const));
  }
  return new SchemaStruct(value, schema);
}

class SchemaStruct implements CelStruct {
  readonly struct = true;
  readonly #value: JsonObject;
  readonly #schema: Structural;
  readonly #made = new Map<string, CelValue>();
  /** Names of properties by what expressions call them. */
  #names: ReadonlyMap<string, string> | undefined;

  constructor(value: JsonObject, schema: Structural) {
    this.#value = value;
    this.#schema = schema;
  }

  #byEscaped(): ReadonlyMap<string, string> {
    this.#names ??= new Map(Object.keys(this.#value).map((name) => [escapeName(name) ?? name, name]));
    return this.#names;
  }

  get fieldNames(): readonly string[] {
    return [...this.#byEscaped().keys()];
  }

  field(escaped: string): CelValue | undefined {
    const made = this.#made.get(escaped);
    if (made !== undefined) return made;
    const name = this.#byEscaped().get(escaped);
    if (name === undefined) return undefined;
    const schema = this.#schema.properties?.get(name);
    const item = getField(this.#value, name);
    const value = schema === undefined ? ofAny(item) : toCelValue(item, schema);
    this.#made.set(escaped, value);
    return value;
  }
}

function ofArray(value: readonly unknown[], schema: Structural): CelValue {
  const { items } = schema;
  if (items === undefined) throw new CelError('invalid array type, expected Items with a non-empty Schema');
  return new CelList(
    value.map((item) => toCelValue(item, items)),
    identityOf(schema),
  );
}

function identityOf(schema: Structural): ListIdentity {
  if (schema.listType === 'set') return { kind: 'set' };
  if (schema.listType !== 'map') return ATOMIC;
  const keys = schema.listMapKeys.map((name) => escapeName(name) ?? name);
  return {
    kind: 'map',
    keyOf: (element) => {
      if (typeof element !== 'object' || element === null || !('struct' in element)) return '';
      return keys.map((name) => `${typeof element.field(name)}:${String(element.field(name))}`).join('\u0000');
    },
  };
}

function ofString(value: unknown, schema: Structural): CelValue {
  if (typeof value !== 'string') throw new CelError('invalid data, expected string, got other');
  switch (schema.format) {
    case 'duration':
      return new CelDuration(orCelError(() => parseDuration(value)));
    case 'date':
      return new CelTimestamp(orCelError(() => parseDate(value)));
    case 'date-time':
      return new CelTimestamp(orCelError(() => parseTimestamp(value)));
    case 'byte':
      return Buffer.from(value, 'base64');
    default:
      return value;
  }
}
