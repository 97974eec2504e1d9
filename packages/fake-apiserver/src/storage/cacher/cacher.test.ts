// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cacher_whitebox_test.go
import { settle } from '@kube-rx/apimachinery';
import { drain, keyOf, listOptions, namesOf, PREFIX } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, describe, expect, it } from 'vitest';
import { CacherFixture, type CacherFixtureOptions } from '../../../test/support/cacher-fixture.ts';
import { Cacher } from './cacher.ts';

let fixture: CacherFixture;
const setUp = async (options?: CacherFixtureOptions): Promise<CacherFixture> => {
  fixture = await CacherFixture.ready(options);
  return fixture;
};
const setUpHeld = (options: CacherFixtureOptions = {}): CacherFixture => {
  fixture = new CacherFixture({ ...options, held: true });
  return fixture;
};
afterEach(async () => {
  await fixture.close();
  expect(fixture.clock.pendingTimers).toBe(0);
});

const outcome = (promise: Promise<unknown>): { value: unknown; error: unknown; settled: boolean } => {
  const result: { value: unknown; error: unknown; settled: boolean } = {
    value: undefined,
    error: undefined,
    settled: false,
  };
  promise.then(
    (value) => Object.assign(result, { value, settled: true }),
    (error: unknown) => Object.assign(result, { error, settled: true }),
  );
  return result;
};

