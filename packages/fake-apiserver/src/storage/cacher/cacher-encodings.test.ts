import { expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';

it('keeps bytes for the present state of an object alone, and makes them again for who reads the past', async () => {
  const f = await CacherFixture.ready();
  const watch = await f.watch({ resourceVersion: '1' });
  const next = () => {
    const event = watch.next();
    if (event === undefined || event.type === 'ERROR') throw new Error('no event');
    return event.object;
  };
  let encoded = 0;
  const encode = () => Buffer.from(String(++encoded));
  await f.create('x/a');
  const created = next();
  expect([String(created.encoding('form', encode)), String(created.encoding('form', encode))]).toEqual(['1', '1']);
  await f.update('x/a', { image: 'two' });
  expect(created.made('form')).toBeUndefined();
  expect(String(created.encoding('form', encode))).toBe('2');
  const updated = next();
  updated.encoding('form', encode);
  await f.remove('x/a');
  expect(updated.made('form')).toBeUndefined();
  await f.close();
});
