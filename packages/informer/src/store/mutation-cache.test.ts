// A write whose answer comes after others have changed, deleted or made its object anew.
// Upstream test: client-go@v0.37.2:tools/cache/mutation_cache_test.go
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { list, object, ScriptedListerWatcher, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { SharedIndexInformer } from '../shared-informer/shared-index-informer.ts';
import { IndexedStore } from './indexed-store.ts';
import { MutationCache } from './mutation-cache.ts';

const live = (notation: string, tier?: string): Live<TestObject> => {
  const made = object(notation);
  return {
    ...made,
    metadata: { ...made.metadata, ...(tier === undefined ? {} : { labels: { tier } }) },
  } as Live<TestObject>;
};

describe('MutationCache beside other writers', () => {
  let clock: VirtualClock;
  let store: IndexedStore<TestObject, 'tier'>;
  let cache: MutationCache<TestObject, 'tier'>;
  const tier = (each: TestObject): string[] => [each.metadata.labels?.['tier'] ?? ''];
  beforeEach(() => {
    clock = new VirtualClock();
    store = new IndexedStore<TestObject, 'tier'>({ indexers: { tier } });
    cache = new MutationCache<TestObject, 'tier'>(store, { clock, indexers: { tier } });
  });

  // The store is written before anybody is told.
  const put = (notation: string): void => {
    const next = live(notation);
    const previous = store.getByKey('default/a');
    store.update(next);
    if (previous === undefined) cache.observe({ type: 'added', object: next });
    else cache.observe({ type: 'updated', object: next });
  };
  const remove = (notation: string): void => {
    store.delete(live(notation));
    cache.observe({ type: 'deleted', object: live(notation) });
  };
  const shown = (): (string | undefined)[] => {
    const versions = [cache.get('a', 'default'), cache.by('namespace', 'default')[0]];
    return versions.map((each) => each && `${each.metadata.uid}@${each.metadata.resourceVersion}`);
  };

  it.each([
    ['the same', 'a@2', undefined],
    ['a newer', 'a@3', undefined],
    ['an older', 'a@1', 'a-1@2'],
  ])('forgets a write when the cache was told of %s state, and does not hold it against a later gap', (...row) => {
    const [, told, left] = row;
    cache.mutation(live('a@2'));
    cache.observe({ type: 'added', object: live(told) });
    expect(shown()).toEqual([left, left]);
  });

  it.each([
    ['the object that was written, in an older state', 'a@1', undefined],
    ['another object, after the write', 'a@3#2', undefined],
    ['another object, before the write', 'a@1#2', 'a-1@3'],
  ])('at the deletion of %s', (_of, gone, left) => {
    store.add(live('a@2'));
    cache.mutation(live('a@3'));
    remove(gone);
    expect(shown()).toEqual([left, left]);
  });

  it('does not bring an object back when the answer comes after its deletion', () => {
    put('a@1');
    put('a@2');
    remove('a@2');
    cache.mutation(live('a@2'));
    expect(shown()).toEqual([undefined, undefined]);
    // Not even a newer state of it: the deletion was seen without its final state.
    cache.mutation(live('a@5'));
    expect(shown()).toEqual([undefined, undefined]);
    // Another object under its name is welcome, unless it is older.
    cache.mutation(live('a@1#0'));
    expect(shown()).toEqual([undefined, undefined]);
    cache.mutation(live('a@7#2'));
    expect(shown()).toEqual(['a-2@7', 'a-2@7']);
  });

  it('does not put an old object in place of the one that was made anew', () => {
    put('a@1');
    put('a@2');
    remove('a@2');
    put('a@3#2');
    cache.mutation(live('a@2'));
    expect(shown()).toEqual(['a-2@3', 'a-2@3']);
  });

  it('takes the events of an informer as they are', async () => {
    const server = new ScriptedListerWatcher().onList(list('5', 'a@5'));
    await using informer = new SharedIndexInformer<TestObject>(server, { clock, initial: 'list' });
    const recent = new MutationCache<TestObject>(informer.store, { clock });
    informer.handle((event) => recent.observe(event));
    informer.start();
    await settle();
    recent.mutation(live('a@7'));
    server.stream.send('MODIFIED a@6', 'DELETED a@7');
    await settle();
    expect(recent.get('a', 'default')).toBeUndefined();
    recent.mutation(live('a@7'));
    expect(recent.get('a', 'default')).toBeUndefined();
  });

  it('shows a write again after its object came back', () => {
    put('a@1');
    remove('a@1');
    put('a@2');
    cache.mutation(live('a@3'));
    expect(shown()).toEqual(['a-1@3', 'a-1@3']);
  });

  it('remembers a deletion for as long as a write', () => {
    put('a@1');
    remove('a@1');
    clock.advanceSync(300_001);
    cache.mutation(live('a@2'));
    expect(shown()).toEqual(['a-1@2', 'a-1@2']);
    expect(clock.pendingTimers).toBe(0);
  });
});