describe('Cacher: where a watch can start', () => {
  it('serves from the list revision on while nothing was evicted', async () => {
    const f = setUpHeld();
    for (const name of ['a', 'b', 'c']) await f.etcdPut(`x/${name}`);
    f.etcd.release();
    await f.cacher.whenReady();
    expect(drain(await f.watch({ resourceVersion: '3' }))).toEqual(['ERROR 410 too old resource version: 3 (4)']);
    for (const resourceVersion of ['4', '5']) {
      const watch = await f.watch({ resourceVersion });
      expect([drain(watch), watch.done]).toEqual([[], false]);
    }
  });

  it('answers 410 by the oldest kept event once the ring has lost one', async () => {
    const f = await setUp({ watchCache: { lowerBoundCapacity: 4, upperBoundCapacity: 4 } });
    for (let i = 0; i < 6; i++) await f.create(`x/${i}`);
    expect(f.cacher.inspect()).toMatchObject({
      oldestResourceVersion: '3',
      listResourceVersion: '1',
      ring: { start: 2, end: 6, size: 4, capacity: 4 },
    });
    expect(drain(await f.watch({ resourceVersion: '2' }))).toEqual(['ERROR 410 too old resource version: 2 (3)']);
    expect(drain(await f.watch({ resourceVersion: '3' }))).toEqual([
      'ADDED x/2 4',
      'ADDED x/3 5',
      'ADDED x/4 6',
      'ADDED x/5 7',
    ]);
  });

  it('keeps a hundred thousand young events, then evicts', async () => {
    const f = await setUp({ watchCache: { lowerBoundCapacity: 100, upperBoundCapacity: 1600 } });
    await f.create('x/a');
    for (let i = 0; i < 1599; i++) await f.update('x/a', { image: String(i) });
    expect(f.cacher.inspect().ring).toMatchObject({ capacity: 1600, size: 1600 });
    expect(f.metric('watch_cache_capacity_increase_total{resource="pods"}')).toBe(4);
    await f.update('x/a', { image: 'last' });
    expect(f.cacher.inspect().ring).toMatchObject({ capacity: 1600, size: 1600, start: 1 });
  });

  it('tells a client that was away for a hundred thousand writes that it is too late', async () => {
    const f = await setUp({ watchCache: { upperBoundCapacity: 100 } });
    await f.create('x/a');
    for (let i = 0; i < 100_000; i++) await f.etcdPut('x/a', { image: String(i) });
    expect(f.cacher.inspect().ring).toMatchObject({ size: 100, capacity: 100, end: 100_001 });
    expect(drain(await f.watch({ resourceVersion: '2' }))).toEqual(['ERROR 410 too old resource version: 2 (99902)']);
    expect(drain(await f.watch({ resourceVersion: '100001' }))).toEqual(['MODIFIED x/a 100002']);
  });

  it('refuses everything from before its start when it begins on old data', async () => {
    const f = await setUp();
    for (const name of ['a', 'b']) await f.create(`x/${name}`);
    await using later = new Cacher({ ...f.options });
    await later.whenReady();
    expect(drain(await later.watch(PREFIX, listOptions({ resourceVersion: '2' })))).toEqual([
      'ERROR 410 too old resource version: 2 (3)',
    ]);
    expect(drain(await later.watch(PREFIX, listOptions({ resourceVersion: '0' })))).toEqual([
      'ADDED x/a 2',
      'ADDED x/b 3',
    ]);
  });

  it('ends a watch that is closed in the middle of its initial events', async () => {
    const f = await setUp();
    for (let i = 0; i < 50; i++) await f.create(`x/${i}`);
    const [stopped, closed] = [await f.watch({ resourceVersion: '0' }), await f.watch({ resourceVersion: '0' })];
    for (const watch of [stopped, closed]) expect(watch.next()).toMatchObject({ type: 'ADDED' });
    stopped.stop();
    await f.cacher.close();
    for (const watch of [stopped, closed]) expect([watch.next(), watch.done]).toEqual([undefined, true]);
  });

  it('closes a watch whose interval the ring has passed, without an error', async () => {
    const f = await setUp({ watchCache: { lowerBoundCapacity: 8, upperBoundCapacity: 8, intervalBuffer: 2 } });
    for (let i = 0; i < 8; i++) await f.create(`x/${i}`);
    const watch = await f.watch({ resourceVersion: '1' });
    expect(watch.next()).toMatchObject({ type: 'ADDED' });
    for (let i = 8; i < 16; i++) await f.create(`x/${i}`);
    expect(drain(watch)).toEqual(['ADDED x/1 3']);
    expect(watch.done).toBe(true);
  });

  it('starts from now without a version where folklore is asked for', async () => {
    const f = await setUp({ behaviours: { emptyResourceVersionWatch: 'from-now' } });
    await f.create('x/a');
    const unset = await f.watch({ resourceVersion: '' });
    const zero = await f.watch({ resourceVersion: '0' });
    await f.create('x/b');
    expect([drain(unset), drain(zero)]).toEqual([['ADDED x/b 3'], ['ADDED x/a 2', 'ADDED x/b 3']]);
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cacher_whitebox_test.go#TestWatchCacheBypass
  it('leaves a watch without a version to etcd where its gate is on', async () => {
    const f = await setUp({ gates: { WatchFromStorageWithoutResourceVersion: true } });
    await f.create('x/a');
    const before = f.etcd.ranges;
    const unset = await f.watch({ resourceVersion: '' });
    await settle();
    expect([f.etcd.ranges - before, f.cacher.inspect().watchers.length, drain(unset)]).toEqual([1, 0, ['ADDED x/a 2']]);
    unset.stop();
    await f.watch({ resourceVersion: '0' });
    expect([f.etcd.ranges - before, f.cacher.inspect().watchers.length]).toEqual([1, 1]);
  });

  it('meets snapshot and live events without gap or overlap', async () => {
    const f = await setUp();
    for (const name of ['a', 'b']) await f.create(`x/${name}`);
    const watch = await f.watch({ resourceVersion: '0' });
    await f.update('x/a', { image: 'two' });
    await f.remove('x/b');
    expect(drain(watch)).toEqual(['ADDED x/a 2', 'ADDED x/b 3', 'MODIFIED x/a 4', 'DELETED x/b 5']);
  });
});

describe('Cacher: slow watchers', () => {
  it('cuts off a reader whose buffer stays full; what it got has no gap, and others get everything', async () => {
    const f = await setUp();
    const stuck = await f.watch({ resourceVersion: '1' });
    const good = await f.watch({ resourceVersion: '1' });
    const lines: string[] = [];
    good.onReadable(() => lines.push(...drain(good)));
    for (let i = 0; i < 22; i++) await f.create(`x/${String(i).padStart(2, '0')}`);
    expect(stuck.done).toBe(false);
    await f.create('x/22');
    await settle();
    expect(lines).toHaveLength(23);
    expect(stuck.done).toBe(true);
    expect(f.metric('apiserver_terminated_watchers_total{resource="pods"}')).toBe(1);
    expect(f.logs).toContain('forcing watcher close due to unresponsiveness');
  });

  it('waits for it as long as the saved budget allows, and holds the others no longer', async () => {
    const f = await setUp();
    await f.clock.advance(5000);
    const stuck = await f.watch({ resourceVersion: '1' });
    const good = await f.watch({ resourceVersion: '1' });
    const lines: string[] = [];
    good.onReadable(() => lines.push(...drain(good)));
    for (let i = 0; i < 25; i++) await f.create(`x/${i}`);
    expect(lines).toHaveLength(22);
    expect(f.cacher.inspect()).toMatchObject({ incoming: 3, budgetMs: 0 });
    await f.clock.advance(99);
    expect([lines.length, stuck.done]).toEqual([22, false]);
    await f.clock.advance(1);
    expect([lines.length, stuck.done]).toEqual([25, true]);
  });

  it('goes on at once, and gives the rest of the budget back, when the reader reads', async () => {
    const f = await setUp();
    await f.clock.advance(5000);
    const slow = await f.watch({ resourceVersion: '1' });
    for (let i = 0; i < 24; i++) await f.create(`x/${String(i).padStart(2, '0')}`);
    await f.clock.advance(40);
    const lines = drain(slow);
    expect(lines).toEqual(Array.from({ length: 24 }, (_, i) => `ADDED x/${String(i).padStart(2, '0')} ${i + 2}`));
    expect(f.cacher.inspect()).toMatchObject({ incoming: 0, budgetMs: 60 });
    expect(slow.done).toBe(false);
  });

  it('stops reading etcd when too much waits for the dispatcher, and loses nothing', async () => {
    const f = await setUp();
    await f.clock.advance(5000);
    const stuck = await f.watch({ resourceVersion: '1' });
    const good = await f.watch({ resourceVersion: '1' });
    const lines: string[] = [];
    good.onReadable(() => lines.push(...drain(good)));
    for (let i = 0; i < 400; i++) await f.etcdPut(`x/${String(i).padStart(3, '0')}`);
    expect(f.cacher.inspect().incoming).toBe(100);
    await f.clock.advance(100);
    expect(lines).toEqual(Array.from({ length: 400 }, (_, i) => `ADDED x/${String(i).padStart(3, '0')} ${i + 2}`));
    expect(stuck.done).toBe(true);
  });

  it('offers a change only to those it can concern', async () => {
    const f = await setUp({ triggerField: 'spec.nodeName' });
    const here = await f.watch({ resourceVersion: '1', fields: 'spec.nodeName=n1' });
    const there = await f.watch({ resourceVersion: '1', fields: 'spec.nodeName=n2' });
    const other = await f.watch({ resourceVersion: '1' }, keyOf('y'));
    // Far more than their buffers hold: being offered them would cut them off.
    for (let i = 0; i < 100; i++) await f.create(`x/${i}`, { node: 'n1' }).then(() => drain(here));
    await f.clock.advance(1000);
    expect([here.done, there.done, other.done]).toEqual([false, false, false]);
    expect(f.cacher.inspect().watchers).toHaveLength(3);
  });

  it('cuts off one of a thousand, and the others get everything', async () => {
    const f = await setUp();
    const stuck = await f.watch({ resourceVersion: '1' });
    let delivered = 0;
    const good = await Promise.all(Array.from({ length: 999 }, () => f.watch({ resourceVersion: '1' })));
    for (const watch of good) {
      watch.onReadable(() => {
        while (watch.next() !== undefined) delivered++;
      });
    }
    for (let i = 0; i < 100; i++) {
      await f.create(`x/${i}`);
      await f.clock.advance(10);
    }
    await f.clock.advance(1000);
    expect([delivered, stuck.done]).toEqual([99_900, true]);
    expect(good.every((watch) => !watch.done)).toBe(true);
  });

  it('forgets watchers that end', async () => {
    const f = await setUp();
    const controller = new AbortController();
    const watches = await Promise.all([
      f.watch({ resourceVersion: '0' }),
      f.watch({ resourceVersion: '0', signal: controller.signal }),
    ]);
    expect(f.cacher.inspect().watchers).toHaveLength(2);
    watches[0]!.stop();
    controller.abort();
    expect(f.cacher.inspect().watchers).toHaveLength(0);
    expect(watches.map((watch) => watch.done)).toEqual([true, true]);
  });
});

describe('Cacher: initialisation', () => {
  it('blocks what needs it and lets etcd answer what does not', async () => {
    const f = setUpHeld();
    const blocked = [
      outcome(f.watch({ resourceVersion: '0' })),
      outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '1' })),
      outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '1' }))),
    ];
    const direct = [
      outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '0' })),
      outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '0' }))),
      outcome(f.cacher.getList(PREFIX, listOptions())),
    ];
    await settle();
    expect(f.etcd.ranges).toBe(4);
    f.etcd.release();
    await settle();
    expect(direct.every(({ settled }) => settled)).toBe(true);
    expect(blocked.every(({ settled }) => settled)).toBe(true);
    expect(blocked[1]!.error).toMatchObject({ code: 'KeyNotFound' });
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/cacher/lister_watcher_test.go#TestCacherListerWatcherPagination
  it('reads its first list in pages', async () => {
    const f = setUpHeld({ watchCache: { listPageSize: 2 } });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await f.etcdPut(`x/${name}`);
    f.etcd.release();
    await f.cacher.whenReady();
    expect([f.etcd.ranges, f.cacher.inspect().objects]).toEqual([3, 5]);
  });

  it('answers 503 when the request ends first', async () => {
    const f = setUpHeld();
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [
      outcome(f.watch({ resourceVersion: '0', signal })),
      outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '1', signal })),
      outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '1', signal }))),
    ];
    await settle();
    controller.abort();
    await settle();
    for (const { error } of waiting) {
      expect(error).toMatchObject({ status: { code: 503, message: 'context deadline exceeded' } });
    }
  });

  it('answers 503 when it is stopped', async () => {
    const f = setUpHeld();
    const waiting = outcome(f.watch({ resourceVersion: '0' }));
    await settle();
    f.etcd.release();
    await f.cacher.close();
    const late = [
      outcome(f.watch({ resourceVersion: '0' })),
      outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '1' })),
      outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '1' }))),
    ];
    await settle();
    for (const { error } of [waiting, ...late]) {
      expect(error).toMatchObject({ status: { code: 503, message: 'apiserver cacher is stopped' } });
    }
  });

  it('answers 429 instead of blocking with the gate of later versions', async () => {
    const f = setUpHeld({ gates: { ResilientWatchCacheInitialization: true } });
    const tooMany = {
      status: {
        code: 429,
        reason: 'TooManyRequests',
        message: 'storage is (re)initializing',
        details: { retryAfterSeconds: 1 },
      },
    };
    await expect(f.watch({ resourceVersion: '5' })).rejects.toMatchObject(tooMany);
    await expect(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '5' }))).rejects.toMatchObject(tooMany);
    const get = outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '1' }));
    f.etcd.release();
    await settle();
    expect(get.error).toMatchObject({ code: 'KeyNotFound' });
  });

  it('tries again every second while the list fails', async () => {
    const f = setUpHeld();
    f.etcd.failure = new Error('down');
    f.etcd.release();
    await f.clock.advance(3500);
    expect([f.etcd.ranges, f.cacher.ready]).toEqual([4, false]);
    f.etcd.failure = undefined;
    await f.clock.advance(1000);
    expect(f.cacher.ready).toBe(true);
  });
});

