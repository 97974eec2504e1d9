// What a watch sends: initial state, changes, how selectors turn one into the other, where it may start, how it ends.
// Upstream: apiserver@v0.30.3:pkg/storage/testing/watcher_tests.go
import { settle } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeatureGate } from '../../packages/fake-apiserver/src/profiles/profile.ts';
import type { StorageWatch } from '../../packages/fake-apiserver/src/storage/interfaces.ts';
import type { ResourceStorage } from '../../packages/fake-apiserver/src/storage/storage-factory.ts';
import {
  drain,
  keyOf,
  type ListInit,
  listOptions,
  PREFIX,
  pod,
  type StorageSuiteOptions,
  type StorageUnderTest,
} from './storage-fixture.ts';

export function describeWatchSemantics(options: StorageSuiteOptions): void {
  describe(`Watch: ${options.name}`, () => {
    let test: StorageUnderTest;
    let storage: ResourceStorage;

    const open = async (gates: readonly FeatureGate[] = []): Promise<void> => {
      test = await options.create(gates);
      storage = test.storage;
    };
    beforeEach(() => open());
    afterEach(() => test.close());

    const create = (path: string, init?: Parameters<typeof pod>[1]) => storage.create(keyOf(path), pod(path, init));
    const update = (path: string, init: Parameters<typeof pod>[1]) =>
      storage.guaranteedUpdate(keyOf(path), () => ({ object: pod(path, init) }));
    const remove = (path: string) => storage.delete(keyOf(path));
    const watch = async (init: ListInit = {}, path = PREFIX): Promise<StorageWatch> => {
      const opened = await storage.watch(path, listOptions(init));
      await settle();
      return opened;
    };
    const read = async (opened: StorageWatch): Promise<string[]> => {
      await settle();
      return drain(opened);
    };

    describe('start', () => {
      it.each(['', '0'])('without a past (%j) sends the present state first, in key order', async (resourceVersion) => {
        for (const path of ['y/a', 'x/b', 'x/a']) await create(path);
        await update('x/b', { image: 'two' });
        const opened = await watch({ resourceVersion });
        expect(await read(opened)).toEqual(['ADDED x/a 4', 'ADDED x/b 5', 'ADDED y/a 2']);
        await create('x/c');
        expect(await read(opened)).toEqual(['ADDED x/c 6']);
        opened.stop();
      });

      it('after a version sends what came later, once and in order', async () => {
        await create('x/a');
        await update('x/a', { image: 'two' });
        await create('x/b');
        const opened = await watch({ resourceVersion: '2' });
        await remove('x/a');
        expect(await read(opened)).toEqual(['MODIFIED x/a 3', 'ADDED x/b 4', 'DELETED x/a 5']);
        opened.stop();
      });

      it('at the present version sends nothing old', async () => {
        await create('x/a');
        const opened = await watch({ resourceVersion: '2' });
        expect(await read(opened)).toEqual([]);
        expect(opened.done).toBe(false);
        opened.stop();
      });

      it('in the future is silent until that version has passed', async () => {
        const opened = await watch({ resourceVersion: '4' });
        for (const path of ['x/a', 'x/b', 'x/c', 'x/d']) await create(path);
        expect(await read(opened)).toEqual(['ADDED x/d 5']);
        opened.stop();
      });

      it('without a past still works after a compaction', async () => {
        await create('x/a');
        await update('x/a', { image: 'two' });
        await test.etcd.compact(3);
        const opened = await watch({ resourceVersion: '0' });
        expect(await read(opened)).toEqual(['ADDED x/a 3']);
        opened.stop();
      });

      it('with a version that is no number fails before it began', async () => {
        await expect(watch({ resourceVersion: 'abc' })).rejects.toMatchObject({
          status: {
            code: 500,
            message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
          },
        });
      });

      it('ignores sendInitialEvents while the gate is off', async () => {
        await create('x/a');
        const opened = await watch({ resourceVersion: '0', sendInitialEvents: true, bookmarks: true });
        expect(await read(opened)).toEqual(['ADDED x/a 2']);
        opened.stop();
      });

      it('with a request that is over sends nothing and ends', async () => {
        await create('x/a');
        const controller = new AbortController();
        const opened = await watch({ resourceVersion: '0', signal: controller.signal });
        controller.abort();
        expect(await read(opened)).toEqual([]);
        expect(opened.done).toBe(true);
      });
    });

    describe('selectors', () => {
      it('turn a change of labels into an addition or a deletion', async () => {
        const opened = await watch({ resourceVersion: '1', labels: 'app=web' });
        await create('x/a', { labels: { app: 'db' } });
        await update('x/a', { labels: { app: 'web' } });
        await update('x/a', { labels: { app: 'web' }, image: 'two' });
        await update('x/a', { labels: { app: 'db' }, image: 'three' });
        await update('x/a', { labels: { app: 'db' }, image: 'four' });
        await remove('x/a');
        expect(await read(opened)).toEqual(['ADDED x/a 3', 'MODIFIED x/a 4', 'DELETED x/a 5']);
        opened.stop();
      });

      it('show an object that left with the content that was selected and the version of the change', async () => {
        const opened = await watch({ resourceVersion: '1', labels: 'app=web' });
        await create('x/a', { labels: { app: 'web' } });
        await update('x/a', { labels: { app: 'db' }, image: 'two' });
        await settle();
        opened.next();
        expect(opened.next()).toMatchObject({
          type: 'DELETED',
          object: { object: { metadata: { labels: { app: 'web' }, resourceVersion: '3' }, spec: { image: 'one' } } },
        });
        opened.stop();
      });

      it('by field follow an object from one watcher to the other', async () => {
        const one = await watch({ resourceVersion: '1', fields: 'spec.nodeName=n1' });
        const two = await watch({ resourceVersion: '1', fields: 'spec.nodeName=n2' });
        await create('x/a');
        await update('x/a', { node: 'n1' });
        await update('x/a', { node: 'n2' });
        await remove('x/a');
        expect(await read(one)).toEqual(['ADDED x/a 3', 'DELETED x/a 4']);
        expect(await read(two)).toEqual(['ADDED x/a 4', 'DELETED x/a 5']);
        one.stop();
        two.stop();
      });

      it('hold for the initial state and for a replayed past too', async () => {
        await create('x/a', { labels: { app: 'web' } });
        await create('x/b', { labels: { app: 'db' } });
        await update('x/a', { labels: { app: 'db' } });
        await update('x/b', { labels: { app: 'web' } });
        const state = await watch({ resourceVersion: '0', labels: 'app=web' });
        expect(await read(state)).toEqual(['ADDED x/b 5']);
        const past = await watch({ resourceVersion: '3', labels: 'app=web' });
        expect(await read(past)).toEqual(['DELETED x/a 4', 'ADDED x/b 5']);
        state.stop();
        past.stop();
      });
    });

    describe('scope', () => {
      const SCOPES: readonly [string, ListInit, string, string[]][] = [
        ['everything', {}, PREFIX, ['x/a', 'x/b', 'y/a', 'x-y/a']],
        ['a namespace by path', {}, keyOf('x'), ['x/a', 'x/b']],
        ['a namespace by field', { fields: 'metadata.namespace=x' }, PREFIX, ['x/a', 'x/b']],
        ['a name in all namespaces', { fields: 'metadata.name=a' }, PREFIX, ['x/a', 'y/a', 'x-y/a']],
        ['a name in a namespace', { fields: 'metadata.name=a' }, keyOf('x'), ['x/a']],
        ['one key', { fields: 'metadata.name=a', recursive: false }, keyOf('x/a'), ['x/a']],
        ['a namespace that contradicts the path', { fields: 'metadata.namespace=y' }, keyOf('x'), []],
      ];

      it.each(SCOPES)('%s', async (_, init, path, expected) => {
        const names = (lines: string[]): string[] => lines.map((line) => line.split(' ')[1]!);
        const live = await watch({ ...init, resourceVersion: '1' }, path);
        for (const object of ['x/a', 'x/b', 'y/a', 'x-y/a']) await create(object);
        expect(names(await read(live))).toEqual(expected);
        const past = await watch({ ...init, resourceVersion: '1' }, path);
        expect(names(await read(past))).toEqual(expected);
        const state = await watch({ ...init, resourceVersion: '0' }, path);
        expect(names(await read(state)).sort()).toEqual([...expected].sort());
        for (const opened of [live, past, state]) opened.stop();
      });
    });

    describe('changes', () => {
      it('of a deleted object show its last content and the version of the delete', async () => {
        await create('x/a');
        await update('x/a', { image: 'two' });
        const opened = await watch({ resourceVersion: '3' });
        await remove('x/a');
        await settle();
        expect(opened.next()).toMatchObject({
          type: 'DELETED',
          object: { revision: 4, object: { metadata: { resourceVersion: '4' }, spec: { image: 'two' } } },
        });
        opened.stop();
      });

      it('that change no byte are no events', async () => {
        await create('x/a');
        const opened = await watch({ resourceVersion: '2' });
        await update('x/a', { image: 'one' });
        expect(await read(opened)).toEqual([]);
        opened.stop();
      });

      it('reach many watchers as one object with one encoding', async () => {
        const watchers = await Promise.all([1, 2, 3].map(() => watch({ resourceVersion: '1' })));
        await create('x/a');
        await settle();
        let encoded = 0;
        const encode = (): Buffer => {
          encoded++;
          return Buffer.alloc(1);
        };
        for (const opened of watchers) {
          const event = opened.next();
          if (event?.type === 'ADDED') event.object.encoding('json', encode);
          opened.stop();
        }
        expect(encoded).toBe(1);
      });

      it('of keys that expire together have one version', async () => {
        await storage.create(keyOf('x/a'), pod('x/a'), { ttlSeconds: 100 });
        await storage.create(keyOf('x/b'), pod('x/b'), { ttlSeconds: 100 });
        const opened = await watch({ resourceVersion: '3' });
        await test.clock.advance(110_000);
        expect(await read(opened)).toEqual(['DELETED x/a 4', 'DELETED x/b 4']);
        opened.stop();
      });
    });

    describe('readers', () => {
      it('are told when events become available, and only then', async () => {
        const opened = await watch({ resourceVersion: '1' });
        let calls = 0;
        const lines: string[] = [];
        opened.onReadable(() => {
          calls++;
          lines.push(...drain(opened));
        });
        await create('x/a');
        await update('x/a', { image: 'two' });
        await settle();
        expect(lines).toEqual(['ADDED x/a 2', 'MODIFIED x/a 3']);
        expect(calls).toBe(2);
        opened.stop();
        await create('x/b');
        await settle();
        expect(calls).toBe(2);
        expect(opened.done).toBe(true);
      });

      it('that are slow for a moment lose nothing', async () => {
        const opened = await watch({ resourceVersion: '1' });
        for (let i = 0; i < 21; i++) await create(`x/${i}`);
        expect(await read(opened)).toEqual(Array.from({ length: 21 }, (_, i) => `ADDED x/${i} ${i + 2}`));
        opened.stop();
      });

      it('that do not read hold nobody up', async () => {
        const stuck = await Promise.all(Array.from({ length: 50 }, () => watch({ resourceVersion: '1' })));
        const good = await watch({ resourceVersion: '1' });
        const lines: string[] = [];
        good.onReadable(() => lines.push(...drain(good)));
        for (let i = 0; i < 60; i++) {
          await create(`x/${i}`);
          await test.clock.advance(250);
          expect(lines).toHaveLength(i + 1);
        }
        for (const opened of [...stuck, good]) opened.stop();
      });

      it('that throw lose their watch, and neither the writer nor others notice', async () => {
        const bad = await watch({ resourceVersion: '1' });
        const good = await watch({ resourceVersion: '1' });
        bad.onReadable(() => {
          throw new Error('broken reader');
        });
        const lines: string[] = [];
        good.onReadable(() => lines.push(...drain(good)));
        await create('x/a');
        await create('x/b');
        await settle();
        expect(lines).toEqual(['ADDED x/a 2', 'ADDED x/b 3']);
        expect(bad.done).toBe(true);
        good.stop();
      });

      it('that never quite catch up get everything in order', async () => {
        const opened = await watch({ resourceVersion: '1' });
        const lines: string[] = [];
        for (let i = 0; i < 3000; i++) {
          await create(`x/${i}`);
          const event = i < 3 ? undefined : opened.next();
          if (event?.type === 'ADDED') lines.push(event.object.object.metadata.name ?? '');
          if (i % 100 === 0) await settle();
        }
        for (let event = opened.next(); event?.type === 'ADDED'; event = opened.next()) {
          lines.push(event.object.object.metadata.name ?? '');
        }
        await settle();
        lines.push(...drain(opened).map((line) => line.split(' ')[1]!.slice(2)));
        expect(lines).toEqual(Array.from({ length: 3000 }, (_, i) => String(i)));
        opened.stop();
      });

      it('get the end of the watch when storage closes', async () => {
        const opened = await watch({ resourceVersion: '1' });
        let told = false;
        opened.onReadable(() => {
          told = true;
        });
        await storage.close();
        expect([told, opened.done, opened.next()]).toEqual([true, true, undefined]);
      });
    });

    describe('with the gate WatchList', () => {
      const advance = async (): Promise<void> => test.clock.advance(2500);
      beforeEach(async () => {
        await test.close();
        await open(['WatchList', 'ConsistentListFromCache']);
        await create('x/b');
        await create('x/a');
      });

      it.each(['', '0', '2'])('sends the state and then its end (%j)', async (resourceVersion) => {
        const opened = await watch({ resourceVersion, sendInitialEvents: true, bookmarks: true });
        await advance();
        expect(await read(opened)).toEqual(['ADDED x/a 3', 'ADDED x/b 2', 'BOOKMARK 3 end']);
        await create('x/c');
        expect(await read(opened)).toEqual(['ADDED x/c 4']);
        opened.stop();
      });

      it('sends no end to a reader that wants no bookmarks', async () => {
        const opened = await watch({ resourceVersion: '0', sendInitialEvents: true });
        await advance();
        expect(await read(opened)).toEqual(['ADDED x/a 3', 'ADDED x/b 2']);
        opened.stop();
      });

      it.each(['', '0'])('starts from now when the state is not wanted (%j)', async (resourceVersion) => {
        const opened = await watch({ resourceVersion, sendInitialEvents: false, bookmarks: true });
        expect(await read(opened)).toEqual([]);
        await create('x/c');
        expect(await read(opened)).toEqual(['ADDED x/c 4']);
        opened.stop();
      });

      it('starts after a version when the state is not wanted', async () => {
        const opened = await watch({ resourceVersion: '2', sendInitialEvents: false });
        expect(await read(opened)).toEqual(['ADDED x/a 3']);
        opened.stop();
      });

      it('cannot send the state of the future', async () => {
        const opening = watch({ resourceVersion: '99', sendInitialEvents: true, bookmarks: true });
        await test.clock.advance(5000);
        const opened = await opening;
        expect(await read(opened)).toEqual(['ERROR 504 Timeout: Too large resource version: 99, current: 3']);
        expect(opened.done).toBe(true);
      });

      it('shows in the end a version that other resources have moved on', async () => {
        const other = { op: 'put' as const, key: '/registry/other/x', value: Buffer.from('{}') };
        await test.etcd.txn({ compare: [], success: [other], failure: [] });
        const opened = await watch({ resourceVersion: '', sendInitialEvents: true, bookmarks: true });
        await advance();
        expect((await read(opened)).at(-1)).toBe('BOOKMARK 4 end');
        opened.stop();
      });
    });
  });
}
