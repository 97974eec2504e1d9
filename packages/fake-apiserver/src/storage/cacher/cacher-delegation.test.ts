// Which reads and watches the cache answers itself, and what it shares of its own watch of etcd.
// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cacher_whitebox_test.go
import { settle } from '@kube-rx/apimachinery';
import { keyOf, type ListInit, listOptions, namesOf, PREFIX } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, describe, expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';
import { encodeContinue } from '../continue.ts';

let f: CacherFixture;
afterEach(() => f.close());

// Upstream: TestGetListCacheBypass, TestGetListNonRecursiveCacheBypass
describe.each([
  ['of a prefix', true],
  ['of one object', false],
] as const)('a list %s', (_what, recursive) => {
  const path = recursive ? PREFIX : keyOf('x/a');
  const token = encodeContinue(`${PREFIX}/x/a\0`, PREFIX, 3);
  const answeredBy = async (init: ListInit): Promise<[string, string[]]> => {
    const before = f.etcd.ranges;
    const list = await f.cacher.getList(path, listOptions({ ...init, recursive }));
    return [f.etcd.ranges > before ? 'etcd' : 'cache', namesOf(list)];
  };
  const both = recursive ? ['x/a', 'x/b'] : ['x/a'];

  it.each([
    ['cache', { resourceVersion: '0' }],
    ['cache', { resourceVersion: '0', limit: 1 }],
    ['cache', { resourceVersion: '2' }],
    ['cache', { resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' }],
    ['etcd', {}],
    ['etcd', { resourceVersion: '3', limit: 5 }],
    ['etcd', { resourceVersion: '3', limit: 5, resourceVersionMatch: 'NotOlderThan' }],
    ['etcd', { resourceVersion: '3', resourceVersionMatch: 'Exact' }],
  ] as [string, ListInit][])('is answered by %s: %o', async (who, init) => {
    f = await CacherFixture.ready();
    for (const name of ['x/a', 'x/b']) await f.create(name);
    expect(await answeredBy(init)).toEqual([who, both]);
  });

  it.each([{}, { gates: { ConsistentListFromCache: true } }])(
    'is answered by etcd after a page (%o)',
    async (options) => {
      f = await CacherFixture.ready(options);
      for (const name of ['x/a', 'x/b']) await f.create(name);
      for (const limit of [0, 1]) {
        const [who, names] = await answeredBy({ continue: token, limit });
        expect(who).toBe('etcd');
        // A token means nothing to the cache, which would begin anew.
        if (recursive) expect(names).toEqual(['x/b']);
      }
    },
  );

  it('is answered by the cache without a version where its gate is on, as far as etcd is', async () => {
    f = await CacherFixture.ready({ gates: { ConsistentListFromCache: true } });
    for (const name of ['x/a', 'x/b']) await f.create(name);
    f.etcd.ranges = 0;
    const list = await f.cacher.getList(path, listOptions({ recursive }));
    // One read, of no object: how far etcd is.
    expect([namesOf(list), f.etcd.ranges]).toEqual([both, 1]);
    expect(f.metric('apiserver_cache_list_total{index="",resource_prefix="/registry/pods"}')).toBe(1);
  });
});

// Upstream: TestWatchStreamSeparation
describe('the progress of the cache', () => {
  it('is asked of its own watch of etcd, and reaches no watch beside it', async () => {
    f = await CacherFixture.ready({ gates: { ConsistentListFromCache: true } });
    await f.create('x/a');
    const progress: number[] = [];
    const beside = f.options.store.watchAll(`${PREFIX}/`, 2, {
      event: () => undefined,
      progress: (revision) => void progress.push(revision),
      ended: () => undefined,
    });
    await f.elsewhere();
    expect((await f.cacher.getList(PREFIX, listOptions())).resourceVersion).toBe('3');
    await settle();
    expect(progress).toEqual([]);
    beside.requestProgress();
    await settle();
    expect(progress).toEqual([3]);
    beside.stop();
  });
});
