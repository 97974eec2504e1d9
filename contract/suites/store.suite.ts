// What an informer and its users rely on in a store, whatever keeps the objects.
// Upstream: client-go@v0.30.3:tools/cache/store_test.go, thread_safe_store_test.go, index_test.go
import { beforeEach, describe, expect, it } from 'vitest';
import type { IndexedStore, IndexedStoreOptions } from '../../packages/informer/src/store/indexed-store.ts';

export interface StoreTestObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Thing';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly tags: readonly string[];
}

export interface StoreSuiteOptions {
  readonly name: string;
  create(options: IndexedStoreOptions<StoreTestObject, 'tag'>): IndexedStore<StoreTestObject, 'tag'>;
}

export function storeObject(path: string, resourceVersion = '1', ...tags: string[]): StoreTestObject {
  const [namespace = '', name = ''] = path.split('/');
  const labels = { app: name };
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, namespace, uid: `uid-${path}`, resourceVersion, labels },
    tags,
  };
}

export function describeStore(options: StoreSuiteOptions): void {
  describe(`Store: ${options.name}`, () => {
    let store: IndexedStore<StoreTestObject, 'tag'>;
    const keys = (objects: readonly StoreTestObject[]): string[] =>
      objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();

    beforeEach(() => {
      store = options.create({ indexers: { tag: (object) => object.tags } });
    });

    it('gives back what was put, by name and by key', () => {
      store.add(storeObject('x/a', '5'));
      expect(store.get('a', 'x')).toEqual(storeObject('x/a', '5'));
      expect(store.getByKey('x/a')?.metadata.resourceVersion).toBe('5');
      expect(store.get('a', 'y')).toBeUndefined();
      expect(store.getByKey('x/b')).toBeUndefined();
      expect([store.size, store.has('x/a'), store.has('x/b')]).toEqual([1, true, false]);
    });

    it('replaces under the same key, and forgets what is deleted', () => {
      store.add(storeObject('x/a', '1', 'red'));
      store.update(storeObject('x/a', '2', 'blue'));
      expect(store.size).toBe(1);
      expect(keys(store.by('tag', 'blue'))).toEqual(['x/a']);
      expect(store.by('tag', 'red')).toEqual([]);
      store.delete(storeObject('x/a', '9'));
      expect([store.size, store.list(), store.by('tag', 'blue')]).toEqual([0, [], []]);
      store.delete(storeObject('x/a'));
    });

    it('swaps the whole content', () => {
      store.add(storeObject('x/a', '1', 'red'));
      store.replace([storeObject('x/b', '2', 'red'), storeObject('y/c', '3')]);
      expect(store.keys().sort()).toEqual(['x/b', 'y/c']);
      expect(keys(store.by('tag', 'red'))).toEqual(['x/b']);
      expect(store.indexValues('namespace').sort()).toEqual(['x', 'y']);
    });

    it('lists by namespace and labels', () => {
      store.replace([storeObject('x/a'), storeObject('x/b'), storeObject('y/a')]);
      expect(keys(store.list({ namespace: 'x' }))).toEqual(['x/a', 'x/b']);
      expect(keys(store.list({ labels: 'app=a' }))).toEqual(['x/a', 'y/a']);
      expect(keys(store.list({ namespace: 'y', labels: 'app in (b)' }))).toEqual([]);
      expect(store.list()).toHaveLength(3);
    });

    it('indexes an object under several values, each once in a union', () => {
      store.add(storeObject('x/a', '1', 'red', 'blue', 'red'));
      store.add(storeObject('x/b', '1', 'blue'));
      expect(store.indexValues('tag').sort()).toEqual(['blue', 'red']);
      expect(store.indexKeys('tag', 'red')).toEqual(['x/a']);
      expect(keys(store.index('tag', storeObject('x/z', '1', 'blue', 'red')))).toEqual(['x/a', 'x/b']);
    });

    it('adds indices to a full store, all or none', () => {
      store.add(storeObject('x/a', '7'));
      store.addIndexers({ version: (object) => [object.metadata.resourceVersion] });
      expect(store.indexNames()).toEqual(['namespace', 'tag', 'version']);
      expect(() => store.addIndexers({ other: () => ['1'], tag: () => ['1'] })).toThrow(/exists already/);
      expect(store.indexNames()).not.toContain('other');
    });

    it('refuses an index that is not there', () => {
      expect(() => store.by('nope' as 'tag', 'x')).toThrow(/no index "nope"/);
    });

    it('leaves no empty values behind', () => {
      for (let count = 0; count < 1000; count++) store.add(storeObject(`n${count}/a`, '1', `t${count}`));
      for (let count = 0; count < 1000; count++) store.deleteKey(`n${count}/a`);
      expect([store.indexValues('tag'), store.indexValues('namespace'), store.size]).toEqual([[], [], 0]);
    });

    it('keeps an object whose index function throws, outside that index, and says so', () => {
      const errors: string[] = [];
      const picky = options.create({
        indexers: {
          tag: (object) => {
            if (object.metadata.name === 'bad') throw new Error('no');
            return object.tags;
          },
        },
        onError: (error) => errors.push(`${error.handler} ${error.key}`),
      });
      picky.add(storeObject('x/bad', '1', 'red'));
      picky.add(storeObject('x/good', '1', 'red'));
      picky.deleteKey('x/bad');
      expect(errors).toEqual(['index:tag x/bad']);
      expect(keys(picky.by('tag', 'red'))).toEqual(['x/good']);
      expect(picky.size).toBe(1);
    });

    it('takes keys and values that are names of object properties', () => {
      for (const name of ['__proto__', 'constructor', 'toString']) store.add(storeObject(`${name}/${name}`, '1', name));
      expect(store.size).toBe(3);
      expect(keys(store.by('tag', '__proto__'))).toEqual(['__proto__/__proto__']);
      expect(store.get('constructor', 'constructor')).toBeDefined();
      expect(store.by('tag', 'hasOwnProperty')).toEqual([]);
    });

    it('gives snapshots that later changes do not reach', () => {
      store.replace([storeObject('x/a', '1', 'red'), storeObject('x/b', '2', 'red')]);
      const before = store.snapshot();
      store.update(storeObject('x/a', '9', 'blue'));
      store.deleteKey('x/b');
      store.add(storeObject('y/c', '3', 'red'));
      expect(before.size).toBe(2);
      expect(before.keys().sort()).toEqual(['x/a', 'x/b']);
      expect(before.get('a', 'x')?.metadata.resourceVersion).toBe('1');
      expect(keys(before.by('tag', 'red'))).toEqual(['x/a', 'x/b']);
      expect(keys(before.list({ namespace: 'x', labels: 'app=b' }))).toEqual(['x/b']);
      expect(before.indexValues('namespace')).toEqual(['x']);
      expect(before.indexKeys('tag', 'blue')).toEqual([]);
      expect(before.snapshot()).toBe(before);
      expect(store.keys().sort()).toEqual(['x/a', 'y/c']);
      const after = store.snapshot();
      store.replace([]);
      expect(after.keys().sort()).toEqual(['x/a', 'y/c']);
    });
  });
}
