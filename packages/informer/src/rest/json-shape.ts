// Whether fields of a JSON object have the types that the API gives them; an absent field and null always have. Pure.
import type { Status } from '@kube-rx/apimachinery';

type Check = (value: unknown) => boolean;
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

export const text: Check = optional((value) => typeof value === 'string');
export const flag: Check = optional((value) => typeof value === 'boolean');
const whole = (limit: number): Check =>
  optional((value) => Number.isInteger(value) && (value as number) >= -limit && (value as number) < limit);
const int32 = whole(2 ** 31);
const int64 = whole(2 ** 63);
// A date and a time with a zone, as RFC 3339 has them.
const time = optional(
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value),
);
export const mapOf = (check: Check): Check =>
  optional((value) => isJsonObject(value) && Object.values(value).every(check));
const listOf = (check: Check): Check => optional((value) => Array.isArray(value) && value.every(check));
const fields = (shape: Readonly<Record<string, Check>>): Check =>
  optional((value) => isJsonObject(value) && Object.keys(shape).every((name) => shape[name]!(value[name])));

export const isListMeta: Check = fields({
  selfLink: text,
  resourceVersion: text,
  continue: text,
  remainingItemCount: int64,
});

export const isObjectMeta: Check = fields({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: mapOf(text),
  annotations: mapOf(text),
  finalizers: listOf(text),
  ownerReferences: listOf(
    fields({ apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag }),
  ),
  managedFields: listOf(
    fields({ manager: text, operation: text, apiVersion: text, time, fieldsType: text, subresource: text }),
  ),
});

const isStatusShape = fields({
  kind: text,
  apiVersion: text,
  metadata: isListMeta,
  status: text,
  message: text,
  reason: text,
  details: fields({
    name: text,
    group: text,
    kind: text,
    uid: text,
    causes: listOf(fields({ reason: text, message: text, field: text })),
    retryAfterSeconds: int32,
  }),
  code: int32,
});

/** A Status whose fields can be relied on, without those that are null; undefined when one has another type. */
export function soundStatus(value: unknown): Status | undefined {
  if (!isJsonObject(value) || !isStatusShape(value)) return undefined;
  const status = withoutNulls(value) as { details?: JsonObject };
  if (status.details !== undefined) {
    const details = withoutNulls(status.details) as { causes?: readonly unknown[] };
    if (details.causes !== undefined)
      details.causes = details.causes.map((cause) => (cause === null ? {} : withoutNulls(cause as JsonObject)));
    status.details = details as JsonObject;
  }
  return status as Status;
}

function withoutNulls(value: JsonObject): object {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
}
