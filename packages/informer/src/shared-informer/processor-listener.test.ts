// One handler at the end of its queue: order, bounds, errors, removal, and when its first state counts as told.
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { object, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { ProcessorListener, type ProcessorListenerOptions } from './processor-listener.ts';
import type { StoreEvent } from './store-event.ts';

type Event = StoreEvent<TestObject>;
const live = (notation: string): Live<TestObject> => object(notation) as Live<TestObject>;
const added = (notation: string, initial = false): Event => ({
  type: 'added',
  object: live(notation),
  initial,
  cause: initial ? 'list' : 'watch',
});
const updated = (from: string, to: string): Event => ({
  type: 'updated',
  object: live(to),
  previous: live(from),
  recreated: false,
  cause: 'watch',
});
const deleted = (notation: string): Event => ({
  type: 'deleted',
  object: live(notation),
  finalState: 'known',
  cause: 'watch',
});
const synced: Event = { type: 'synced', resourceVersion: '9', size: 2, first: true };

const nameOf = (each: TestObject): string => `${each.metadata.name}@${each.metadata.resourceVersion}`;
function text(event: Event): string {
  if (event.type === 'synced') return 'synced';
  if (event.type === 'added') return `add ${nameOf(event.object)}${event.initial ? ' initial' : ''} by ${event.cause}`;
  if (event.type === 'deleted') return `delete ${nameOf(event.object)} ${event.finalState} by ${event.cause}`;
  return `update ${nameOf(event.previous)}>${nameOf(event.object)}${event.recreated ? ' recreated' : ''} by ${event.cause}`;
}

describe('ProcessorListener', () => {
  let clock: VirtualClock;
  let told: string[];
  let faults: string[];
  let store: Live<TestObject>[];
  let progress: number;
  let informerStops: number;
  /** Lets the handler that is at work return. */
  let release: (error?: Error) => void;

  beforeEach(() => {
    clock = new VirtualClock();
    told = [];
    faults = [];
    store = [];
    progress = 0;
    informerStops = 0;
    release = () => undefined;
  });

  const listen = (
    options: Partial<ProcessorListenerOptions<TestObject>> = {},
    handle: (event: Event) => void | Promise<void> = () => undefined,
  ): ProcessorListener<TestObject> =>
    new ProcessorListener<TestObject>({
      name: 'h',
      clock,
      buffer: 'unbounded',
      onError: 'report',
      upstreamHasSynced: () => true,
      storeContent: () => store,
      report: (error) => void faults.push(`${error.message} | ${String((error.cause as Error).message)}`),
      stopInformer: () => void informerStops++,
      onProgress: () => void progress++,
      ...options,
      handle: (event) => {
        told.push(text(event));
        return handle(event);
      },
    });
  /** A handler that works until it is released. */
  const slow = (): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      release = (error) => (error === undefined ? resolve() : reject(error));
    });
  const releaseAll = async (): Promise<void> => {
    for (let before = -1; before < told.length; ) {
      before = told.length;
      release();
      await settle();
    }
  };

  it('has told an idle synchronous handler when the call returns', () => {
    const listener = listen();
    listener.add(added('a@1'));
    listener.add(updated('a@1', 'a@2'));
    expect([told, listener.pending]).toEqual([['add a@1 by watch', 'update a@1>a@2 by watch'], 0]);
  });

  it('tells one event at a time, also those that a handler causes', async () => {
    const listener = listen({}, (event) => {
      if (told.length === 1) listener.add(added('b@2'));
      expect(told).toHaveLength(event.type === 'added' && event.object.metadata.name === 'a' ? 1 : 2);
    });
    listener.add(added('a@1'));
    expect(told).toEqual(['add a@1 by watch', 'add b@2 by watch']);
    const waiting = listen({}, slow);
    told = [];
    for (const name of ['c', 'd']) waiting.add(added(`${name}@3`));
    await settle();
    expect([told, waiting.pending]).toEqual([['add c@3 by watch'], 1]);
    await releaseAll();
    expect(told).toEqual(['add c@3 by watch', 'add d@3 by watch']);
  });

  it('gives the event loop its turns when a handler needs long', async () => {
    const queued = listen({}, (event) => {
      if (event.type === 'added' && event.object.metadata.name === 'go')
        for (let count = 0; count < 99; count++) queued.add(added(`o${count}@1`));
      clock.advanceSync(1);
    });
    queued.add(added('go@1'));
    expect(told.length).toBeGreaterThanOrEqual(8);
    expect(told.length).toBeLessThan(64);
    expect(queued.pending).toBe(100 - told.length);
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(told).toHaveLength(100);
    expect(told.at(-1)).toBe('add o98@1 by watch');
    queued.add(added('again@2'));
    expect(told.at(-1)).toBe('add again@2 by watch');
  });

  describe('counts its first state as told', () => {
    it('when the handler has returned from its last initial object, and says so once', async () => {
      const listener = listen({}, slow);
      for (const name of ['a', 'b']) listener.add(added(`${name}@1`, true));
      listener.add(synced);
      listener.add(added('c@2'));
      expect(listener.hasSynced).toBe(false);
      release();
      await settle();
      expect([listener.hasSynced, progress]).toEqual([false, 0]);
      release();
      await settle();
      expect([listener.hasSynced, progress]).toEqual([true, 1]);
      await releaseAll();
      expect(progress).toBe(1);
    });

    it('not before the informer has its own', () => {
      let upstream = false;
      const listener = listen({ upstreamHasSynced: () => upstream });
      listener.add(added('a@1', true));
      expect([listener.hasSynced, progress]).toEqual([false, 0]);
      upstream = true;
      expect(listener.hasSynced).toBe(true);
    });

    it('not because later events were dropped', async () => {
      const listener = listen({ buffer: { max: 2, overflow: 'drop-and-resync' } }, slow);
      store = ['a@1', 'b@2', 'c@3', 'd@4'].map(live);
      for (const each of store) listener.add(added(nameOf(each), each === store[0]));
      expect(told).toEqual(['add a@1 initial by list']);
      expect(listener.hasSynced).toBe(false);
      await releaseAll();
      expect(listener.hasSynced).toBe(true);
    });

    it('also when the handler fails, or the object vanished before it was told', async () => {
      const failing = listen({}, () => Promise.reject(new Error('no')));
      failing.add(added('a@1', true));
      await settle();
      expect([failing.hasSynced, faults.length]).toEqual([true, 1]);
      const joined = listen({ buffer: { max: 2, overflow: 'conflate' } }, slow);
      for (const name of ['a', 'b']) joined.add(added(`${name}@1`, true));
      joined.add(deleted('b@2'));
      joined.add(added('c@3'));
      expect(joined.pending).toBe(1);
      release();
      await settle();
      expect(joined.hasSynced).toBe(true);
    });
  });

  describe('with a bound that joins', () => {
    it('joins above the bound, and of more objects than that only when it pays again', async () => {
      const listener = listen({ buffer: { max: 2, overflow: 'conflate' } }, slow);
      listener.add(added('x@1'));
      const lengths: number[] = [];
      for (const [index, name] of ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b'].entries()) {
        listener.add(updated(`${name}@${index}`, `${name}@${index + 1}`));
        lengths.push(listener.pending);
      }
      expect(lengths).toEqual([1, 2, 3, 4, 5, 6, 3, 4]);
      await releaseAll();
      expect(told.slice(1)).toEqual([
        'update a@0>a@7 by watch',
        'update b@1>b@5 by watch',
        'update c@2>c@6 by watch',
        'update b@7>b@8 by watch',
      ]);
    });
  });

  describe('with a bound that starts over from the store', () => {
    const bounded = () => listen({ buffer: { max: 2, overflow: 'drop-and-resync' } }, slow);

    it('tells what differs from what it told: additions, changes, replacements and deletions', async () => {
      const listener = bounded();
      for (const name of ['same', 'changed', 'replaced', 'gone', 'deleted']) {
        listener.add(added(`${name}@1`));
        await releaseAll();
      }
      listener.add(deleted('deleted@2'));
      await releaseAll();
      told = [];
      listener.add(added('busy@3'));
      store = ['same@1', 'changed@5', 'replaced@6#2', 'busy@3', 'new@7'].map(live);
      for (const version of [4, 5, 6]) listener.add(updated(`changed@${version - 1}`, `changed@${version}`));
      await releaseAll();
      expect(told).toEqual([
        'add busy@3 by watch',
        'update changed@1>changed@5 by list',
        'update replaced@1>replaced@6 recreated by list',
        'add new@7 by replay',
        'delete gone@1 unknown by list',
      ]);
      // What was told that way counts as told.
      told = [];
      store = [];
      listener.add(added('busy@8'));
      for (let version = 9; version < 18; version++) listener.add(updated('busy@8', `busy@${version}`));
      await releaseAll();
      expect(told.slice(1).sort()).toEqual(
        ['busy@8', 'changed@5', 'new@7', 'replaced@6', 'same@1'].map((each) => `delete ${each} unknown by list`),
      );
    });

    it('tells each object once when it is registered on a store that holds more than the bound', async () => {
      const listener = bounded();
      store = ['a@1', 'b@2', 'c@3', 'd@4'].map(live);
      listener.replay(store, synced);
      await releaseAll();
      const initial = ['a@1', 'b@2', 'c@3', 'd@4'].map((each) => `add ${each} initial by replay`);
      expect(told).toEqual([...initial, 'synced']);
      expect(listener.hasSynced).toBe(true);
    });

    it('starts over from the store when something happens while that is being told', async () => {
      const listener = bounded();
      store = ['a@1', 'b@2', 'c@3', 'd@4'].map(live);
      listener.replay(store, synced);
      store = ['a@1', 'b@5', 'c@3', 'd@4'].map(live);
      listener.add(updated('b@2', 'b@5'));
      await releaseAll();
      const rest = ['b@5', 'c@3', 'd@4'].map((each) => `add ${each} by replay`);
      expect(told).toEqual(['add a@1 initial by replay', ...rest, 'synced']);
    });

    it('keeps the end of a list, and takes dropped initial objects for dealt with', async () => {
      const listener = bounded();
      store = ['a@1', 'b@2', 'c@3'].map(live);
      for (const each of store) listener.add(added(nameOf(each), true));
      listener.add(synced);
      expect(listener.hasSynced).toBe(false);
      await releaseAll();
      expect(told).toEqual(['add a@1 initial by list', 'add b@2 by replay', 'add c@3 by replay', 'synced']);
      expect(listener.hasSynced).toBe(true);
    });

    it('does not start over again for each event when the store holds more than the bound', async () => {
      let looks = 0;
      const content = Array.from({ length: 10 }, (_, index) => live(`o${index}@1`));
      const counting = listen(
        {
          buffer: { max: 2, overflow: 'drop-and-resync' },
          storeContent: () => {
            looks++;
            return content;
          },
        },
        slow,
      );
      counting.add(added('o0@1'));
      for (let index = 1; index < 10; index++) counting.add(added(`o${index}@1`));
      expect([looks, counting.pending]).toEqual([1, 15]);
    });
  });

  describe('errors', () => {
    it.each([
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no'))],
    ] as [string, () => Promise<void>][])(
      'of a handler that %s are reported by name and key, and the next event comes',
      async (_how, fail) => {
        const listener = listen({}, (event) =>
          event.type === 'added' && event.object.metadata.name === 'a' ? fail() : undefined,
        );
        for (const name of ['a', 'b']) listener.add(added(`${name}@1`));
        await settle();
        expect(told).toEqual(['add a@1 by watch', 'add b@1 by watch']);
        expect(faults).toHaveLength(1);
        expect(faults[0]).toMatch(/h.*default\/a.* \| no$/);
        expect([listener.removed, informerStops]).toEqual([false, 0]);
      },
    );

    it.each([
      ['stop-handler', true, 0],
      ['stop-informer', false, 1],
    ] as const)('can %s', async (onError, removed, stops) => {
      const listener = listen({ onError }, () => {
        throw new Error('no');
      });
      listener.add(synced);
      listener.add(added('b@1'));
      expect([listener.removed, informerStops, faults.length]).toEqual([removed, stops * 2, removed ? 1 : 2]);
      expect(told).toHaveLength(removed ? 1 : 2);
    });
  });

  describe('removal', () => {
    it('drops what waits and resolves for everybody when the running call has ended', async () => {
      const listener = listen({}, slow);
      for (const name of ['a', 'b']) listener.add(added(`${name}@1`));
      const resolved: number[] = [];
      void listener.remove().then(() => resolved.push(1));
      void listener.remove().then(() => resolved.push(2));
      await settle();
      expect([resolved, listener.removed, listener.pending]).toEqual([[], true, 0]);
      release();
      await settle();
      expect(resolved).toEqual([1, 2]);
      listener.add(added('c@1'));
      expect(told).toEqual(['add a@1 by watch']);
    });

    it('waits for an asynchronous call also after others that returned or threw at once', async () => {
      const listener = listen({}, (event) => {
        if (event.type === 'synced') throw new Error('no');
        return event.type === 'added' ? slow() : undefined;
      });
      listener.add(synced);
      listener.add(deleted('x@1'));
      listener.add(added('a@1'));
      let resolved = false;
      void listener.remove().then(() => {
        resolved = true;
      });
      await settle();
      expect(resolved).toBe(false);
      release();
      await settle();
      expect(resolved).toBe(true);
    });

    it('resolves at once while nothing runs, and from inside a synchronous handler', async () => {
      await listen().remove();
      let resolved = false;
      const listener = listen({}, () => {
        void listener.remove().then(() => {
          resolved = true;
        });
      });
      for (const name of ['a', 'b']) listener.add(added(`${name}@1`));
      await settle();
      expect([resolved, told]).toEqual([true, ['add a@1 by watch']]);
    });
  });
});
