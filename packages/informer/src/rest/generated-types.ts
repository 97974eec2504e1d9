// What a generated client refuses to read: fields of another type than its structs have.
// Upstream: apimachinery@v0.30.3:pkg/runtime/serializer/json/json.go#Serializer.Decode
import { DecodeError } from '../errors.ts';
import type { JsonObject } from './json-shape.ts';
import { flag, isJsonObject, isListMeta, isObjectMeta, mapOf, text } from './json-shape.ts';

const FIELDS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  ConfigMap: { data: mapOf(text), binaryData: mapOf(text), immutable: flag },
  Secret: { data: mapOf(text), stringData: mapOf(text), immutable: flag, type: text },
};

// Text in base64 with its padding.
const BYTES: Readonly<Record<string, string>> = { ConfigMap: 'binaryData', Secret: 'data' };
const isBase64 = (value: string): boolean => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

/** Throws a DecodeError for the first field that cannot be what it should be; knows metadata and the simplest kinds. */
export function requireTypes(object: JsonObject, kind: string): void {
  const field = mistypedField(object, kind);
  if (field !== undefined) throw new DecodeError('BAD_ITEMS', `${field} of a ${kind} is of another type`);
  const bytes = Object.hasOwn(BYTES, kind) ? object[BYTES[kind]!] : undefined;
  if (isJsonObject(bytes) && Object.values(bytes).some((value) => value !== null && !isBase64(String(value))))
    throw new DecodeError('BAD_JSON', `illegal base64 data in a ${kind}`);
}

function mistypedField(object: JsonObject, kind: string): string | undefined {
  const isMeta = kind.endsWith('List') ? isListMeta : isObjectMeta;
  for (const name of ['kind', 'apiVersion']) if (!text(object[name])) return name;
  if (!isMeta(object['metadata'])) return 'metadata';
  const shape = Object.hasOwn(FIELDS, kind) ? FIELDS[kind]! : {};
  return Object.keys(shape).find((name) => !shape[name]!(object[name]));
}
