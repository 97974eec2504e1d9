// Writes through a cache: it is their first guess, and no more than that.
// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/cacher_whitebox_test.go
import { keyOf, pod } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, describe, expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';

let fixture: CacherFixture;
const setUp = async (): Promise<CacherFixture> => {
  fixture = await CacherFixture.ready();
  return fixture;
};
afterEach(async () => {
  await fixture.close();
  expect(fixture.clock.pendingTimers).toBe(0);
});

describe('Cacher: writes', () => {
  it('start from the cached object, and need no read of etcd for it', async () => {
    const f = await setUp();
    await f.create('x/a');
    const before = f.etcd.ranges;
    await f.update('x/a', { image: 'two' });
    await f.remove('x/a');
    expect(f.etcd.ranges).toBe(before);
  });

  it('of a cache that lags are right all the same', async () => {
    const f = await setUp();
    await f.create('x/a');
    await f.breakWatch();
    await f.etcdPut('x/a', { image: 'behind its back' });
    const { stored } = await f.cacher.guaranteedUpdate(keyOf('x/a'), (existing) => {
      const { image } = existing!.object['spec'] as { image: string };
      return { object: pod('x/a', { image: `${image}!` }) };
    });
    expect(stored.object['spec']).toEqual({ image: 'behind its back!' });
  });
});
