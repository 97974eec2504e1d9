// One JSON document of a watch stream to a WatchEvent, or a DecodeError.
// Upstream: client-go@v0.30.3:rest/watch/decoder.go#Decoder
import type { KubernetesObject, WatchEvent } from '@kube-rx/apimachinery';
import { isStatus } from '@kube-rx/apimachinery';
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
  if (decoding === 'typed' && isForeign(apiVersion))
    throw bad(`no kind ${JSON.stringify(kind)} is registered for ${apiVersion}`);
  if (type !== 'ERROR' && isStatus(object)) throw bad(`object of ${String(type)} is a Status`);
  return document as WatchEvent;
}

/** An API group that no generated client knows: it has a dot and is not one of Kubernetes' own. */
export function isForeign(apiVersion: string | undefined): boolean {
  const group = apiVersion?.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return group.includes('.') && !group.endsWith('.k8s.io');
}

function bad(why: string): DecodeError {
  return new DecodeError('BAD_EVENT', `unable to decode an event from the watch stream: ${why}`);
}