describe('Cacher: re-initialisation', () => {
  it('keeps watches open and silent for a second, then ends them, and refuses their past', async () => {
    const f = await setUp();
    await f.create('x/a');
    const watch = await f.watch({ resourceVersion: '2' });
    await f.breakWatch();
    await f.etcdPut('x/b');
    const blocked = outcome(f.watch({ resourceVersion: '2' }));
    await f.clock.advance(999);
    expect([watch.done, drain(watch), blocked.settled]).toEqual([false, [], false]);
    expect(namesOf(await f.cacher.getList(PREFIX, listOptions({ resourceVersion: '0' })))).toEqual(['x/a', 'x/b']);
    await f.clock.advance(1);
    expect([watch.done, watch.next()]).toEqual([true, undefined]);
    expect(drain(blocked.value as typeof watch)).toEqual(['ERROR 410 too old resource version: 2 (3)']);
    expect(drain(await f.watch({ resourceVersion: '3' }))).toEqual([]);
    expect(f.metric('apiserver_watch_cache_initializations_total{resource="pods"}')).toBe(2);
  });

  it('follows when etcd has compacted what the cache had not seen yet', async () => {
    const f = await setUp();
    await f.create('x/a');
    const stuck = await f.watch({ resourceVersion: '2' });
    // The dispatcher waits for a stuck reader, the cache stops reading, and etcd forgets what it has not read.
    await f.clock.advance(5000);
    for (let i = 0; i < 300; i++) await f.etcdPut(`x/${i}`);
    await f.etcd.compact(300);
    await f.clock.advance(100);
    expect(stuck.done).toBe(true);
    expect(f.logs).toContain('watch chan error');
    await f.clock.advance(1000);
    expect(f.cacher.inspect()).toMatchObject({ state: 'ready', listResourceVersion: '302', objects: 301 });
  });

  it('resumes without anybody noticing when the connection to etcd was lost for a moment', async () => {
    const f = await setUp();
    const watch = await f.watch({ resourceVersion: '1' });
    f.etcd.failWatches();
    await f.etcdPut('x/a');
    expect(drain(watch)).toEqual([]);
    await f.clock.advance(1000);
    expect(drain(watch)).toEqual(['ADDED x/a 2']);
    expect(f.metric('apiserver_watch_cache_initializations_total{resource="pods"}')).toBe(1);
  });

  it('lists again when the watch goes on failing for half a minute', async () => {
    const f = await setUp();
    const watch = await f.watch({ resourceVersion: '1' });
    for (let i = 0; i < 40; i++) {
      f.etcd.failWatches();
      await f.clock.advance(1000);
    }
    expect(watch.done).toBe(true);
    expect(f.metric('apiserver_watch_cache_initializations_total{resource="pods"}')).toBe(2);
  });

  it('is not needed when the watch brings something between its failures', async () => {
    const f = await setUp();
    const watch = await f.watch({ resourceVersion: '1' });
    for (let i = 0; i < 40; i++) {
      f.etcd.failWatches();
      await f.etcdPut(`x/${i}`);
      await f.clock.advance(1000);
      expect(drain(watch)).toEqual([`ADDED x/${i} ${i + 2}`]);
    }
    expect(f.metric('apiserver_watch_cache_initializations_total{resource="pods"}')).toBe(1);
  });

  it('closes a watch that was being opened across it', async () => {
    const f = await setUp({ gates: { WatchList: true } });
    f.etcd.hold();
    const opening = outcome(f.watch({ resourceVersion: '', sendInitialEvents: true }));
    await settle();
    await f.breakWatch();
    f.etcd.release();
    await settle();
    const watch = opening.value as Awaited<ReturnType<typeof f.watch>>;
    expect([watch.done, watch.next()]).toEqual([true, undefined]);
  });
});

