// The records of the journal and their binary form.
import type { KeyValue, LeaseId, Revision } from '../client.ts';
import { EtcdError } from '../errors.ts';
import type { KvWrite } from './mvcc/kvstore.ts';

/**
 * `start` opens a rewritten state, followed by its `base` versions, `lease`s and `event`s; `txn`, `lease`, `revoke` and `compact`
 * are appended as they happen.
 */
export type JournalRecord =
  | { readonly kind: 'start'; readonly compactRevision: Revision | undefined }
  | { readonly kind: 'base'; readonly kv: KeyValue }
  | { readonly kind: 'event'; readonly kv: KeyValue }
  | { readonly kind: 'txn'; readonly writes: readonly KvWrite[] }
  | { readonly kind: 'compact'; readonly revision: Revision }
  | { readonly kind: 'lease'; readonly id: LeaseId; readonly ttlSeconds: number; readonly expiresAtMs: number }
  | { readonly kind: 'revoke'; readonly id: LeaseId };

const KINDS = ['start', 'base', 'event', 'txn', 'compact', 'lease', 'revoke'] as const;
const NO_REVISION = 0;

export function encodeRecord(record: JournalRecord): Buffer {
  const writer = new Writer();
  writer.byte(KINDS.indexOf(record.kind));
  switch (record.kind) {
    case 'start':
      writer.number(record.compactRevision ?? NO_REVISION);
      break;
    case 'base':
    case 'event':
      writer.text(record.kv.key);
      writer.number(record.kv.createRevision);
      writer.number(record.kv.modRevision);
      writer.number(record.kv.version);
      writer.text(record.kv.lease);
      writer.bytes(record.kv.value);
      break;
    case 'txn':
      writer.number(record.writes.length);
      for (const write of record.writes) {
        writer.byte(write.op === 'put' ? 1 : 0);
        writer.text(write.key);
        if (write.op === 'delete') continue;
        writer.text(write.lease);
        writer.bytes(write.value);
      }
      break;
    case 'compact':
      writer.number(record.revision);
      break;
    case 'lease':
      writer.text(record.id);
      writer.number(record.ttlSeconds);
      writer.number(record.expiresAtMs);
      break;
    case 'revoke':
      writer.text(record.id);
  }
  return writer.finish();
}

export function decodeRecord(payload: Buffer): JournalRecord {
  const reader = new Reader(payload);
  const kind = KINDS[reader.byte()];
  switch (kind) {
    case 'start': {
      const revision = reader.number();
      return { kind, compactRevision: revision === NO_REVISION ? undefined : revision };
    }
    case 'base':
    case 'event':
      return { kind, kv: readVersion(reader) };
    case 'txn': {
      const writes: KvWrite[] = [];
      for (let left = reader.number(); left > 0; left--) writes.push(readWrite(reader));
      return { kind, writes };
    }
    case 'compact':
      return { kind, revision: reader.number() };
    case 'lease':
      return { kind, id: reader.text(), ttlSeconds: reader.number(), expiresAtMs: reader.number() };
    case 'revoke':
      return { kind, id: reader.text() };
    default:
      throw new EtcdError('Corrupt', { message: 'unknown kind of record: the data was written by a newer version' });
  }
}

function readVersion(reader: Reader): KeyValue {
  return {
    key: reader.text(),
    createRevision: reader.number(),
    modRevision: reader.number(),
    version: reader.number(),
    lease: reader.text(),
    value: reader.bytes(),
  };
}

function readWrite(reader: Reader): KvWrite {
  if (reader.byte() === 0) return { op: 'delete', key: reader.text() };
  return { op: 'put', key: reader.text(), lease: reader.text(), value: reader.bytes() };
}

class Writer {
  readonly #parts: Buffer[] = [];

  byte(value: number): void {
    this.#parts.push(Buffer.of(value));
  }

  number(value: number): void {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(bytes);
  }

  bytes(value: Buffer): void {
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32LE(value.length);
    this.#parts.push(length, value);
  }

  text(value: string): void {
    this.bytes(Buffer.from(value));
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

class Reader {
  readonly #payload: Buffer;
  #at = 0;

  constructor(payload: Buffer) {
    this.#payload = payload;
  }

  byte(): number {
    return this.#payload.readUInt8(this.#at++);
  }

  number(): number {
    const value = this.#payload.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  bytes(): Buffer {
    const start = this.#at + 4;
    this.#at = start + this.#payload.readUInt32LE(this.#at);
    // A copy, so that one value does not keep the whole file in memory.
    return Buffer.from(this.#payload.subarray(start, this.#at));
  }

  text(): string {
    const start = this.#at + 4;
    this.#at = start + this.#payload.readUInt32LE(this.#at);
    return this.#payload.toString('utf8', start, this.#at);
  }
}
