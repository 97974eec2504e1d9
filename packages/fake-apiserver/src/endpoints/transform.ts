// The form an answer takes after negotiation: the object itself, its metadata, or a Table.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/response.go#transformResponseObject
import { goJsonStringify, goQuote, newBadRequest } from '@kube-rx/apimachinery';
import { encodeProtobufList, hasProtobuf } from '../protobuf/index.ts';
import type { ResourceInfo, ResourceStore } from '../registry/rest.ts';
import type { StorageList } from '../storage/interfaces.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { goPackageOf } from './go-names.ts';
import { emptyList, listHead, listTail } from './list-envelope.ts';
import {
  type EndpointRestrictions,
  type NegotiatedMediaType,
  notAcceptable,
  type TransformTarget,
} from './negotiation.ts';
import { MetadataEncoder, type ObjectEncoder, PlainJsonEncoder } from './object-encoder.ts';
import { ProtobufEncoder } from './protobuf-encoder.ts';
import type { Query } from './query.ts';
import { type IncludeObject, TableEncoder } from './table-encoder.ts';

export function restrictionsOf(info: ResourceInfo): EndpointRestrictions {
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`;
  const all = !info.custom && hasProtobuf({ apiVersion, kind: info.kind });
  return { protobuf: all ? 'all' : 'metadata', transforms: true };
}

/** What a client that asks for a Table wants to see of each object; throws a 400 for anything else. */
export function includeObjectOf(query: Query): IncludeObject {
  const value = query.first('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  throw newBadRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const isTable = (target: TransformTarget): boolean => target.kind === 'Table';

/** Encoders keep nothing of a request, so all of one form share one. A Table's rows depend on its resource and on the hour. */
const shared = new Map<string, ObjectEncoder>();

function sharedEncoder(key: string, make: () => ObjectEncoder): ObjectEncoder {
  let encoder = shared.get(key);
  if (encoder === undefined) {
    encoder = make();
    shared.set(key, encoder);
  }
  return encoder;
}

const notAList = (info: ResourceInfo): Error =>
  notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeName(info, info.kind)})`,
  );

/** Encoder of a single object, also of the object in a watch event. */
export function objectEncoder(store: ResourceStore, negotiated: NegotiatedMediaType, query: Query): ObjectEncoder {
  const { target } = negotiated;
  if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf' && target?.kind !== 'PartialObjectMetadataList') {
    const version = target?.version;
    return sharedEncoder(`protobuf;${version}`, () => new ProtobufEncoder(version));
  }
  if (target === undefined) {
    const { custom } = store.info;
    return sharedEncoder(`json;${custom}`, () => new PlainJsonEncoder(custom));
  }
  if (isTable(target)) return new TableEncoder(store, target.version, includeObjectOf(query));
  if (target.kind === 'PartialObjectMetadataList') {
    throw notAList(store.info);
  }
  const { version } = target;
  return sharedEncoder(`metadata;${version}`, () => new MetadataEncoder(version));
}

/** Encoder of the events of a watch. The form of a list is none of theirs: upstream opens the stream and ends it at the first event. */
export function watchEncoder(store: ResourceStore, negotiated: NegotiatedMediaType, query: Query): ObjectEncoder {
  const { target, mediaType } = negotiated;
  if (target?.kind !== 'PartialObjectMetadataList') return objectEncoder(store, negotiated, query);
  const protobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const encoder = protobuf ? new ProtobufEncoder(target.version) : new MetadataEncoder(target.version);
  encoder.frame = () => {
    throw notAList(store.info);
  };
  return encoder;
}

