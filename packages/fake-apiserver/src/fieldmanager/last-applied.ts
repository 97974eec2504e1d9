// The annotation of client-side apply, kept in step when kubectl changes over to server-side apply.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/{lastappliedmanager,lastappliedupdater}.go
import { goJsonStringify } from '@kube-rx/apimachinery';
import { isObject, sortedEntries } from '../patch/json-value.ts';
import { setOwn } from '../schema/json-reader.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { compareTyped } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { toFieldSet } from './to-field-set.ts';
import type { TypedObject } from './updater.ts';
import { validateTyped } from './validate.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The manager whose applies look at the annotation. */
export const KUBECTL_MANAGER = 'kubectl';

function annotationOf(object: ApiObject): string | undefined {
  const annotations = object.metadata.annotations;
  const text =
    annotations !== undefined && Object.hasOwn(annotations, ANNOTATION) ? annotations[ANNOTATION] : undefined;
  return text === '' ? undefined : text;
}

/**
 * Fields that client-side apply set and that still have its values: kubectl may take them over without a conflict.
 * Undefined when there is no usable annotation.
 */
export function fieldsOfLastApplied(live: ApiObject, typed: TypedObject): FieldSet | undefined {
  const text = annotationOf(live);
  if (text === undefined) return undefined;
  try {
    validateTyped(typed.value, typed.type, false);
    const applied: unknown = JSON.parse(text);
    if (!isObject(applied) || applied['apiVersion'] !== typed.apiVersion) return undefined;
    validateTyped(applied, typed.type, false);
    const { modified, added, removed } = compareTyped(applied, typed.value, typed.type);
    return toFieldSet(applied, typed.type).difference(modified).difference(added).difference(removed);
  } catch {
    return undefined;
  }
}

/** The object with the annotation brought up to what was applied, if it has one; it goes when it would grow too large. */
export function withLastApplied(object: ApiObject, config: ApiObject): ApiObject {
  if (annotationOf(object) === undefined) return object;
  const { annotations: configAnnotations, ...configMeta } = config.metadata;
  const rest: Record<string, string> = {};
  for (const [key, value] of Object.entries(configAnnotations ?? {})) if (key !== ANNOTATION) setOwn(rest, key, value);
  const bare = configAnnotations === undefined ? config : { ...config, metadata: { ...configMeta, annotations: rest } };
  const annotations: Record<string, string> = {};
  for (const [key, value] of Object.entries(object.metadata.annotations ?? {})) setOwn(annotations, key, value);
  annotations[ANNOTATION] = `${goJsonStringify(sortKeys(bare))}\n`;
  const size = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (size > MAX_ANNOTATIONS_BYTES) delete annotations[ANNOTATION];
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [key, item] of sortedEntries(value)) setOwn(out, key, sortKeys(item));
  return out;
}
