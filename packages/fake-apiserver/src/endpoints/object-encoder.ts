// Bytes of stored objects, made once per form and kept with the object: what lists are assembled from and watch frames are.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/response.go#doTransformObject, storage/cacher/caching_object.go
import { goJsonStringify, type KubernetesObject, type Status, type WatchEventType } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { ownBytes } from '../storage/own-bytes.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WireFrame } from './http.ts';
import { typedMetadata } from './typed-metadata.ts';

/** One form of the objects of a resource. The identifier is the cache key on the object. */
export interface ObjectEncoder {
  readonly identifier: string;
  readonly contentType: string;
  readonly streamContentType: string;
  /** A message of its own: no newline, no frame. */
  encode(stored: StoredObject): Buffer;
  /** `first` is true for the first event of a watch, where a Table carries its column definitions. */
  frame(type: WatchEventType, stored: StoredObject, first?: boolean): WireFrame;
  errorFrame(status: Status): WireFrame;
  /** A frame as a WebSocket message. */
  message(frame: WireFrame): Buffer;
}

const LF = 0x0a;
const CRLF = Buffer.from('\r\n');

/** Surrounds a message with the chunk header and trailer of HTTP/1.1, in one allocation. */
export function makeFrame(parts: readonly (Buffer | string)[]): WireFrame {
  let length = 0;
  for (const part of parts) length += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  const head = `${length.toString(16)}\r\n`;
  // Kept with the object, so not from the shared pool; see ownBytes.
  const chunk = Buffer.allocUnsafeSlow(head.length + length + CRLF.length);
  let at = chunk.write(head, 0, 'latin1');
  for (const part of parts) at += typeof part === 'string' ? chunk.write(part, at) : part.copy(chunk, at);
  CRLF.copy(chunk, at);
  return { bytes: chunk.subarray(head.length, head.length + length), chunk };
}

/** Only the chunk is cached; the message is a view into it. */
export function viewFrame(chunk: Buffer): WireFrame {
  const head = chunk.indexOf(LF) + 1;
  return { bytes: chunk.subarray(head, chunk.length - CRLF.length), chunk };
}

/**
 * The last frame that was asked for. One event goes to all its watchers in a row, and those of one form share an encoder, so this
 * answers nearly every call without a look-up.
 */
export class LastFrame {
  #stored: StoredObject | undefined;
  #type: WatchEventType | undefined;
  #frame: WireFrame | undefined;

  get(type: WatchEventType, stored: StoredObject, make: () => WireFrame): WireFrame {
    if (this.#stored === stored && this.#type === type) return this.#frame!;
    const frame = make();
    this.#stored = stored;
    this.#type = type;
    this.#frame = frame;
    return frame;
  }
}

export type FrameKeys = Readonly<Record<WatchEventType, string>>;

/** Under what the frames of a form are kept. Made once for all objects: the same text is found without comparing it. */
export function frameKeysOf(identifier: string): FrameKeys {
  const key = (type: WatchEventType): string => `${identifier};watch=${type}`;
  return {
    ADDED: key('ADDED'),
    MODIFIED: key('MODIFIED'),
    DELETED: key('DELETED'),
    BOOKMARK: key('BOOKMARK'),
    ERROR: key('ERROR'),
  };
}

const EVENT_END = '}\n';
const eventStart = (type: WatchEventType): string => `{"type":"${type}","object":`;

/** What the forms in JSON share. */
export abstract class JsonEncoder implements ObjectEncoder {
  readonly identifier: string;
  readonly #frameKeys: FrameKeys;
  readonly contentType = 'application/json';
  readonly streamContentType = 'application/json';
  readonly #last = new LastFrame();
  protected abstract text(object: ApiObject, first: boolean): string;

  constructor(identifier: string, frameKeys: FrameKeys = frameKeysOf(identifier)) {
    this.identifier = identifier;
    this.#frameKeys = frameKeys;
  }

  encode(stored: StoredObject): Buffer {
    return stored.encoding(this.identifier, (object) => ownBytes(this.text(object, true)));
  }

  frame(type: WatchEventType, stored: StoredObject, _first = false): WireFrame {
    return this.#last.get(type, stored, () =>
      viewFrame(
        stored.encoding(
          this.#frameKeys[type],
          (object) => makeFrame(this.pieces(type, this.text(object, false))).chunk,
        ),
      ),
    );
  }