describe('Cacher: reads', () => {
  it('wait up to three seconds for a version that is about to come', async () => {
    const f = await setUp();
    const list = outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '2' })));
    const get = outcome(f.cacher.get(keyOf('x/a'), { resourceVersion: '2' }));
    await f.clock.advance(2900);
    expect([list.settled, get.settled]).toEqual([false, false]);
    await f.create('x/a');
    await settle();
    expect([list.settled, get.settled]).toEqual([true, true]);
    expect(list.value).toMatchObject({ resourceVersion: '2' });
  });

  it('are not woken by a version that is not far enough', async () => {
    const f = await setUp();
    const list = outcome(f.cacher.getList(PREFIX, listOptions({ resourceVersion: '3' })));
    await f.create('x/a');
    await settle();
    expect(list.settled).toBe(false);
    await f.create('x/b');
    await settle();
    expect(list.value).toMatchObject({ resourceVersion: '3' });
  });

  it('that must be up to date ask etcd by default', async () => {
    const f = await setUp();
    const before = f.etcd.ranges;
    await f.cacher.getList(PREFIX, listOptions());
    await f.cacher.get(keyOf('x/a')).catch(() => undefined);
    expect(f.etcd.ranges - before).toBe(2);
    await f.cacher.getList(PREFIX, listOptions({ resourceVersion: '0' }));
    await f.cacher.get(keyOf('x/a'), { resourceVersion: '0' }).catch(() => undefined);
    expect(f.etcd.ranges - before).toBe(2);
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/testing/store_tests.go#RunTestListPaginationRareObject
  it('of a page behind a selector ask etcd for twice as much each time', async () => {
    const f = await setUp();
    for (let i = 0; i < 50; i++)
      await f.create(`x/${String(i).padStart(2, '0')}`, i < 49 ? {} : { labels: { a: 'b' } });
    const before = f.etcd.ranges;
    const list = await f.cacher.getList(PREFIX, listOptions({ labels: 'a=b', limit: 1 }));
    // 1 + 2 + 4 + 8 + 16 + 19.
    expect([namesOf(list), list.continue, f.etcd.ranges - before]).toEqual([['x/49'], '', 6]);
  });

  it('that must be up to date come from the cache with its gate, after asking how far etcd is', async () => {
    const f = await setUp({ gates: { ConsistentListFromCache: true } });
    await f.create('x/a');
    await f.elsewhere();
    const list = await f.cacher.getList(PREFIX, listOptions());
    expect([namesOf(list), list.resourceVersion]).toEqual([['x/a'], '3']);
    expect(f.metric('apiserver_cache_list_total{index="",resource_prefix="/registry/pods"}')).toBe(1);
    await f.clock.advance(1000);
    expect(f.clock.pendingTimers).toBe(1);
  });
});
