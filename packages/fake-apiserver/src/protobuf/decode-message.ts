// A protobuf message as JSON of its built-in type. Fields nobody knows are passed over.
import { setOwn } from '../schema/json-reader.ts';
import type { MessageField, MessageType, ScalarType } from './message-type.ts';
import { ProtobufError, type ProtobufReader } from './reader.ts';

/** Undefined for the zero value of a form that JSON leaves out. */
export function readMessage(reader: ProtobufReader, type: MessageType): unknown {
  switch (type.form) {
    case 'fields':
      return readFields(reader, type, {});
    case 'time':
      return readTime(reader, false);
    case 'microTime':
      return readTime(reader, true);
    case 'duration':
      return `${Number(readNumbered(reader).get(1) ?? 0)}ns`;
    case 'quantity':
      return text(readNumbered(reader).get(1));
    case 'intOrString': {
      const found = readNumbered(reader);
      return found.get(1) === 1 ? text(found.get(3)) : (found.get(2) ?? 0);
    }
    case 'rawJson':
      return readRawJson(readNumbered(reader).get(1));
    default:
      return readSchemaOr(reader, type);
  }
}

function readFields(reader: ProtobufReader, type: MessageType, object: Record<string, unknown>): unknown {
  while (!reader.done) {
    const tag = reader.varint();
    const wireType = tag % 8;
    const field = type.byId(Math.floor(tag / 8));
    if (field === undefined) {
      if (tag < 8) throw new ProtobufError(`proto: ${nameOf(type)}: illegal tag 0 (wire type ${tag})`);
      reader.skip(wireType);
      continue;
    }
    const expected = field.message !== undefined || field.rule === 'map' ? 2 : wireTypeOf(field.scalar!);
    if (wireType !== expected)
      throw new ProtobufError(`proto: wrong wireType = ${wireType} for field ${goName(field)}`);
    readField(reader, field, object);
  }
  return object;
}

const nameOf = (type: MessageType): string => type.name.slice(type.name.lastIndexOf('.') + 1);
const goName = ({ json }: MessageField): string => json.charAt(0).toUpperCase() + json.slice(1);

function wireTypeOf(scalar: ScalarType): number {
  if (scalar === 'int' || scalar === 'bool') return 0;
  return scalar === 'double' ? 1 : 2;
}

function readField(reader: ProtobufReader, field: MessageField, object: Record<string, unknown>): void {
  const { json, rule, message } = field;
  if (json === '') {
    readFields(reader.message(), message!, object);
    return;
  }
  if (rule === 'map') {
    const map = (object[json] ?? {}) as Record<string, unknown>;
    object[json] = map;
    readMapEntry(reader.message(), field, map);
    return;
  }
  const value = readValue(reader, field);
  if (rule === 'repeated') {
    const list = (object[json] ?? []) as unknown[];
    object[json] = list;
    list.push(value ?? null);
  } else if (field.listMessage) object[json] = (value as { items?: unknown }).items ?? [];
  else if (value !== undefined) object[json] = value;
}

function readValue(reader: ProtobufReader, field: MessageField): unknown {
  if (field.message !== undefined) return readMessage(reader.message(), field.message);
  switch (field.scalar) {
    case 'string':
      return reader.string();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'bool':
      return reader.varint() !== 0;
    case 'double':
      return reader.double();
    default:
      return reader.varint();
  }
}

function readMapEntry(reader: ProtobufReader, field: MessageField, map: Record<string, unknown>): void {
  let key = '';
  let value: unknown;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 0x0a) key = reader.string();
    else if (Math.floor(tag / 8) === 2) value = readValue(reader, field);
    else reader.skip(tag % 8);
  }
  const isListMessage = field.message?.fields.length === 1 && field.message.fields[0]!.json === 'items';
  const content = isListMessage ? ((value as { items?: unknown } | undefined)?.items ?? []) : value;
  setOwn(map, key, content ?? (field.scalar === undefined ? null : ''));
}

/** Fields of a small message by number: numbers of varints, bytes of delimited ones. */
function readNumbered(reader: ProtobufReader): Map<number, number | Uint8Array> {
  const found = new Map<number, number | Uint8Array>();
  while (!reader.done) {
    const tag = reader.varint();
    const id = Math.floor(tag / 8);
    if (tag % 8 === 0) found.set(id, reader.varint());
    else if (tag % 8 === 2) found.set(id, reader.bytes());
    else reader.skip(tag % 8);
  }
  return found;
}

function text(value: number | Uint8Array | undefined): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : '';
}

function readRawJson(value: number | Uint8Array | undefined): unknown {
  if (!(value instanceof Uint8Array) || value.length === 0) return undefined;
  try {
    return JSON.parse(text(value)) ?? undefined;
  } catch (error) {
    throw new ProtobufError(`invalid raw JSON: ${(error as Error).message}`, { cause: error });
  }
}

function readTime(reader: ProtobufReader, micro: boolean): string | undefined {
  if (reader.done) return undefined;
  const found = readNumbered(reader);
  const date = new Date(Number(found.get(1) ?? 0) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError('time is out of range');
  const printed = date.toISOString().slice(0, -5);
  if (!micro) return `${printed}Z`;
  return `${printed}.${String(Math.floor(Number(found.get(2) ?? 0) / 1000)).padStart(6, '0')}Z`;
}

function readSchemaOr(reader: ProtobufReader, type: MessageType): unknown {
  let allows = false;
  let schema: unknown;
  const list: unknown[] = [];
  const [first, second] = type.fields;
  while (!reader.done) {
    const tag = reader.varint();
    const id = Math.floor(tag / 8);
    if (type.form === 'schemaOrBool' && id === 1) allows = reader.varint() !== 0;
    else if (id === 1) schema = readValue(reader, first!);
    else if (id === 2 && type.form === 'schemaOrBool') schema = readValue(reader, second!);
    else if (id === 2) list.push(readValue(reader, second!));
    else reader.skip(tag % 8);
  }
  if (type.form === 'schemaOrBool') return schema ?? allows;
  return list.length > 0 ? list : schema;
}