  protected pieces(type: WatchEventType, object: string): readonly string[] {
    return [eventStart(type), object, EVENT_END];
  }

  errorFrame(status: Status): WireFrame {
    return makeFrame(this.pieces('ERROR', goJsonStringify(status)));
  }

  message(frame: WireFrame): Buffer {
    return frame.bytes;
  }
}

/** The object as it is. Items of built-in lists are its bytes without kind and apiVersion in front. */
export class PlainJsonEncoder extends JsonEncoder {
  /** What every item of a list begins with; `encodeItem` gives what follows. */
  readonly itemStart: string;
  readonly #custom: boolean;
  #kind: string | undefined;
  #apiVersion: string | undefined;
  #typeMetaLength = 0;

  constructor(custom: boolean) {
    super(PLAIN, PLAIN_KEYS);
    this.#custom = custom;
    this.itemStart = custom ? '' : '{';
  }

  protected text(object: ApiObject): string {
    return this.#custom ? customText(object) : `${typeMeta(object)}${fieldsText(object)}`;
  }

  override encode(stored: StoredObject): Buffer {
    const sent = this.#sent(stored);
    if (sent !== undefined) return sent;
    if (this.#custom) return stored.encoding('json', (object) => ownBytes(customText(object)));
    return Buffer.concat([Buffer.from(typeMeta(stored.object)), this.encodeItem(stored)]);
  }

  encodeItem(stored: StoredObject): Buffer {
    if (this.#custom) return this.encode(stored);
    return this.#sent(stored, this.#typeMetaBytes(stored.object)) ?? stored.encoding('json;fields', ownFields);
  }

  /**
   * Watchers hear of a write before anybody else, and what they got holds what the others get. `skip` leaves bytes out at the start.
   * Called for each item of a list, so it makes nothing but the view it returns.
   */
  #sent(stored: StoredObject, skip = 0): Buffer | undefined {
    let before = MODIFIED_BEFORE;
    let chunk = stored.made(PLAIN_KEYS.MODIFIED);
    if (chunk === undefined) {
      before = ADDED_BEFORE;
      chunk = stored.made(PLAIN_KEYS.ADDED);
    }
    return chunk?.subarray(chunk.indexOf(LF) + 1 + before + skip, chunk.length - CRLF.length - EVENT_END.length);
  }

  /** The objects of a list have the same kind and version. */
  #typeMetaBytes(object: ApiObject): number {
    if (object.kind !== this.#kind || object.apiVersion !== this.#apiVersion) {
      this.#kind = object.kind;
      this.#apiVersion = object.apiVersion;
      this.#typeMetaLength = Buffer.byteLength(typeMeta(object));
    }
    return this.#typeMetaLength;
  }
}

const PLAIN = 'json;full';
const PLAIN_KEYS = frameKeysOf(PLAIN);
const MODIFIED_BEFORE = eventStart('MODIFIED').length;
const ADDED_BEFORE = eventStart('ADDED').length;
const ownFields = (object: ApiObject): Buffer => ownBytes(fieldsText(object));

const typeMeta = ({ kind, apiVersion }: ApiObject): string =>
  `{"kind":${goJsonStringify(kind)},"apiVersion":${goJsonStringify(apiVersion)},`;

/** Everything after kind and apiVersion, with the closing brace. Every object has metadata, so it is never empty. */
function fieldsText(object: ApiObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object;
  return goJsonStringify(fields).slice(1);
}

/** Custom objects are maps upstream: their top-level keys are sorted, and a bookmark has no empty creation time. */
function customText(object: ApiObject): string {
  const { creationTimestamp, ...timeless } = object.metadata;
  const shown: ApiObject = creationTimestamp === null ? { ...object, metadata: timeless } : object;
  const parts = Object.keys(shown)
    .sort()
    .map((key) => `${goJsonStringify(key)}:${goJsonStringify(shown[key])}`);
  return `{${parts.join(',')}}`;
}

/** Metadata only. */
export class MetadataEncoder extends JsonEncoder {
  readonly #apiVersion: string;

  constructor(version: string) {
    super(`metadata;${version}`);
    this.#apiVersion = `meta.k8s.io/${version}`;
  }

  protected text(object: ApiObject): string {
    return goJsonStringify(this.object(object));
  }

  object(object: ApiObject): KubernetesObject {
    return { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion, metadata: typedMetadata(object) };
  }
}
