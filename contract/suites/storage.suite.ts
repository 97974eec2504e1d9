// What the registry relies on in storage, on reads and writes: the etcd3 store and the Cacher before it pass the same cases.
// Upstream: apiserver@v0.30.3:pkg/storage/testing/store_tests.go
import { statusOf } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceStorage } from '../../packages/fake-apiserver/src/storage/storage-factory.ts';
import type { StoredObject } from '../../packages/fake-apiserver/src/storage/stored-object.ts';
import { keyOf, listOptions, PREFIX, pod, type StorageSuiteOptions, type StorageUnderTest } from './storage-fixture.ts';
import { describeStorageLists } from './storage-lists.suite.ts';

export function describeStorage(options: StorageSuiteOptions): void {
  describe(`Storage: ${options.name}`, () => {
    let test: StorageUnderTest;
    let storage: ResourceStorage;

    beforeEach(async () => {
      test = await options.create();
      storage = test.storage;
    });
    afterEach(() => test.close());

    const create = (path: string, init?: Parameters<typeof pod>[1]) => storage.create(keyOf(path), pod(path, init));
    const raw = async (path: string) => (await test.etcd.range({ key: keyOf(path) })).kvs[0];
    const rv = (stored: StoredObject): string => stored.object.metadata.resourceVersion ?? '';
    const setImage = (path: string, image: string) =>
      storage.guaranteedUpdate(keyOf(path), (existing) => ({
        object: { ...existing!.object, spec: { image } },
      }));

    describe('create', () => {
      it('gives the object the revision of its transaction, and stores it without one', async () => {
        const stored = await create('ns/a');
        expect(rv(stored)).toBe('2');
        expect(stored.object).toMatchObject({ metadata: { name: 'a', uid: 'uid-of-a' }, spec: { image: 'one' } });
        expect(JSON.parse((await raw('ns/a'))!.value.toString())).not.toHaveProperty('metadata.resourceVersion');
      });

      it('fails on a key that exists', async () => {
        await create('ns/a');
        await expect(create('ns/a')).rejects.toMatchObject({ name: 'StorageError', code: 'KeyExists' });
      });

      it('refuses an object that says which version it has', async () => {
        const object = pod('ns/a');
        const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: '7' } };
        await expect(storage.create(keyOf('ns/a'), versioned)).rejects.toMatchObject({
          status: { code: 500, message: 'resourceVersion should not be set on objects to be created' },
        });
      });

      it('lets an object with a TTL go when its time is up', async () => {
        await storage.create(keyOf('ns/a'), pod('ns/a'), { ttlSeconds: 100 });
        await test.clock.advance(100_000);
        expect(await raw('ns/a')).toBeDefined();
        await test.clock.advance(10_000);
        expect(await raw('ns/a')).toBeUndefined();
        await expect(storage.get(keyOf('ns/a'))).rejects.toMatchObject({ code: 'KeyNotFound' });
      });

      it('refuses keys that climb out of their place', async () => {
        for (const key of ['', '/', `${PREFIX}/../secrets/x`, `${PREFIX}/./x`, `${PREFIX}/x/..`]) {
          await expect(storage.create(key, pod('ns/a'))).rejects.toThrow(/(invalid|empty) key/);
        }
      });

      it('says in which words etcd refuses an object that is too large', async () => {
        const large = pod('ns/a', { image: 'x'.repeat(1_600_000) });
        await expect(storage.create(keyOf('ns/a'), large)).rejects.toMatchObject({
          status: { code: 500, message: 'etcdserver: request is too large' },
        });
      });
    });

    describe('get', () => {
      it('reads the latest state, or one that is not older than asked', async () => {
        await create('ns/a');
        await setImage('ns/a', 'two');
        for (const resourceVersion of ['', '0', '1', '2', '3']) {
          const stored = await storage.get(keyOf('ns/a'), { resourceVersion });
          expect(rv(stored)).toBe('3');
        }
      });

      it('tells that an object is missing', async () => {
        for (const resourceVersion of ['', '0', '1']) {
          await expect(storage.get(keyOf('ns/a'), { resourceVersion })).rejects.toMatchObject({ code: 'KeyNotFound' });
        }
      });

      it('tells that a version is of the future, from a cache after three seconds', async () => {
        await create('ns/a');
        let failure: unknown;
        const started = test.clock.now();
        const get = storage.get(keyOf('ns/a'), { resourceVersion: '100' }).catch((error: unknown) => {
          failure = error;
          return test.clock.now();
        });
        await test.clock.advance(10_000);
        expect(statusOf(failure)).toMatchObject({
          code: 504,
          reason: 'Timeout',
          message: 'Timeout: Too large resource version: 100, current: 2',
          details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
        });
        expect(statusOf(failure)?.details?.retryAfterSeconds).toBe(test.cached ? 1 : undefined);
        expect(((await get) as number) - started).toBe(test.cached ? 3000 : 0);
      });

      it('tells that a version is no number', async () => {
        const text = 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax';
        await expect(storage.get(keyOf('ns/a'), { resourceVersion: 'abc' })).rejects.toMatchObject({
          status: test.cached
            ? { code: 500, message: text }
            : { code: 400, message: `invalid resource version: ${text}` },
        });
      });
    });

    describe('delete', () => {
      it('returns the last content under the revision of the delete', async () => {
        await create('ns/a');
        await setImage('ns/a', 'two');
        const deleted = await storage.delete(keyOf('ns/a'));
        expect(deleted.object).toMatchObject({ metadata: { name: 'a', resourceVersion: '4' }, spec: { image: 'two' } });
        await expect(storage.delete(keyOf('ns/a'))).rejects.toMatchObject({ code: 'KeyNotFound' });
      });

      it('holds its preconditions against the stored object', async () => {
        await create('ns/a');
        await expect(storage.delete(keyOf('ns/a'), { preconditions: { uid: 'other' } })).rejects.toMatchObject({
          code: 'InvalidObj',
          message: `StorageError: invalid object, Code: 4, Key: ${keyOf('ns/a')}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: uid-of-a`,
        });
        await expect(storage.delete(keyOf('ns/a'), { preconditions: { resourceVersion: '1' } })).rejects.toMatchObject({
          code: 'InvalidObj',
        });
        const deleted = await storage.delete(keyOf('ns/a'), {
          preconditions: { uid: 'uid-of-a', resourceVersion: '2' },
        });
        expect(rv(deleted)).toBe('3');
      });

      it('does not trust a stale guess, neither for preconditions nor for validation', async () => {
        const stale = await create('ns/a');
        const fresh = (await setImage('ns/a', 'two')).stored;
        const seen: string[] = [];
        await storage.delete(keyOf('ns/a'), {
          cachedExistingObject: stale,
          preconditions: { resourceVersion: rv(fresh) },
          validateDeletion: (existing) => {
            seen.push(rv(existing));
          },
        });
        expect(seen).toEqual([rv(fresh)]);
      });

      it('looks again when validation fails on a stale guess', async () => {
        const stale = await create('ns/a');
        await setImage('ns/a', 'two');
        const seen: string[] = [];
        const validateDeletion = ({ object }: StoredObject): void => {
          seen.push(object.metadata.resourceVersion ?? '');
          if (JSON.stringify(object['spec']) !== '{"image":"two"}') throw new Error('not yet');
        };
        await storage.delete(keyOf('ns/a'), { cachedExistingObject: stale, validateDeletion });
        expect(seen).toEqual(['2', '3']);
      });

      it('validates what is really deleted when only the guess would pass', async () => {
        const stale = await create('ns/a');
        await setImage('ns/a', 'two');
        const validateDeletion = ({ object }: StoredObject): void => {
          if (JSON.stringify(object['spec']) !== '{"image":"one"}') throw new Error('too late');
        };
        await expect(storage.delete(keyOf('ns/a'), { cachedExistingObject: stale, validateDeletion })).rejects.toThrow(
          'too late',
        );
        expect(await raw('ns/a')).toBeDefined();
      });

      it('is refused when only the guess meets the preconditions', async () => {
        const stale = await create('ns/a');
        await setImage('ns/a', 'two');
        await expect(
          storage.delete(keyOf('ns/a'), {
            cachedExistingObject: stale,
            preconditions: { resourceVersion: rv(stale) },
          }),
        ).rejects.toMatchObject({ code: 'InvalidObj' });
        expect(await raw('ns/a')).toBeDefined();
      });

      it('starts over when somebody was faster', async () => {
        await create('ns/a');
        let calls = 0;
        const deleted = await storage.delete(keyOf('ns/a'), {
          validateDeletion: async () => {
            if (calls++ === 0) await setImage('ns/a', 'two');
          },
        });
        expect(calls).toBe(2);
        expect(deleted.object['spec']).toEqual({ image: 'two' });
      });

      it('of a guessed object that is gone says that it is missing', async () => {
        const stale = await create('ns/a');
        await storage.delete(keyOf('ns/a'));
        await expect(storage.delete(keyOf('ns/a'), { cachedExistingObject: stale })).rejects.toMatchObject({
          code: 'KeyNotFound',
        });
      });
    });

    describe('guaranteedUpdate', () => {
      it('writes nothing when the stored bytes would be the same', async () => {
        const first = await create('ns/a');
        const { stored, unchanged } = await storage.guaranteedUpdate(keyOf('ns/a'), (existing) => ({
          object: existing!.object,
        }));
        expect({ unchanged, version: rv(stored) }).toEqual({ unchanged: true, version: rv(first) });
        expect(await storage.currentRevision()).toBe(2);
      });

      it('believes in a no-op only against what is really stored', async () => {
        const stale = await create('ns/a');
        await setImage('ns/a', 'two');
        const { stored, unchanged } = await storage.guaranteedUpdate(
          keyOf('ns/a'),
          () => ({ object: pod('ns/a', { image: 'one' }) }),
          { cachedExistingObject: stale },
        );
        expect(unchanged).toBe(false);
        expect(rv(stored)).toBe('4');
      });

      it('writes when the same object is stored in other bytes', async () => {
        await create('ns/a');
        const { value } = (await raw('ns/a'))!;
        const spaced = Buffer.from(JSON.stringify(JSON.parse(value.toString()), null, 1));
        const put = { op: 'put' as const, key: keyOf('ns/a'), value: spaced };
        await test.etcd.txn({ compare: [], success: [put], failure: [] });
        const { stored, unchanged } = await storage.guaranteedUpdate(keyOf('ns/a'), (existing) => ({
          object: existing!.object,
        }));
        expect([unchanged, rv(stored)]).toEqual([false, '4']);
        expect((await raw('ns/a'))!.value.toString()).toBe(value.toString());
      });

      it('starts over on the new state when somebody was faster', async () => {
        await create('ns/a');
        const seen: string[] = [];
        const { stored } = await storage.guaranteedUpdate(keyOf('ns/a'), async (existing) => {
          const { image } = existing!.object['spec'] as { image: string };
          seen.push(image);
          if (seen.length === 1) await setImage('ns/a', 'two');
          return { object: { ...existing!.object, spec: { image: `${image}+` } } };
        });
        expect(seen).toEqual(['one', 'two']);
        expect(stored.object['spec']).toEqual({ image: 'two+' });
      });

      it('loses no update of many writers', async () => {
        await create('ns/a', { image: '0' });
        await Promise.all(
          Array.from({ length: 20 }, () =>
            storage.guaranteedUpdate(keyOf('ns/a'), async (existing) => {
              const { image } = existing!.object['spec'] as { image: string };
              await Promise.resolve();
              return { object: { ...existing!.object, spec: { image: String(Number(image) + 1) } } };
            }),
          ),
        );
        expect((await storage.get(keyOf('ns/a'))).object['spec']).toEqual({ image: '20' });
      });

      it('passes a missing object on when that is wanted, and then creates it', async () => {
        const make = () => ({ object: pod('ns/a') });
        await expect(storage.guaranteedUpdate(keyOf('ns/a'), make)).rejects.toMatchObject({ code: 'KeyNotFound' });
        const { stored } = await storage.guaranteedUpdate(
          keyOf('ns/a'),
          (existing) => {
            expect(existing).toBeUndefined();
            return make();
          },
          { ignoreNotFound: true },
        );
        expect(rv(stored)).toBe('2');
      });

      it('hands errors of the callback through, but tries a stale guess again first', async () => {
        const stale = await create('ns/a');
        await setImage('ns/a', 'two');
        const seen: string[] = [];
        const refuse = (existing: StoredObject | undefined): never => {
          seen.push(rv(existing!));
          throw new Error('no');
        };
        const options = { cachedExistingObject: stale };
        await expect(storage.guaranteedUpdate(keyOf('ns/a'), refuse, options)).rejects.toThrow('no');
        expect(seen).toEqual(['2', '3']);
      });

      it('holds its preconditions', async () => {
        const stale = await create('ns/a');
        const { stored: fresh } = await setImage('ns/a', 'two');
        const change = () => ({ object: pod('ns/a', { image: 'three' }) });
        await expect(
          storage.guaranteedUpdate(keyOf('ns/a'), change, { preconditions: { uid: 'x' } }),
        ).rejects.toMatchObject({ code: 'InvalidObj' });
        const { stored } = await storage.guaranteedUpdate(keyOf('ns/a'), change, {
          cachedExistingObject: stale,
          preconditions: { resourceVersion: rv(fresh) },
        });
        expect(rv(stored)).toBe('4');
      });

      it('gives the object the lease of its last write', async () => {
        await create('ns/a');
        const update = (image: string, ttlSeconds?: number) =>
          storage.guaranteedUpdate(keyOf('ns/a'), () => ({ object: pod('ns/a', { image }), ttlSeconds }));
        await update('two', 100);
        expect((await raw('ns/a'))?.lease).not.toBe('');
        await update('three');
        expect((await raw('ns/a'))?.lease).toBe('');
        await update('four', 100);
        await test.clock.advance(110_000);
        expect(await raw('ns/a')).toBeUndefined();
      });
    });

    describe('stored bytes that cannot be read', () => {
      beforeEach(async () => {
        await create('ns/a');
        const put = { op: 'put' as const, key: keyOf('ns/b'), value: Buffer.from('not an object') };
        await test.etcd.txn({ compare: [], success: [put], failure: [] });
      });

      it('fail the get and the list that meet them', async () => {
        for (const read of [storage.get(keyOf('ns/b')), storage.getList(PREFIX, listOptions())]) {
          await expect(read).rejects.toMatchObject({ status: { code: 500 } });
        }
        expect(rv(await storage.get(keyOf('ns/a')))).toBe('2');
      });

      it('fail their delete, and stay', async () => {
        await expect(storage.delete(keyOf('ns/b'))).rejects.toMatchObject({ status: { code: 500 } });
        expect(await raw('ns/b')).toBeDefined();
      });
    });

    describe('count', () => {
      it('counts the keys below a prefix and no others', async () => {
        for (const path of ['ns/a', 'ns/b', 'ns2/c']) await create(path);
        expect(await storage.count(PREFIX)).toBe(3);
        expect(await storage.count(`${PREFIX}/ns`)).toBe(2);
        expect(await storage.count(`${PREFIX}/other`)).toBe(0);
      });
    });

    describe('revisions', () => {
      it('do not move by reading', async () => {
        await create('ns/a');
        await storage.get(keyOf('ns/a'));
        await storage.getList(PREFIX, listOptions());
        expect(await storage.currentRevision()).toBe(2);
      });
    });

    describeStorageLists(() => test);
  });
}
