import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StoreTestObject, storeObject } from '../../../../contract/suites/store.suite.ts';
import { IndexedStore } from './indexed-store.ts';
import type { ReadonlyStore } from './store.ts';

const object = fc
  .tuple(
    fc.constantFrom('x', 'y'),
    fc.constantFrom('a', 'b', 'c'),
    fc.nat(99),
    fc.array(fc.constantFrom('red', 'blue', 'green'), { maxLength: 3 }),
  )
  .map(([namespace, name, version, tags]) => storeObject(`${namespace}/${name}`, String(version), ...tags));
const step = fc.oneof(
  fc.record({ op: fc.constant('put' as const), object }),
  fc.record({ op: fc.constant('delete' as const), object }),
  fc.record({ op: fc.constant('replace' as const), objects: fc.array(object, { maxLength: 5 }) }),
  fc.record({ op: fc.constant('snapshot' as const) }),
);

function expectEqual(store: ReadonlyStore<StoreTestObject, 'tag'>, model: ReadonlyMap<string, StoreTestObject>): void {
  expect(new Map(store.keys().map((key) => [key, store.getByKey(key)]))).toEqual(model);
  expect(store.size).toBe(model.size);
  const objects = [...model];
  for (const tag of ['red', 'blue', 'green']) {
    const expected = objects.filter(([, each]) => each.tags.includes(tag)).map(([key]) => key);
    expect(store.indexKeys('tag', tag).sort()).toEqual(expected.sort());
  }
  for (const namespace of ['x', 'y']) {
    expect(store.list({ namespace })).toHaveLength(
      objects.filter(([, each]) => each.metadata.namespace === namespace).length,
    );
  }
  expect(store.indexValues('tag').sort()).toEqual([...new Set(objects.flatMap(([, each]) => each.tags))].sort());
}

describe('IndexedStore against a Map', () => {
  it('agrees after any run of changes, and so does every snapshot taken on the way', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const store = new IndexedStore<StoreTestObject, 'tag'>({ indexers: { tag: (each) => each.tags } });
        let model = new Map<string, StoreTestObject>();
        const snapshots: [ReadonlyStore<StoreTestObject, 'tag'>, Map<string, StoreTestObject>][] = [];
        for (const each of steps) {
          if (each.op === 'put') {
            store.add(each.object);
            model.set(store.keyOf(each.object), each.object);
          } else if (each.op === 'delete') {
            store.delete(each.object);
            model.delete(store.keyOf(each.object));
          } else if (each.op === 'replace') {
            store.replace(each.objects);
            model = new Map(each.objects.map((one) => [store.keyOf(one), one]));
          } else snapshots.push([store.snapshot(), new Map(model)]);
        }
        expectEqual(store, model);
        for (const [snapshot, then] of snapshots) expectEqual(snapshot, then);
      }),
      { numRuns: 200 },
    );
  });
});
