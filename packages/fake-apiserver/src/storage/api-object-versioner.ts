// The only place that turns a revision into a resourceVersion and back.
// Upstream: apiserver@v0.30.3:pkg/storage/api_object_versioner.go#APIObjectVersioner
import { goQuote, newUnknownError, type StatusError } from '@kube-rx/apimachinery';
import type { Revision } from '../etcd/client.ts';
import type { ApiObject } from './api-object.ts';

const MAX_UINT64 = 2n ** 64n - 1n;

export function formatResourceVersion(revision: Revision): string {
  return String(revision);
}

/**
 * '' and '0' give 0. Versions past 2^53 lose digits, which does no harm: they are of the future anyway.
 *
 * @throws StatusError 500 with the bare text of a failed number, as upstream
 */
export function parseResourceVersion(resourceVersion: string): Revision {
  if (resourceVersion === '' || resourceVersion === '0') return 0;
  if (/^[0-9]{1,15}$/.test(resourceVersion)) return Number(resourceVersion);
  if (!/^[0-9]+$/.test(resourceVersion)) throw badResourceVersion(resourceVersion, 'invalid syntax');
  const exact = BigInt(resourceVersion);
  if (exact > MAX_UINT64) throw badResourceVersion(resourceVersion, 'value out of range');
  return Number(exact);
}

/** The digits that were asked for, for messages: exact also where a number is not. */
export function canonicalResourceVersion(resourceVersion: string): string {
  return resourceVersion === '' ? '0' : BigInt(resourceVersion).toString();
}

function badResourceVersion(value: string, why: string): StatusError {
  const quoted = goQuote(value);
  return newUnknownError(`resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`);
}

/** A new object with the version; it stands where upstream's serializers have it: behind the uid, or in order. */
export function withResourceVersion(object: ApiObject, resourceVersion: string): ApiObject {
  const source = object.metadata as Readonly<Record<string, unknown>>;
  const metadata: Record<string, unknown> = {};
  let placed = false;
  // Custom resources have their fields in order, and then one that comes before the name.
  let sorted: boolean | undefined;
  for (const field in source) {
    sorted ??= !BEFORE_VERSION.has(field);
    if (!placed && (sorted ? field >= 'resourceVersion' : !BEFORE_VERSION.has(field))) {
      metadata['resourceVersion'] = resourceVersion;
      placed = true;
    }
    if (field !== 'resourceVersion' && field !== 'selfLink') define(metadata, field, source[field]);
  }
  if (!placed) metadata['resourceVersion'] = resourceVersion;
  return Object.freeze({ ...object, metadata: Object.freeze(metadata) }) as unknown as ApiObject;
}

const BEFORE_VERSION: ReadonlySet<string> = new Set(['name', 'generateName', 'namespace', 'selfLink', 'uid']);

function define(target: Record<string, unknown>, field: string, value: unknown): void {
  // A plain assignment of this one name would set the prototype.
  if (field === '__proto__') Object.defineProperty(target, field, { value, enumerable: true });
  else target[field] = value;
}
