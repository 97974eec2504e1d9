// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cache_watcher_test.go#TestTimeBucketWatchersBasic
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { BookmarkTimeBuckets, type BookmarkWatcher } from './bookmark-time-buckets.ts';

const watcherAt = (at: number | undefined): BookmarkWatcher => ({ nextBookmarkAtMs: () => at });

describe('BookmarkTimeBuckets', () => {
  it('gives out each watcher once, in the second in which it is due', () => {
    const clock = new VirtualClock();
    const start = clock.now();
    const buckets = new BookmarkTimeBuckets(clock, 60_000);
    const soon = watcherAt(start + 1500);
    const later = watcherAt(start + 2500);
    expect([buckets.add(soon), buckets.add(later), buckets.add(watcherAt(undefined))]).toEqual([true, true, false]);
    expect(buckets.popExpired()).toEqual([]);
    expect(buckets.nextAtMs).toBe(start + 1000);
    clock.advanceSync(1000);
    expect(buckets.popExpired()).toEqual([soon]);
    clock.advanceSync(5000);
    expect(buckets.popExpired()).toEqual([later]);
    expect(buckets.nextAtMs).toBeUndefined();
  });

  it('puts one that is due at once into the next second', () => {
    const clock = new VirtualClock();
    const buckets = new BookmarkTimeBuckets(clock, 60_000);
    clock.advanceSync(10_000);
    buckets.popExpired();
    const urgent = watcherAt(0);
    buckets.add(urgent);
    expect(buckets.popExpired()).toEqual([]);
    clock.advanceSync(1000);
    expect(buckets.popExpired()).toEqual([urgent]);
  });
});
