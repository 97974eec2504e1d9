// JSON of a built-in type as a protobuf message, byte for byte as Go writes it: fields by number, maps by key, zero values of
// what is no pointer included.
import { goJsonBytes } from '@kube-rx/apimachinery';
import { compareStrings } from '../fieldmanager/path-element.ts';
import type { BackwardWriter } from './backward-writer.ts';
import type { MessageField, MessageType, ScalarType } from './message-type.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes the content of a message; the caller writes its length and tag. */
export function writeMessage(writer: BackwardWriter, type: MessageType, value: unknown): void {
  switch (type.form) {
    case 'fields':
      writeFields(writer, type, isFields(value) ? value : {});
      return;
    case 'time':
    case 'microTime':
      writeTime(writer, value);
      return;
    case 'duration':
      writer.varint(durationNanos(value));
      writer.tag(1, 0);
      return;
    case 'quantity':
      writeScalar(writer, 1, 'string', String(value ?? '0'));
      return;
    case 'intOrString':
      writeScalar(writer, 3, 'string', typeof value === 'string' ? value : '');
      writeScalar(writer, 2, 'int', typeof value === 'number' ? value : 0);
      writeScalar(writer, 1, 'int', typeof value === 'string' ? 1 : 0);
      return;
    case 'rawJson':
      if (value !== null && value !== undefined) writeBytes(writer, 1, goJsonBytes(value));
      return;
    default:
      writeSchemaOr(writer, type, value);
  }
}

function writeFields(writer: BackwardWriter, type: MessageType, object: Fields): void {
  const { fields } = type;
  for (let index = fields.length - 1; index >= 0; index--) writeField(writer, fields[index]!, object);
}

function writeField(writer: BackwardWriter, field: MessageField, object: Fields): void {
  const { id, json, rule, scalar, message } = field;
  const value = json === '' ? object : Object.hasOwn(object, json) ? object[json] : undefined;
  const absent = value === undefined || value === null;
  if (rule === 'repeated') {
    if (!Array.isArray(value)) return;
    for (let index = value.length - 1; index >= 0; index--) writeValue(writer, id, scalar, message, value[index]);
    return;
  }
  if (rule === 'map') {
    if (isFields(value)) writeMap(writer, field, value);
    return;
  }
  if (field.listMessage) {
    if (!absent) writeValue(writer, id, scalar, message, { items: value });
    return;
  }
  if (!absent || field.always) writeValue(writer, id, scalar, message, value);
}

function writeMap(writer: BackwardWriter, { id, scalar, message }: MessageField, map: Fields): void {
  for (const key of Object.keys(map).sort(compareStrings).reverse()) {
    const mark = writer.length;
    const value = map[key];
    writeValue(writer, 2, scalar, message, message !== undefined && Array.isArray(value) ? { items: value } : value);
    writeScalar(writer, 1, 'string', key);
    writer.delimited(id, mark);
  }
}

function writeValue(
  writer: BackwardWriter,
  id: number,
  scalar: ScalarType | undefined,
  message: MessageType | undefined,
  value: unknown,
): void {
  if (scalar !== undefined) {
    writeScalar(writer, id, scalar, value);
    return;
  }
  const mark = writer.length;
  writeMessage(writer, message!, value);
  writer.delimited(id, mark);
}

function writeScalar(writer: BackwardWriter, id: number, scalar: ScalarType, value: unknown): void {
  switch (scalar) {
    case 'string': {
      const mark = writer.length;
      writer.string(typeof value === 'string' ? value : '');
      writer.delimited(id, mark);
      return;
    }
    case 'bytes':
      writeBytes(writer, id, Buffer.from(typeof value === 'string' ? value : '', 'base64'));
      return;
    case 'bool':
      writer.varint(value === true ? 1 : 0);
      writer.tag(id, 0);
      return;
    case 'int':
      writer.varint(typeof value === 'number' ? value : 0);
      writer.tag(id, 0);
      return;
    case 'double':
      writer.double(typeof value === 'number' ? value : 0);
      writer.tag(id, 1);
  }
}

function writeBytes(writer: BackwardWriter, id: number, bytes: Uint8Array): void {
  const mark = writer.length;
  writer.raw(bytes);
  writer.delimited(id, mark);
}

/** Zero time is an empty message. Times before 1970 count backwards with a positive rest, as Go has it. */
function writeTime(writer: BackwardWriter, value: unknown): void {
  const parsed = typeof value === 'string' ? /^(.*?)(?:\.(\d+))?Z$/.exec(value) : null;
  if (parsed === null) return;
  const seconds = Math.floor(new Date(`${parsed[1]}Z`).getTime() / 1000);
  if (!Number.isFinite(seconds)) return;
  writeScalar(writer, 2, 'int', Number((parsed[2] ?? '').slice(0, 6).padEnd(6, '0')) * 1000);
  writeScalar(writer, 1, 'int', seconds);
}

const UNITS: Readonly<Record<string, number>> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

function durationNanos(value: unknown): number {
  if (typeof value !== 'string') return 0;
  let nanos = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)(ns|µs|ms|s|m|h)/g)) nanos += Number(amount) * UNITS[unit!]!;
  return Math.round(value.startsWith('-') ? -nanos : nanos);
}

function writeSchemaOr(writer: BackwardWriter, type: MessageType, value: unknown): void {
  const [first, second] = type.fields;
  if (type.form === 'schemaOrBool') {
    if (isFields(value)) writeValue(writer, 2, undefined, second!.message, value);
    writeScalar(writer, 1, 'bool', value === true || isFields(value));
    return;
  }
  if (isFields(value)) writeValue(writer, 1, undefined, first!.message, value);
  else if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      writeValue(writer, 2, second!.scalar, second!.message, value[index]);
    }
  }
}
