// One JSON document of a watch stream to a WatchEvent, or a DecodeError.
// Upstream: client-go@v0.30.3:rest/watch/decoder.go#Decoder
import type { KubernetesObject, WatchEvent } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';

/**
 * How strictly answers are judged. `tolerant` fills in what is missing and can be understood; `dynamic` and `typed` do what
 * client-go's dynamic and generated clients do, for transcripts that must be equal.
 */
export type Decoding = 'tolerant' | 'dynamic' | 'typed';

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

export function decodeWatchEvent(document: unknown, decoding: Decoding): WatchEvent {
  if (typeof document !== 'object' || document === null) throw bad('a frame is no object');
  const { type, object } = document as { type?: unknown; object?: unknown };
  if (!TYPES.has(type)) throw bad(`got invalid watch event type: ${String(type)}`);
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw bad(`object of ${String(type)} is missing`);
  const { kind, apiVersion } = object as KubernetesObject;
  if (decoding !== 'tolerant' && (typeof kind !== 'string' || kind === '')) throw bad("Object 'Kind' is missing");
  if (decoding === 'typed') {
    if (!isRegistered(apiVersion)) throw bad(`no kind ${JSON.stringify(kind)} is registered for ${apiVersion}`);
    if (kind === 'Secret') requireBytes(object);
  }
  return document as WatchEvent;
}

/** What a generated client could know: `v1` of the core group, and groups without a dot or of Kubernetes' own. */
export function isRegistered(apiVersion: string | undefined): boolean {
  if (apiVersion === undefined || !apiVersion.includes('/')) return apiVersion === undefined || apiVersion === 'v1';
  const group = apiVersion.slice(0, apiVersion.indexOf('/'));
  return !group.includes('.') || group.endsWith('.k8s.io');
}

/** The values of a Secret are bytes to a generated client; text that is not base64 fails the whole answer. */
export function requireBytes(secret: object): void {
  const { data } = secret as { data?: unknown };
  for (const value of Object.values(typeof data === 'object' && data !== null ? data : {})) {
    const valid = typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
    if (!valid) throw bad('illegal base64 data in a Secret');
  }
}

function bad(why: string): DecodeError {
  return new DecodeError('BAD_EVENT', `unable to decode an event from the watch stream: ${why}`);
}
