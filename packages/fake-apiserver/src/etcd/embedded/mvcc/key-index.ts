// The versions of one key that are still known, oldest first.
// Upstream: etcd@v3.5.15:server/storage/mvcc/key_index.go#keyIndex
// Differs: versions hold their values, and a deletion is an entry of the same list, so there are no generations.
import type { KeyValue, Revision } from '../../client.ts';

/** One state of the key from `kv.modRevision` on. A deletion has version 0 and an empty value. */
export type KeyVersion = KeyValue;

const EMPTY = Buffer.alloc(0);

export function tombstone(key: string, revision: Revision): KeyVersion {
  return { key, value: EMPTY, createRevision: 0, modRevision: revision, version: 0, lease: '' };
}

export function isTombstone(version: KeyVersion): boolean {
  return version.version === 0;
}

export class KeyIndex {
  readonly key: string;
  // Most keys have one version; an array only for those that were changed since the last compaction.
  #latest: KeyVersion;
  #older: KeyVersion[] | undefined;

  constructor(first: KeyVersion) {
    this.key = first.key;
    this.#latest = first;
  }

  /** The newest state, undefined when that is a deletion. */
  get current(): KeyVersion | undefined {
    return isTombstone(this.#latest) ? undefined : this.#latest;
  }

  put(version: KeyVersion): void {
    if (version.modRevision === this.#latest.modRevision) {
      this.#latest = version;
      return;
    }
    if (this.#older === undefined) this.#older = [this.#latest];
    else this.#older.push(this.#latest);
    this.#latest = version;
  }

  /** State at a revision, undefined when the key did not exist then. */
  at(revision: Revision): KeyVersion | undefined {
    if (this.#latest.modRevision <= revision) return this.current;
    const older = this.#older;
    if (older === undefined) return undefined;
    let low = 0;
    let high = older.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (older[middle]!.modRevision <= revision) low = middle + 1;
      else high = middle;
    }
    const found = older[low - 1];
    return found === undefined || isTombstone(found) ? undefined : found;
  }

  /** Drops what nobody can read any more at `revision` or later. True when nothing is left of the key. */
  compact(revision: Revision): boolean {
    if (this.#latest.modRevision <= revision) {
      this.#older = undefined;
      return isTombstone(this.#latest);
    }
    const older = this.#older;
    if (older === undefined) return false;
    let keep = 0;
    while (keep + 1 < older.length && older[keep + 1]!.modRevision <= revision) keep++;
    const first = older[keep]!;
    if (first.modRevision <= revision && isTombstone(first)) keep++;
    this.#older = keep >= older.length ? undefined : keep === 0 ? older : older.slice(keep);
    return false;
  }
}
