// Built-in objects in protobuf: the magic bytes, the envelope with apiVersion and kind, and the frames of lists and watches.
// Upstream: apimachinery@v0.30.3:pkg/runtime/serializer/protobuf/protobuf.go
import { parseGroupVersion } from '@kube-rx/apimachinery';
import { normalizeUnstored } from '../schema/normalize-builtin.ts';
import { loadSchemaRegistry } from '../schema/schema-registry.ts';
import { BackwardWriter } from './backward-writer.ts';
import { readMessage } from './decode-message.ts';
import { writeMessage } from './encode-message.ts';
import { type MessageType, messageRegistry, PROTOBUF_PROFILE } from './message-type.ts';
import { ProtobufError, ProtobufReader } from './reader.ts';

/** `k8s` and a zero byte. */
export const PROTOBUF_MAGIC: Uint8Array = Uint8Array.from([0x6b, 0x38, 0x73, 0x00]);

/** The least an encoded object must have. */
export interface ProtobufObject {
  readonly apiVersion: string;
  readonly kind: string;
}

function messageOf({ apiVersion, kind }: ProtobufObject): MessageType | undefined {
  const gv = parseGroupVersion(apiVersion);
  return gv === undefined ? undefined : messageRegistry().ofKind(gv.group, gv.version, kind);
}

/** False for custom kinds and Table, which are answered as 406 when only protobuf is accepted. */
export function hasProtobuf(object: ProtobufObject): boolean {
  return messageOf(object) !== undefined;
}

function known(object: ProtobufObject): MessageType {
  const type = messageOf(object);
  if (type === undefined) {
    throw new ProtobufError(
      `object ${object.apiVersion}, Kind=${object.kind} does not implement the protobuf marshalling interface`,
    );
  }
  return type;
}

/**
 * The object as a whole body: magic bytes, envelope, message. The object must be as `normalizeBuiltin` leaves it. The envelope names
 * `apiVersion`, which is another one for the few objects that do not say theirs.
 *
 * @throws ProtobufError for kinds without a message.
 */
export function encodeProtobuf(object: ProtobufObject, apiVersion: string = object.apiVersion): Buffer {
  const writer = new BackwardWriter(2048);
  return envelope(writer, { ...object, apiVersion }, () => writeMessage(writer, known(object), object));
}

/** Number of the field `items` in every list. */
const ITEMS = 2;

/** An object as lists hold it: neither magic bytes nor apiVersion nor kind, but the tag and length of an item. Keep it to serve many lists. */
export function encodeProtobufItem(object: ProtobufObject): Buffer {
  const writer = new BackwardWriter(2048);
  writeMessage(writer, known(object), object);
  writer.delimited(ITEMS, 0);
  return writer.finish();
}

/** A list body in parts, from its head (with `metadata`) and its items as {@link encodeProtobufItem} leaves them. */
export function encodeProtobufList(head: ProtobufObject, items: readonly Buffer[]): readonly Buffer[] {
  let size = 0;
  for (const item of items) size += item.length;
  const start = new BackwardWriter(256);
  // Items have the highest number of a list's fields, so they come last.
  writeMessage(start, known(head), { ...head, items: undefined });
  start.varint(start.length + size);
  start.tag(2, 2);
  writeTypeMeta(start, head);
  return [start.finish(), ...items, UNENCODED];
}

/** contentType and contentEncoding at the end of an envelope, both empty. */
const UNENCODED = Buffer.from([0x1a, 0x00, 0x22, 0x00]);

function envelope(writer: BackwardWriter, object: ProtobufObject, content: () => void): Buffer {
  writer.raw(UNENCODED);
  const mark = writer.length;
  content();
  writer.delimited(2, mark);
  writeTypeMeta(writer, object);
  return writer.finish();
}

function writeTypeMeta(writer: BackwardWriter, { apiVersion, kind }: ProtobufObject): void {
  const mark = writer.length;
  for (const [id, text] of [
    [2, kind],
    [1, apiVersion],
  ] as const) {
    const start = writer.length;
    writer.string(text);
    writer.delimited(id, start);
  }
  writer.delimited(1, mark);
  writer.raw(PROTOBUF_MAGIC);
}

/** One frame of a watch stream: four bytes of length, big endian, and a WatchEvent around an object's whole body. */
export function encodeWatchEventProtobuf(type: string, object: Uint8Array): Buffer {
  const writer = new BackwardWriter(object.length + 64);
  const outer = writer.length;
  const mark = writer.length;
  writer.raw(object);
  writer.delimited(1, mark);
  writer.delimited(2, outer);
  const start = writer.length;
  writer.string(type);
  writer.delimited(1, start);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(writer.length);
  writer.raw(length);
  return writer.finish();
}

/** Kind and version in an envelope, without decoding the object. */
export function readProtobufKind(bytes: Uint8Array): ProtobufObject {
  const { apiVersion, kind } = openEnvelope(bytes);
  return { apiVersion, kind };
}

interface Envelope extends ProtobufObject {
  readonly raw: Uint8Array;
}

function openEnvelope(bytes: Uint8Array): Envelope {
  if (!PROTOBUF_MAGIC.every((byte, index) => bytes[index] === byte)) {
    throw new ProtobufError(
      bytes.length === 0
        ? 'empty data'
        : 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  const reader = new ProtobufReader(bytes, PROTOBUF_MAGIC.length);
  let apiVersion = '';
  let kind = '';
  let raw: Uint8Array = new Uint8Array(0);
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 0x0a) {
      const meta = reader.message();
      while (!meta.done) {
        const field = meta.varint();
        if (field === 0x0a) apiVersion = meta.string();
        else if (field === 0x12) kind = meta.string();
        else meta.skip(field % 8);
      }
    } else if (tag === 0x12) raw = reader.bytes();
    else reader.skip(tag % 8);
  }
  return { apiVersion, kind, raw };
}

/**
 * A body as an object, normalised as a decoded JSON body is.
 *
 * @param fallback Kind and version of an envelope that names none.
 * @throws ProtobufError for bytes that are no such body, and for kinds without a message.
 */
export function decodeProtobuf(bytes: Uint8Array, fallback?: ProtobufObject): ProtobufObject & Record<string, unknown> {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const named: ProtobufObject = {
    apiVersion: apiVersion === '' ? (fallback?.apiVersion ?? '') : apiVersion,
    kind: kind === '' ? (fallback?.kind ?? '') : kind,
  };
  const message = readMessage(new ProtobufReader(raw), known(named)) as Record<string, unknown>;
  const gv = parseGroupVersion(named.apiVersion);
  const schema = loadSchemaRegistry(PROTOBUF_PROFILE).byKind(gv?.group ?? '', gv?.version ?? '', named.kind);
  return normalizeUnstored({ ...message, apiVersion: named.apiVersion, kind: named.kind }, schema);
}
