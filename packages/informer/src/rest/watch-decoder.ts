// One JSON document of a watch stream to a WatchEvent, or a DecodeError.
// Upstream: client-go@v0.30.3:rest/watch/decoder.go#Decoder
import type { WatchEvent } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';
import { requireTypes } from './generated-types.ts';
import type { JsonObject } from './json-shape.ts';
import { isJsonObject, soundStatus } from './json-shape.ts';
import { isKnownKind, parseApiVersion } from './known-kinds.ts';

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
  if (!isJsonObject(object)) throw bad(`object of ${String(type)} is missing`);
  if (decoding !== 'tolerant') {
    requireFrame(document as JsonObject, decoding);
    requireKind(object);
  }
  if (object['kind'] === 'Status' && (type === 'ERROR' || decoding !== 'tolerant')) {
    const status = soundStatus(object);
    if (status === undefined) throw bad('a Status has a field of another type');
    return { type, object: status } as WatchEvent;
  }
  if (decoding === 'typed') requireKnown(object);
  if (type !== 'ERROR') readableMetadata(object);
  return document as WatchEvent;
}

/** A frame need not say what it is, but must not say that it is something else. */
function requireFrame({ kind, apiVersion }: JsonObject, decoding: Decoding): void {
  if ((kind ?? '') !== '' && kind !== 'WatchEvent') throw bad('a frame of another kind');
  if ((apiVersion ?? '') === '' || apiVersion === 'v1') return;
  if (decoding === 'dynamic' || typeof apiVersion !== 'string' || !isKnownKind(apiVersion, 'WatchEvent'))
    throw bad('a frame of another version');
}

/** Both of upstream's clients look up the kind before they read on. */
function requireKind({ kind, apiVersion }: JsonObject): void {
  if (typeof kind !== 'string' || kind === '') throw bad("Object 'Kind' is missing");
  const parts = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined;
  if (parts === undefined || parts.version === '') throw bad("Object 'apiVersion' is missing");
}

function requireKnown(object: JsonObject): void {
  const { kind, apiVersion } = object as { kind: string; apiVersion: string };
  if (!isKnownKind(apiVersion, kind)) throw bad(`no kind ${JSON.stringify(kind)} is registered for ${apiVersion}`);
  try {
    requireTypes(object, kind);
  } catch (cause) {
    throw bad((cause as Error).message);
  }
}

/** In place: what the cache reads of an object is text, or not there; that includes the metadata themselves. */
export function readableMetadata(object: object): void {
  const { metadata } = object as { metadata?: unknown };
  if (!isJsonObject(metadata)) {
    (object as { metadata: object }).metadata = {};
    return;
  }
  const { name, namespace, resourceVersion, uid } = metadata;
  if (name !== undefined && typeof name !== 'string') drop(metadata, 'name');
  if (namespace !== undefined && typeof namespace !== 'string') drop(metadata, 'namespace');
  if (resourceVersion !== undefined && typeof resourceVersion !== 'string') drop(metadata, 'resourceVersion');
  if (uid !== undefined && typeof uid !== 'string') drop(metadata, 'uid');
}

function drop(metadata: JsonObject, field: string): void {
  delete (metadata as Record<string, unknown>)[field];
}

function bad(why: string): DecodeError {
  return new DecodeError('BAD_EVENT', `unable to decode an event from the watch stream: ${why}`);
}
