// Who is due for a bookmark: watchers by the second in which their next one falls.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#watcherBookmarkTimeBuckets
import type { Clock } from '@kube-rx/apimachinery';

/** A watcher, as far as its bookmarks go. */
export interface BookmarkWatcher {
  /** Time of its next bookmark: 0 for as soon as possible, undefined for never again. */
  nextBookmarkAtMs(nowMs: number, frequencyMs: number): number | undefined;
}

const BUCKET_MS = 1000;

export class BookmarkTimeBuckets<W extends BookmarkWatcher> {
  readonly #clock: Clock;
  readonly #frequencyMs: number;
  readonly #createdAtMs: number;
  readonly #buckets = new Map<number, W[]>();
  #startBucket = 0;

  constructor(clock: Clock, frequencyMs: number) {
    this.#clock = clock;
    this.#frequencyMs = frequencyMs;
    this.#createdAtMs = clock.now();
  }

  /** False when the watcher has no bookmark to come. */
  add(watcher: W): boolean {
    const at = watcher.nextBookmarkAtMs(this.#clock.now(), this.#frequencyMs);
    if (at === undefined) return false;
    const bucket = Math.max(Math.floor((at - this.#createdAtMs) / BUCKET_MS), this.#startBucket);
    const watchers = this.#buckets.get(bucket);
    if (watchers === undefined) this.#buckets.set(bucket, [watcher]);
    else watchers.push(watcher);
    return true;
  }

  /** Takes out all watchers of the present second and before. */
  popExpired(): readonly W[] {
    const current = this.#currentBucket();
    const expired: W[] = [];
    for (const [bucket, watchers] of this.#buckets) {
      if (bucket > current) continue;
      this.#buckets.delete(bucket);
      for (const watcher of watchers) expired.push(watcher);
    }
    this.#startBucket = Math.max(this.#startBucket, current + 1);
    return expired;
  }

  /** When the first bucket begins; undefined when all are empty. */
  get nextAtMs(): number | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const bucket of this.#buckets.keys()) first = Math.min(first, bucket);
    return first === Number.POSITIVE_INFINITY ? undefined : this.#createdAtMs + first * BUCKET_MS;
  }

  #currentBucket(): number {
    return Math.floor((this.#clock.now() - this.#createdAtMs) / BUCKET_MS);
  }
}
