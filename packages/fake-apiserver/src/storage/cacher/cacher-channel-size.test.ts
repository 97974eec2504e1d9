// How many events may wait for a reader: what two channels of upstream hold and the event between them.
// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/watch_cache_test.go#TestSuggestedWatchChannelSize
import { settle } from '@kube-rx/apimachinery';
import { expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';

it.each([
  ['a small ring', 100, undefined, {}, 10],
  ['a ring of 3,000', 3000, undefined, {}, 40],
  ['a large ring', 102_400, undefined, {}, 100],
  ['a large ring and a watcher the index leads to', 102_400, 'spec.nodeName', { fields: 'spec.nodeName=n' }, 10],
  ['a large ring and a watcher beside the index', 102_400, 'spec.nodeName', {}, 1000],
])('with %s', async (_, capacity, triggerField, init, channelSize) => {
  const watchCache = { lowerBoundCapacity: capacity, upperBoundCapacity: capacity };
  const f = await CacherFixture.ready({ watchCache, triggerField });
  const stuck = await f.watch({ resourceVersion: '1', ...init });
  for (let i = 0; i < 2 * channelSize + 1; i++) await f.create(`x/${i}`, { node: 'n' });
  await settle();
  expect(stuck.done).toBe(false);
  await f.create('x/last', { node: 'n' });
  await settle();
  expect(stuck.done).toBe(true);
  await f.close();
});
