// What a built-in object looks like after Go has read and written it: which zero values appear, which empty ones vanish, in
// which order fields stand, how scalars are spelled. Storage is protobuf, so an empty list cannot be told from none.
// Upstream: Go encoding/json/encode.go, over the structs of k8s.io/api
import { canonicalQuantity } from '@kube-rx/apimachinery';
import { canonicalMicroTime, canonicalTime } from './go-time.ts';
import { type GoStructField, type GoType, goTypeOf } from './go-type.ts';
import { setOwn } from './json-reader.ts';
import type { Schema } from './schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The object as the real server would store and answer it: fields in Go's order, unknown ones dropped, `null` and empty values
 * as omitempty has it (`status: {}`, `creationTimestamp: null` appear; `""`, `0` and `[]` vanish), times in UTC, quantities in
 * canonical form. Works for any named type, e.g. `ObjectMeta`. A value of a wrong type is left alone. Without a recorded
 * schema the object is returned as it is. Never changes its input; unchanged leaves are shared.
 *
 * @example
 * normalizeBuiltin({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: {} } }, podSchema);
 * // { kind, apiVersion, metadata: { name: 'a', creationTimestamp: null }, spec: { containers: null }, status: {} }
 */
export function normalizeBuiltin<T>(object: T, schema: Schema | undefined): T {
  const type = schema === undefined ? undefined : goTypeOf(schema);
  return type === undefined ? object : (normalizeType(object, type) as T);
}

/**
 * As {@link normalizeBuiltin} but for an object that was not stored yet: empty lists and maps of required fields are still empty,
 * and only storing makes them null. Who owns a field is decided on this form.
 */
export function normalizeUnstored<T>(object: T, schema: Schema | undefined): T {
  const type = schema === undefined ? undefined : goTypeOf(schema);
  return type === undefined ? object : (normalizeType(object, type, true) as T);
}

/** {@link normalizeBuiltin} for a type at hand, {@link normalizeUnstored} if empty values are kept. */
export function normalizeType(value: unknown, type: GoType, keepEmpty = false): unknown {
  if (value === null || value === undefined) return zeroOf(type);
  switch (type.kind) {
    case 'struct':
      return typeof value === 'object' && !Array.isArray(value)
        ? normalizeStruct(value as Fields, type, keepEmpty)
        : value;
    case 'list':
      return Array.isArray(value) ? value.map((item) => normalizeType(item, type.element, keepEmpty)) : value;
    case 'map':
      return typeof value === 'object' && !Array.isArray(value)
        ? normalizeMap(value as Fields, type, keepEmpty)
        : value;
    case 'quantity':
      return attempt(() => canonicalQuantity(String(value)), value);
    case 'time':
      return attempt(() => canonicalTime(String(value)), value);
    case 'microTime':
      return attempt(() => canonicalMicroTime(String(value)), value);
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStrings':
      return normalizeSchemaOr(value, type);
    default:
      return value;
  }
}

function attempt(canonical: () => unknown, otherwise: unknown): unknown {
  try {
    return canonical();
  } catch {
    return otherwise;
  }
}

/** How Go writes the zero value of a type. */
function zeroOf(type: GoType): unknown {
  if (type.pointer) return null;
  switch (type.kind) {
    case 'struct':
      return normalizeStruct({}, type, false);
    case 'string':
      return '';
    case 'integer':
    case 'float':
    case 'intOrString':
      return 0;
    case 'bool':
      return false;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

function isEmpty(value: unknown, type: GoType): boolean {
  switch (type.kind) {
    case 'list':
      return Array.isArray(value) && value.length === 0;
    case 'map':
      return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    case 'bytes':
    case 'string':
      return value === '';
    case 'integer':
    case 'float':
      return value === 0;
    case 'bool':
      return value === false;
    default:
      return false;
  }
}

/** Kinds that Go sees as structs, which omitempty never leaves out. */
function alwaysShown(type: GoType): boolean {
  return !LEFT_OUT_WHEN_EMPTY.has(type.kind);
}

const LEFT_OUT_WHEN_EMPTY: ReadonlySet<GoType['kind']> = new Set([
  'list',
  'map',
  'bytes',
  'string',
  'integer',
  'float',
  'bool',
]);

function normalizeStruct(object: Fields, type: GoType, keepEmpty: boolean): Fields {
  const out: Record<string, unknown> = {};
  for (const { field, leftOutWhenAbsent } of fieldsOf(type)) {
    const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    if (value === undefined && leftOutWhenAbsent) continue;
    const normal = normalizeField(value, field, keepEmpty);
    if (normal !== undefined) out[field.name] = normal;
  }
  return out;
}

interface PlannedField {
  readonly field: GoStructField;
  /** Most fields of most objects are absent and stay so. */
  readonly leftOutWhenAbsent: boolean;
}

const planned = new WeakMap<GoType, readonly PlannedField[]>();

function fieldsOf(type: GoType): readonly PlannedField[] {
  let fields = planned.get(type);
  if (fields === undefined) {
    fields = [...type.fields.values()].map((field) => ({ field, leftOutWhenAbsent: isLeftOutWhenAbsent(field) }));
    planned.set(type, fields);
  }
  return fields;
}

function isLeftOutWhenAbsent({ type, omitEmpty, omitZero }: GoStructField): boolean {
  if (omitZero) return true;
  return omitEmpty && (type.pointer || !alwaysShown(type));
}

/** Undefined when the field is left out. */
function normalizeField(value: unknown, field: GoStructField, keepEmpty: boolean): unknown {
  const { type, omitEmpty } = field;
  if (value === null || value === undefined) return isLeftOutWhenAbsent(field) ? undefined : zeroOf(type);
  if (type.pointer) return normalizeType(value, type, keepEmpty);
  if (isEmpty(value, type)) {
    // An empty list asks to start managedFields over; who sent it must still be seen.
    if (omitEmpty) return keepEmpty && field.name === 'managedFields' && Array.isArray(value) ? value : undefined;
    const vanishes = (type.kind === 'list' || type.kind === 'map') && !keepEmpty && !type.storedAsJson;
    return vanishes ? null : value;
  }
  return normalizeType(value, type, keepEmpty);
}

function normalizeMap(object: Fields, type: GoType, keepEmpty: boolean): Fields {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort(compareUtf8)) {
    const value = normalizeType(object[key], type.element, keepEmpty);
    setOwn(out, key, value === null && type.element.kind === 'bytes' ? '' : value);
  }
  return out;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Order of the UTF-8 bytes; code units differ from it only where surrogates meet the last part of the plane. */
function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

function normalizeSchemaOr(value: unknown, type: GoType): unknown {
  if (Array.isArray(value)) {
    return type.kind === 'schemaOrArray' ? value.map((item) => normalizeType(item ?? {}, type.schemaProps)) : value;
  }
  return typeof value === 'object' ? normalizeType(value, type.schemaProps) : value;
}
