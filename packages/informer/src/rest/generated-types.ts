// What a generated client refuses to read: fields of another type than its structs have.
// Upstream: apimachinery@v0.30.3:pkg/runtime/serializer/json/json.go#Serializer.Decode
import type { JsonObject } from './json-shape.ts';
import { bytes, flag, isListMeta, isObjectMeta, mapOf, text } from './json-shape.ts';

const FIELDS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  ConfigMap: { data: mapOf(text), binaryData: mapOf(bytes), immutable: flag },
  Secret: { data: mapOf(bytes), stringData: mapOf(text), immutable: flag, type: text },
};

/** The field that is of another type, undefined when all are as they should be; knows metadata and the simplest kinds. */
export function mistypedField(object: JsonObject, kind: string): string | undefined {
  const isMeta = kind.endsWith('List') ? isListMeta : isObjectMeta;
  for (const name of ['kind', 'apiVersion']) if (!text(object[name])) return name;
  if (!isMeta(object['metadata'])) return 'metadata';
  const shape = Object.hasOwn(FIELDS, kind) ? FIELDS[kind]! : {};
  return Object.keys(shape).find((name) => !shape[name]!(object[name]));
}
