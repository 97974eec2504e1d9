import { VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { object, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { ExpirationCache } from './expiration-cache.ts';
import { IndexedStore } from './indexed-store.ts';
import { MutationCache } from './mutation-cache.ts';

const live = (notation: string, labels: Record<string, string> = {}): Live<TestObject> => {
  const made = object(notation);
  return { ...made, metadata: { ...made.metadata, labels } } as Live<TestObject>;
};
const version = (each: TestObject | undefined): string | undefined => each?.metadata.resourceVersion;

describe('ExpirationCache', () => {
  let clock: VirtualClock;
  let cache: ExpirationCache<TestObject>;
  beforeEach(() => {
    clock = new VirtualClock();
    cache = new ExpirationCache<TestObject>({ ttlMs: 1000, clock });
  });

  it('forgets an object after its time, counted from the last put', () => {
    cache.add(object('a@1'));
    clock.advanceSync(1000);
    expect(version(cache.getByKey('default/a'))).toBe('1');
    cache.update(object('a@2'));
    clock.advanceSync(1000);
    expect(version(cache.get(object('a@0')))).toBe('2');
    clock.advanceSync(1);
    expect(cache.getByKey('default/a')).toBeUndefined();
    expect([cache.list(), cache.keys()]).toEqual([[], []]);
  });

  it('lists what is alive in the order of the puts, and replaces all', () => {
    cache.add(object('a@1'));
    clock.advanceSync(600);
    cache.add(object('b@2'));
    cache.add(object('c@3'));
    clock.advanceSync(600);
    expect(cache.list().map(version)).toEqual(['2', '3']);
    cache.delete(object('b@9'));
    expect(cache.keys()).toEqual(['default/c']);
    cache.replace([object('d@4')]);
    expect(cache.keys()).toEqual(['default/d']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses a time that is none', () => expect(() => new ExpirationCache({ ttlMs: 0 })).toThrow(/ttlMs/));
});

describe('MutationCache', () => {
  let clock: VirtualClock;
  let store: IndexedStore<TestObject, 'tier'>;
  const tier = (each: TestObject): string[] => [each.metadata.labels?.['tier'] ?? ''];
  const create = (options = {}) => new MutationCache(store, { clock, indexers: { tier }, ...options });
  beforeEach(() => {
    clock = new VirtualClock();
    store = new IndexedStore<TestObject, 'tier'>({ indexers: { tier } });
    store.add(live('a@5', { tier: 'web' }));
  });

  it('gives the newer of the cache and the write', () => {
    const cache = create();
    cache.mutation(live('a@7'));
    expect(version(cache.get('a', 'default'))).toBe('7');
    cache.mutation(live('a@6'));
    expect(version(cache.get('a', 'default'))).toBe('7');
    store.add(live('a@8'));
    expect(version(cache.get('a', 'default'))).toBe('8');
    store.add(live('a@10'));
    cache.mutation(live('a@9'));
    expect(version(cache.get('a', 'default'))).toBe('10');
  });

  it('shows a written object that the cache has not seen, unless told not to', () => {
    for (const [includeAdds, expected] of [
      [true, '9'],
      [false, undefined],
    ] as const) {
      const cache = create({ includeAdds });
      cache.mutation(live('new@9', { tier: 'web' }));
      expect(version(cache.get('new', 'default'))).toBe(expected);
      expect(cache.by('tier', 'web').map(version)).toEqual(expected === undefined ? ['5'] : ['5', '9']);
    }
  });

  it('lays writes over what an index gives: newer states, those that came, not those that left', () => {
    const cache = create();
    store.add(live('b@6', { tier: 'web' }));
    store.add(live('c@7', { tier: 'db' }));
    cache.mutation(live('a@15', { tier: 'web' }));
    cache.mutation(live('b@16', { tier: 'db' }));
    cache.mutation(live('c@17', { tier: 'web' }));
    expect(cache.by('tier', 'web').map(version).sort()).toEqual(['15', '17']);
    expect(cache.by('namespace', 'default').map(version).sort()).toEqual(['15', '16', '17']);
    store.add(live('c@20', { tier: 'db' }));
    expect(cache.by('tier', 'web').map(version)).toEqual(['15']);
  });

  it('forgets a write after its time', () => {
    const cache = create({ ttlMs: 1000 });
    cache.mutation(live('a@7'));
    clock.advanceSync(1001);
    expect(version(cache.get('a', 'default'))).toBe('5');
  });

  it.each([
    [{ ttlMs: 0 }, /ttlMs/],
    [{ ttlMs: Number.NaN }, /ttlMs/],
    [{ max: 0 }, /max/],
  ])('refuses %o', (options, message) => {
    expect(() => create(options)).toThrow(message);
    expect(() => create({ ttlMs: 1, max: 1 })).not.toThrow();
  });

  it('forgets above its number the write that was used least lately', () => {
    const cache = create({ max: 2 });
    for (const each of ['x@11', 'y@12']) cache.mutation(live(each));
    cache.get('x', 'default');
    cache.mutation(live('z@13'));
    expect(['x', 'y', 'z'].map((name) => version(cache.get(name, 'default')))).toEqual(['11', undefined, '13']);
  });

  it('refuses an index it was not given', () => {
    expect(() => new MutationCache(store).by('tier', 'web')).toThrow(/index function "tier"/);
  });
});