const YIELD_EVERY = 500;
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A list in the negotiated form, in parts; the event loop gets its turn while many items are encoded. */
export async function encodeList(
  store: ResourceStore,
  list: StorageList,
  negotiated: NegotiatedMediaType,
  query: Query,
): Promise<readonly Buffer[]> {
  const { target } = negotiated;
  const { info } = store;
  const protobuf = negotiated.mediaType === 'application/vnd.kubernetes.protobuf';
  if (target !== undefined && isTable(target)) {
    const encoder = new TableEncoder(store, target.version, includeObjectOf(query));
    if (list.items.length === 0) return [Buffer.from(encoder.emptyList(listMeta(list, false)))];
    const [head, tail] = encoder.listEnvelope(listMeta(list, false));
    return jsonList(Buffer.from(head), list.items, (item) => encoder.row(item), Buffer.from(tail));
  }
  if (target?.kind === 'PartialObjectMetadata') {
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (${goTypeName(info, info.listKind)})`,
    );
  }
  if (target !== undefined) {
    const apiVersion = `meta.k8s.io/${target.version}`;
    if (protobuf) return protobufList('PartialObjectMetadataList', apiVersion, list, target.version);
    const encoder = new MetadataEncoder(target.version);
    const meta = listMeta(list, false);
    if (list.items.length === 0) {
      // Upstream's slice of them is nil then.
      return [
        Buffer.from(goJsonStringify({ kind: 'PartialObjectMetadataList', apiVersion, metadata: meta, items: null })),
      ];
    }
    const head = listHead('PartialObjectMetadataList', apiVersion, meta, false);
    return jsonList(head, list.items, (item) => encoder.encode(item), listTail(undefined));
  }
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`;
  if (protobuf) return protobufList(info.listKind, apiVersion, list, undefined);
  const encoder = new PlainJsonEncoder(info.custom);
  const meta = listMeta(list, info.custom);
  const empty = info.custom || list.items.length > 0 ? undefined : emptyList(info.listKind, apiVersion, meta);
  if (empty !== undefined) return [empty];
  const head = listHead(info.listKind, apiVersion, meta, info.custom);
  const tail = listTail(info.custom ? { kind: info.listKind, metadata: meta } : undefined);
  return jsonList(head, list.items, (item) => encoder.encodeItem(item), tail, encoder.itemStart);
}

/** `itemStart` is what every item begins with before what `encode` gives. */
async function jsonList(
  head: Buffer,
  items: readonly StoredObject[],
  encode: (item: StoredObject) => Buffer,
  tail: Buffer,
  itemStart = '',
): Promise<readonly Buffer[]> {
  const parts = items.length === 0 || itemStart === '' ? [head] : [head, Buffer.from(itemStart)];
  await addItems(parts, items, encode, Buffer.from(`,${itemStart}`));
  parts.push(tail);
  return parts;
}

async function protobufList(
  kind: string,
  apiVersion: string,
  list: StorageList,
  metadataVersion: string | undefined,
): Promise<readonly Buffer[]> {
  const head = { kind, apiVersion, metadata: listMeta(list, false) };
  const encoder = new ProtobufEncoder(metadataVersion);
  const items = await addItems([], list.items, (item) => encoder.encodeItem(item));
  return encodeProtobufList(head, items);
}

/** Appends the items, the JSON ones with what stands between two of them. */
async function addItems(
  parts: Buffer[],
  items: readonly StoredObject[],
  encode: (item: StoredObject) => Buffer,
  between?: Buffer,
): Promise<Buffer[]> {
  for (let index = 0; index < items.length; index++) {
    if (index > 0 && between !== undefined) parts.push(between);
    parts.push(encode(items[index]!));
    if (index % YIELD_EVERY === YIELD_EVERY - 1) await pause();
  }
  return parts;
}

/** Lists of custom resources always show `continue`. */
function listMeta(list: StorageList, custom: boolean): Readonly<Record<string, unknown>> {
  const more = custom || list.continue !== '';
  return {
    ...(custom && more ? { continue: list.continue } : {}),
    ...(custom && list.remainingItemCount !== undefined ? { remainingItemCount: list.remainingItemCount } : {}),
    ...(list.resourceVersion === '' ? {} : { resourceVersion: list.resourceVersion }),
    ...(!custom && more ? { continue: list.continue } : {}),
    ...(!custom && list.remainingItemCount !== undefined ? { remainingItemCount: list.remainingItemCount } : {}),
  };
}

/** The Go type upstream names in a refusal, e.g. `*core.ConfigMapList`. */
function goTypeName(info: ResourceInfo, kind: string): string {
  if (info.custom) return kind === info.listKind ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  return `*${goPackageOf(info.group)}.${kind}`;
}
