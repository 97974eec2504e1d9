// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cacher_whitebox_test.go#TestCacherSendBookmarkEvents
import { drain, keyOf } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, describe, expect, it } from 'vitest';
import { CacherFixture, type CacherFixtureOptions } from '../../../test/support/cacher-fixture.ts';
import { v1_37 } from '../../profiles/v1-37.ts';
import type { StorageWatch } from '../interfaces.ts';

let fixture: CacherFixture;
const setUp = async (options?: CacherFixtureOptions): Promise<CacherFixture> => {
  fixture = await CacherFixture.ready(options);
  return fixture;
};
afterEach(() => fixture.close());

/** Bookmarks with the second they came in, relative to now. */
function collect(watch: StorageWatch): string[] {
  const { clock } = fixture;
  const start = clock.now();
  const lines: string[] = [];
  const note = (): void => {
    for (const line of drain(watch)) {
      if (line.startsWith('BOOKMARK')) lines.push(`${Math.round((clock.now() - start) / 1000)}s ${line.slice(9)}`);
    }
  };
  note();
  watch.onReadable(note);
  return lines;
}

describe('bookmarks', () => {
  it('come about once a minute and two seconds before the deadline', async () => {
    const f = await setUp();
    const deadlineMs = f.clock.now() + 170_000;
    const lines = collect(await f.watch({ resourceVersion: '1', bookmarks: true, deadlineMs }));
    for (let i = 0; i < 34; i++) {
      await f.create(`x/${i}`);
      await f.clock.advance(5000);
    }
    expect(lines).toHaveLength(3);
    const seconds = lines.map((line) => Number.parseInt(line, 10));
    expect(seconds[0]).toBeGreaterThanOrEqual(60);
    expect(seconds[0]).toBeLessThanOrEqual(62);
    expect(seconds[1]! - seconds[0]!).toBeLessThanOrEqual(62);
    expect(seconds[2]).toBeGreaterThanOrEqual(168);
    expect(seconds[2]).toBeLessThanOrEqual(170);
  });

  it('are only for those who asked for them', async () => {
    const f = await setUp();
    const lines = collect(await f.watch({ resourceVersion: '1' }));
    await f.create('x/a');
    await f.clock.advance(200_000);
    expect(lines).toEqual([]);
  });

  it('do not come on a resource where nothing has happened yet', async () => {
    const f = await setUp();
    await f.elsewhere();
    const lines = collect(await f.watch({ resourceVersion: '1', bookmarks: true }));
    await f.clock.advance(300_000);
    expect(lines).toEqual([]);
  });

  it('move on by what others do, and by what etcd says of its progress', async () => {
    const f = await setUp();
    const lines = collect(await f.watch({ resourceVersion: '1', bookmarks: true }, keyOf('y')));
    await f.create('x/a');
    await f.clock.advance(65_000);
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['2']);
    await f.elsewhere();
    await f.clock.advance(1_300_000);
    expect(lines.at(-1)!.split(' ')[1]).toBe('3');
  });

  it('are of no use to one who is that far already', async () => {
    const f = await setUp();
    await f.create('x/a');
    const fromState = collect(await f.watch({ resourceVersion: '0', bookmarks: true }));
    const fromVersion = collect(await f.watch({ resourceVersion: '2', bookmarks: true }));
    const older = collect(await f.watch({ resourceVersion: '1', bookmarks: true }));
    await f.clock.advance(70_000);
    expect([fromState, fromVersion, older]).toEqual([[], [], []]);
    await f.create('x/b');
    await f.clock.advance(70_000);
    expect(fromState).toHaveLength(1);
    expect(fromVersion).toHaveLength(1);
  });

  it('tell one who started from an empty state how far that was', async () => {
    const f = await setUp();
    await f.create('x/a');
    await f.remove('x/a');
    const lines = collect(await f.watch({ resourceVersion: '0', bookmarks: true }));
    await f.clock.advance(65_000);
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['3']);
  });

  it('never overtake an event that was not delivered', async () => {
    const f = await setUp();
    const watch = await f.watch({ resourceVersion: '1', bookmarks: true });
    await f.clock.advance(59_000);
    for (let i = 0; i < 15; i++) await f.create(`x/${i}`);
    await f.clock.advance(5000);
    const lines = drain(watch);
    expect(lines.at(-1)).toBe('BOOKMARK 16');
    expect(lines.filter((line) => line.startsWith('ADDED'))).toHaveLength(15);
  });

  it('are dropped when the buffer is full, and do not get the reader cut off', async () => {
    const f = await setUp();
    const watch = await f.watch({ resourceVersion: '1', bookmarks: true });
    for (let i = 0; i < 21; i++) await f.create(`x/${i}`);
    await f.clock.advance(70_000);
    const lines = drain(watch);
    expect([lines.length, watch.done]).toEqual([21, false]);
  });

  it('cost no timer while nobody wants one', async () => {
    const f = await setUp();
    await f.create('x/a');
    const watch = await f.watch({ resourceVersion: '1' });
    // What is left is etcd's own progress timer.
    expect(f.clock.pendingTimers).toBe(1);
    watch.stop();
  });
});

describe('the end of the initial events', () => {
  const gates = { WatchList: true, ConsistentListFromCache: true };
  const init = { resourceVersion: '0', sendInitialEvents: true, bookmarks: true } as const;

  it('comes with the next round of bookmarks', async () => {
    const f = await setUp({ gates });
    await f.create('x/a');
    const watch = await f.watch(init);
    expect(drain(watch)).toEqual(['ADDED x/a 2']);
    await f.clock.advance(2300);
    expect(drain(watch)).toEqual(['BOOKMARK 2 end']);
    await f.create('x/b');
    await f.clock.advance(65_000);
    expect(drain(watch)).toEqual(['ADDED x/b 3', 'BOOKMARK 3']);
  });

  it('does not come before the dispatcher has seen anything', async () => {
    const f = await setUp({ gates });
    const watch = await f.watch(init);
    await f.clock.advance(60_000);
    expect(drain(watch)).toEqual([]);
    await f.create('x/a');
    await f.clock.advance(3000);
    expect(drain(watch)).toEqual(['ADDED x/a 2', 'BOOKMARK 2 end']);
  });

  it('follows at once in later versions, also behind an empty state', async () => {
    const { behaviours } = v1_37;
    const f = await setUp({ gates: v1_37.gates, behaviours });
    const empty = await f.watch(init);
    expect(drain(empty)).toEqual(['BOOKMARK 1 end']);
    await f.create('x/a');
    const watch = await f.watch(init);
    expect(drain(watch)).toEqual(['ADDED x/a 2', 'BOOKMARK 2 end']);
  });

  it('is still delivered to a reader that is cut off while it waits', async () => {
    const f = await setUp({ gates });
    await f.create('x/0');
    const watch = await f.watch(init);
    await f.clock.advance(2300);
    for (let i = 1; i < 15; i++) await f.create(`x/${i}`);
    await f.clock.advance(200);
    const lines = drain(watch);
    expect(lines.slice(0, 2)).toEqual(['ADDED x/0 2', 'BOOKMARK 2 end']);
    expect([lines.length, watch.done]).toEqual([11, true]);
  });
});
