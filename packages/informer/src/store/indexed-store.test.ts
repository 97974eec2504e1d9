import { describe, expect, it } from 'vitest';
import { describeStore, storeObject } from '../../../../contract/suites/store.suite.ts';
import { deepFreeze } from './deep-freeze.ts';
import { IndexedStore } from './indexed-store.ts';
import { keyOf, metaNamespaceKeyFunc, splitMetaNamespaceKey } from './key-func.ts';

describeStore({ name: 'IndexedStore', create: (options) => new IndexedStore(options) });

describe('keys', () => {
  it.each([
    ['a/b', { namespace: 'a', name: 'b' }],
    ['b', { namespace: '', name: 'b' }],
    ['', { namespace: '', name: '' }],
  ])('splits %j', (key, parts) => {
    expect(splitMetaNamespaceKey(key)).toEqual(parts);
    expect(keyOf(parts.name, parts.namespace)).toBe(key);
  });
  it('refuses a key with two slashes', () => expect(() => splitMetaNamespaceKey('a/b/c')).toThrow(/unexpected key/));
  it('takes missing metadata as empty and refuses what is no object', () => {
    expect(metaNamespaceKeyFunc({})).toBe('');
    expect(() => metaNamespaceKeyFunc(null as unknown as object)).toThrow(/no key/);
  });
});

describe('deepFreeze', () => {
  it('freezes to the bottom', () => {
    const frozen = deepFreeze({ a: [{ b: 1 }] });
    expect(() => {
      (frozen.a[0] as { b: number }).b = 2;
    }).toThrow(TypeError);
  });
});

describe('IndexedStore', () => {
  it('shares the objects it was given', () => {
    const store = new IndexedStore<ReturnType<typeof storeObject>>();
    const object = storeObject('x/a');
    store.add(object);
    expect(store.get('a', 'x')).toBe(object);
  });
});
