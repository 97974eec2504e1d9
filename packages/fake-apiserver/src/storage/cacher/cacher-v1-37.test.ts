// What a client sees of a cache under the profile of 1.37 that it does not see under 1.30.
import { settle } from '@kube-rx/apimachinery';
import { drain, type ListInit, listOptions, namesOf, PREFIX } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';
import { v1_37 } from '../../profiles/v1-37.ts';

const { gates, behaviours } = v1_37;

describe('Cacher with the profile of 1.37', () => {
  let f: CacherFixture;
  const list = (init: ListInit = {}) => f.cacher.getList(PREFIX, listOptions(init));

  beforeEach(async () => {
    f = await CacherFixture.ready({ gates, behaviours });
    for (const path of ['x/a', 'x/b', 'y/c']) await f.create(path);
  });
  afterEach(() => f.close());

  it('answers lists that must be up to date, and reads etcd only to learn how far it is', async () => {
    await f.elsewhere();
    const before = f.etcd.ranges;
    const answer = await list();
    expect([namesOf(answer), answer.resourceVersion]).toEqual([['x/a', 'x/b', 'y/c'], '5']);
    expect(f.etcd.ranges - before).toBe(1);
  });

  it('honours a limit, with tokens that begin with a slash; version 0 still ignores it', async () => {
    const first = await list({ limit: 2 });
    expect([namesOf(first), first.remainingItemCount]).toEqual([['x/a', 'x/b'], 1]);
    expect(Buffer.from(first.continue, 'base64url').toString()).toBe(
      '{"v":"meta.k8s.io/v1","rv":4,"start":"/x/b\\u0000"}',
    );
    expect(namesOf(await list({ limit: 2, continue: first.continue }))).toEqual(['y/c']);
    const any = await list({ limit: 2, resourceVersion: '0' });
    expect([any.items.length, any.continue]).toEqual([3, '']);
    const selected = await list({ limit: 1, fields: 'metadata.namespace=x' });
    expect([namesOf(selected), selected.remainingItemCount]).toEqual([['x/a'], undefined]);
  });

  it('falls back to etcd when it does not catch up', async () => {
    f.etcd.failWatches();
    await f.etcdPut('y/d');
    f.etcd.failWatches();
    const waiting = list();
    for (let i = 0; i < 8; i++) {
      f.etcd.failWatches();
      await f.clock.advance(500);
    }
    expect(namesOf(await waiting)).toContain('y/d');
  });

  it('refuses a version that is no number with 400, and the future exactly with 504', async () => {
    await expect(list({ resourceVersion: 'abc' })).rejects.toMatchObject({ status: { code: 400 } });
    await expect(list({ resourceVersion: '99', resourceVersionMatch: 'Exact' })).rejects.toMatchObject({
      status: { code: 504, message: 'Timeout: Too large resource version: 99, current: 4' },
    });
  });

  it('answers 429 to watches while it is filled again, and reads from etcd', async () => {
    await f.breakWatch();
    await expect(f.watch({ resourceVersion: '4' })).rejects.toMatchObject({ status: { code: 429 } });
    await expect(list({ resourceVersion: '4' })).rejects.toMatchObject({ status: { code: 429 } });
    expect(namesOf(await list({ resourceVersion: '4', limit: 2 }))).toEqual(['x/a', 'x/b']);
    await f.clock.advance(1000);
    expect(drain(await f.watch({ resourceVersion: '4' }))).toEqual([]);
  });

  it('sends bookmarks also where nothing has happened since the list', async () => {
    await f.breakWatch();
    await f.elsewhere();
    await f.clock.advance(1000);
    const watch = await f.watch({ resourceVersion: '4', bookmarks: true }).catch(() => undefined);
    expect(watch === undefined ? [] : drain(watch)).toEqual(['ERROR 410 too old resource version: 4 (5)']);
    const zero = await f.watch({ resourceVersion: '5', bookmarks: true });
    await f.elsewhere();
    await f.clock.advance(601_000);
    await settle();
    await f.clock.advance(61_000);
    expect(drain(zero).at(-1)).toBe('BOOKMARK 6');
  });
});
