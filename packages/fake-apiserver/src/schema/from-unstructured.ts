// Plain data into a typed object without going through text: how the result of a strategic merge is judged.
// Upstream: apimachinery@v0.30.3:pkg/runtime/converter.go#FromUnstructuredWithValidation
import { goQuote } from '@kube-rx/apimachinery';
import { type DecodedJson, DecodeError } from './decode-error.ts';
import { type GoType, goTypeOf } from './go-type.ts';
import { JsonReader, setOwn } from './json-reader.ts';
import { normalizeType } from './normalize-builtin.ts';
import type { Schema } from './schema.ts';
import { StrictErrors } from './strict-errors.ts';
import { TypedReader } from './typed-reader.ts';

/**
 * As `decodeJson`, but for data, with the words of upstream's converter; unknown fields are reported in alphabetical order.
 *
 * @throws DecodeError when a value has the wrong type.
 */
export function fromUnstructured(value: unknown, schema: Schema | undefined): DecodedJson {
  const type = schema === undefined ? undefined : goTypeOf(schema);
  if (type === undefined) return { value, strictErrors: [] };
  const unknown: string[] = [];
  const converted = convert(value, type, '', unknown);
  const strictErrors = unknown.map((path) => `unknown field ${goQuote(path)}`).sort();
  return { value: normalizeType(converted, type, true), strictErrors };
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map';
  }
}

function convert(value: unknown, type: GoType, path: string, unknown: string[]): unknown {
  if (value === null || value === undefined) return undefined;
  const kind = kindOf(value);
  switch (type.kind) {
    case 'struct':
      if (kind !== 'map') throw new DecodeError(`cannot restore struct from: ${kind}`);
      return convertStruct(value as Record<string, unknown>, type, path, unknown);
    case 'map':
      if (kind !== 'map') throw new DecodeError(`cannot restore map from ${kind}`);
      return convertMap(value as Record<string, unknown>, type, path, unknown);
    case 'list':
      if (kind !== 'slice') throw new DecodeError(`cannot restore slice from ${kind}`);
      return (value as unknown[]).map(
        (item, index) => convert(item, type.element, `${path}[${index}]`, unknown) ?? null,
      );
    case 'string':
      return scalar(value, kind, 'string', type);
    case 'bool':
      return scalar(value, kind, 'bool', type);
    case 'integer':
      return scalar(value, kind, 'int64', type);
    case 'float':
      return scalar(value, kind === 'int64' ? 'float64' : kind, 'float64', type);
    case 'bytes':
      if (kind === 'slice') return byteSlice(value as readonly unknown[]);
      if (kind !== 'string') throw new DecodeError(`cannot restore slice from ${kind}`);
      return viaText(value, type, 'error decoding from json: ');
    default:
      return viaText(value, type, '');
  }
}

function byteSlice(items: readonly unknown[]): string {
  for (const item of items) {
    if (item !== null && kindOf(item) !== 'int64') throw new DecodeError('unrecognized type: uint8');
  }
  return Buffer.from(items.map(Number)).toString('base64');
}

function scalar(value: unknown, kind: string, wanted: string, type: GoType): unknown {
  if (kind === wanted) return value;
  // Go converts between these, JSON does not, so the message differs from that of the other pairs.
  const convertible = wanted === 'string' ? kind === 'int64' : wanted === 'int64' && kind === 'float64';
  throw new DecodeError(
    convertible ? `cannot convert ${kind} to ${type.text}` : `unrecognized type: ${kindName(type)}`,
  );
}

function kindName(type: GoType): string {
  if (type.kind === 'string' || type.kind === 'bool') return type.kind;
  if (type.kind === 'float') return 'float64';
  return type.text.includes('.') ? (type.schema.format ?? 'int') : type.text;
}

/** Types with a parser of their own go through text. */
function viaText(value: unknown, type: GoType, prefix: string): unknown {
  const reader = new TypedReader(new JsonReader(JSON.stringify(value)), new StrictErrors());
  const parsed = reader.value(type);
  if (reader.problem !== undefined) throw new DecodeError(`${prefix}${reader.problem}`);
  return parsed;
}

function convertStruct(object: Record<string, unknown>, type: GoType, path: string, unknown: string[]): unknown {
  const out: Record<string, unknown> = {};
  const prefix = path === '' ? '' : `${path}.`;
  for (const field of type.fields.values()) {
    if (!Object.hasOwn(object, field.name)) continue;
    const value = convert(object[field.name], field.type, prefix + field.name, unknown);
    if (value !== undefined) out[field.name] = value;
  }
  for (const key of Object.keys(object)) if (!type.fields.has(key)) unknown.push(prefix + key);
  return out;
}

function convertMap(object: Record<string, unknown>, type: GoType, path: string, unknown: string[]): unknown {
  const out: Record<string, unknown> = {};
  // Keys of maps are not part of the path upstream tells.
  for (const key of Object.keys(object)) setOwn(out, key, convert(object[key], type.element, path, unknown) ?? null);
  return out;
}
