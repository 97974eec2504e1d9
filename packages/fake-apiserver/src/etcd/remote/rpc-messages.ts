// etcd's requests and answers as bytes.
// Upstream: etcd@v3.5.15:api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto
import type {
  Compare,
  EtcdEvent,
  KeyValue,
  LeaseId,
  RangeRequest,
  RangeResponse,
  Revision,
  TxnOp,
  TxnOpResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
} from '../client.ts';
import { type ProtoReader, ProtoWriter } from './protobuf.ts';

export function encodeRange(request: RangeRequest): ProtoWriter {
  return new ProtoWriter()
    .text(1, request.key)
    .text(2, request.rangeEnd)
    .int(3, request.limit ?? 0)
    .int(4, request.revision ?? 0)
    .bool(7, request.serializable)
    .bool(8, request.keysOnly)
    .bool(9, request.countOnly);
}

export function encodeTxn(request: TxnRequest): ProtoWriter {
  const writer = new ProtoWriter();
  for (const compare of request.compare) writer.message(1, encodeCompare(compare));
  for (const op of request.success) writer.message(2, encodeOp(op));
  for (const op of request.failure) writer.message(3, encodeOp(op));
  return writer;
}

const TARGET_ENUM: Readonly<Record<Compare['target'], number>> = { version: 0, createRevision: 1, modRevision: 2 };
const TARGET_FIELD: Readonly<Record<Compare['target'], number>> = { version: 4, createRevision: 5, modRevision: 6 };

function encodeCompare({ key, target, equals }: Compare): ProtoWriter {
  // The value is part of a oneof, so zero must be written too.
  const value = equals === 0 ? Buffer.from([TARGET_FIELD[target] * 8, 0]) : undefined;
  const writer = new ProtoWriter().int(2, TARGET_ENUM[target]).text(3, key);
  return value === undefined ? writer.int(TARGET_FIELD[target], equals) : writer.raw(value);
}

function encodeOp(op: TxnOp): ProtoWriter {
  const writer = new ProtoWriter();
  if (op.op === 'range') return writer.message(1, encodeRange(op));
  if (op.op === 'delete') return writer.message(3, new ProtoWriter().text(1, op.key));
  return writer.message(
    2,
    new ProtoWriter()
      .text(1, op.key)
      .bytes(2, op.value)
      .id(3, op.lease ?? ''),
  );
}

export const encodeCompact = (revision: Revision): ProtoWriter => new ProtoWriter().int(1, revision).bool(2, true);
export const encodeLeaseGrant = (ttlSeconds: number): ProtoWriter => new ProtoWriter().int(1, ttlSeconds);
export const encodeLeaseRevoke = (lease: LeaseId): ProtoWriter => new ProtoWriter().id(1, lease);
export const encodeProgressRequest = (): ProtoWriter => new ProtoWriter().message(3, new ProtoWriter());

export function encodeWatchCreate(request: WatchRequest): ProtoWriter {
  const create = new ProtoWriter()
    .text(1, request.key)
    .text(2, request.rangeEnd)
    .int(3, request.startRevision ?? 0)
    .bool(4, request.progressNotify)
    .bool(6, request.prevKv);
  return new ProtoWriter().message(1, create);
}

export function decodeRange(reader: ProtoReader): RangeResponse {
  const kvs: KeyValue[] = [];
  let revision = 0;
  let more = false;
  let count = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = decodeHeader(reader.message());
    else if (field === 2) kvs.push(decodeKeyValue(reader.message()));
    else if (field === 3) more = reader.bool();
    else if (field === 4) count = reader.int();
    else reader.skip();
  }
  return { revision, kvs, more, count };
}

export function decodeTxn(reader: ProtoReader): TxnResponse {
  let revision = 0;
  let succeeded = false;
  const responses: TxnOpResponse[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = decodeHeader(reader.message());
    else if (field === 2) succeeded = reader.bool();
    else if (field === 3) responses.push(decodeOpResponse(reader.message()));
    else reader.skip();
  }
  // A range inside a transaction has no header of its own to speak of.
  return { revision, succeeded, responses: responses.map((one) => (one.op === 'range' ? { ...one, revision } : one)) };
}

function decodeOpResponse(reader: ProtoReader): TxnOpResponse {
  let response: TxnOpResponse = { op: 'put' };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) response = { op: 'range', ...decodeRange(reader.message()) };
    else if (field === 3) response = { op: 'delete', deleted: intField(reader.message(), 2) };
    else reader.skip();
  }
  return response;
}

export interface WatchAnswer {
  readonly revision: Revision;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  readonly events: readonly EtcdEvent[];
}

export function decodeWatch(reader: ProtoReader): WatchAnswer {
  let revision = 0;
  let created = false;
  let canceled = false;
  let compactRevision = 0;
  let cancelReason = '';
  const events: EtcdEvent[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = decodeHeader(reader.message());
    else if (field === 3) created = reader.bool();
    else if (field === 4) canceled = reader.bool();
    else if (field === 5) compactRevision = reader.int();
    else if (field === 6) cancelReason = reader.text();
    else if (field === 11) events.push(decodeEvent(reader.message()));
    else reader.skip();
  }
  return { revision, created, canceled, compactRevision, cancelReason, events };
}

const NO_KEY_VALUE: KeyValue = {
  key: '',
  value: Buffer.alloc(0),
  createRevision: 0,
  modRevision: 0,
  version: 0,
  lease: '',
};

function decodeEvent(reader: ProtoReader): EtcdEvent {
  let type: EtcdEvent['type'] = 'put';
  let kv = NO_KEY_VALUE;
  let prevKv: KeyValue | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) type = reader.int() === 1 ? 'delete' : 'put';
    else if (field === 2) kv = decodeKeyValue(reader.message());
    else if (field === 3) prevKv = decodeKeyValue(reader.message());
    else reader.skip();
  }
  return prevKv === undefined ? { type, kv } : { type, kv, prevKv };
}

function decodeKeyValue(reader: ProtoReader): KeyValue {
  const kv = { ...NO_KEY_VALUE } as { -readonly [K in keyof KeyValue]: KeyValue[K] };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) kv.key = reader.text();
    else if (field === 2) kv.createRevision = reader.int();
    else if (field === 3) kv.modRevision = reader.int();
    else if (field === 4) kv.version = reader.int();
    // A copy, so that one value does not keep the whole answer in memory.
    else if (field === 5) kv.value = Buffer.from(reader.bytes());
    else if (field === 6) kv.lease = reader.id();
    else reader.skip();
  }
  return kv;
}

export function decodeLeaseId(reader: ProtoReader): LeaseId {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) return reader.id();
    reader.skip();
  }
  return '';
}

export interface StatusAnswer {
  readonly revision: Revision;
  readonly version: string;
  readonly dbSizeBytes: number;
}

export function decodeStatus(reader: ProtoReader): StatusAnswer {
  let revision = 0;
  let version = '';
  let dbSizeBytes = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = decodeHeader(reader.message());
    else if (field === 2) version = reader.text();
    else if (field === 3) dbSizeBytes = reader.int();
    else reader.skip();
  }
  return { revision, version, dbSizeBytes };
}

function decodeHeader(reader: ProtoReader): Revision {
  return intField(reader, 3);
}

function intField(reader: ProtoReader, wanted: number): number {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === wanted) return reader.int();
    reader.skip();
  }
  return 0;
}
