// What has to be written down so that the same data is there after a restart, and how: one file of checked records.
// Differs: etcd has a write-ahead log and a B+tree file; here a state is rewritten as records and appended to.
//
//   file   = record*
//   record = length u32 | crc32 of payload u32 | payload
//   payload = kind u8 | fields
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { EtcdError } from '../errors.ts';
import { decodeRecord, encodeRecord, type JournalRecord } from './journal-record.ts';

const FILE_NAME = 'etcd.log';
const FRAME_BYTES = 8;

export interface JournalOptions {
  /** Made when missing. */
  readonly dataDir: string;
  /** Wait for the disk after each write, so that data survives a crash of the machine too. Default false. */
  readonly fsync?: boolean | undefined;
}

export class Journal {
  readonly #path: string;
  readonly #fsync: boolean;
  #fd: number;
  #bytes: number;

  private constructor(path: string, fsync: boolean, fd: number, bytes: number) {
    this.#path = path;
    this.#fsync = fsync;
    this.#fd = fd;
    this.#bytes = bytes;
  }

  /** Hands all intact records to `restore`, in order. A half-written last record, as a crash leaves it, is cut off. */
  static open(options: JournalOptions, restore: (record: JournalRecord) => void): Journal {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    const path = join(options.dataDir, FILE_NAME);
    const intact = readRecords(path, restore);
    const fd = openSync(path, 'a', 0o600);
    return new Journal(path, options.fsync ?? false, fd, intact);
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  append(record: JournalRecord): void {
    const framed = frame(encodeRecord(record));
    writeAll(this.#fd, framed);
    if (this.#fsync) fsyncSync(this.#fd);
    this.#bytes += framed.length;
  }

  /** Replaces the file by one with these records only; the old one stays until the new one is complete. */
  rewrite(records: Iterable<JournalRecord>): void {
    const temporary = `${this.#path}.tmp`;
    const fd = openSync(temporary, 'w', 0o600);
    let bytes = 0;
    try {
      let batch: Buffer[] = [];
      let batchBytes = 0;
      const flush = (): void => {
        writeAll(fd, Buffer.concat(batch, batchBytes));
        bytes += batchBytes;
        batch = [];
        batchBytes = 0;
      };
      for (const record of records) {
        const framed = frame(encodeRecord(record));
        batch.push(framed);
        batchBytes += framed.length;
        if (batchBytes > 1 << 20) flush();
      }
      flush();
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, this.#path);
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, 'a', 0o600);
    this.#bytes = bytes;
  }

  close(): void {
    fsyncSync(this.#fd);
    closeSync(this.#fd);
  }
}

function frame(payload: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_BYTES + payload.length);
  framed.writeUInt32LE(payload.length, 0);
  framed.writeUInt32LE(crc32(payload), 4);
  payload.copy(framed, FRAME_BYTES);
  return framed;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function readRecords(path: string, restore: (record: JournalRecord) => void): number {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
  let at = 0;
  while (at + FRAME_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const end = at + FRAME_BYTES + length;
    if (end > bytes.length) break;
    const payload = bytes.subarray(at + FRAME_BYTES, end);
    if (crc32(payload) !== bytes.readUInt32LE(at + 4)) {
      // Damage in the middle is not the trace of a crash; going on would lose committed writes without a word.
      if (end < bytes.length) throw new EtcdError('Corrupt', { message: `${path}: damaged record at byte ${at}` });
      break;
    }
    restore(decodeRecord(payload));
    at = end;
  }
  if (at < bytes.length) truncateSync(path, at);
  return at;
}
