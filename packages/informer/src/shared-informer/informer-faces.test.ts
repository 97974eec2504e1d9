import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { line } from '../../test/support/event-line.ts';
import {
  errorEvent,
  list,
  ScriptedListerWatcher,
  type TestObject,
} from '../../test/support/scripted-lister-watcher.ts';
import type { Fault } from '../reflector/informer-status.ts';
import type { SharedIndexInformerOptions } from './informer-options.ts';
import { SharedIndexInformer } from './shared-index-informer.ts';
import type { StoreEvent } from './store-event.ts';

describe('SharedIndexInformer, faces and options', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let informer: SharedIndexInformer<TestObject, 'version'>;
  let faults: Fault[];

  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    faults = [];
  });
  afterEach(async () => {
    await informer.close();
    expect(clock.pendingTimers).toBe(0);
    expect(server.openStreams).toBe(0);
  });

  function create(
    options: SharedIndexInformerOptions<TestObject, 'version'> = {},
  ): SharedIndexInformer<TestObject, 'version'> {
    informer = new SharedIndexInformer<TestObject, 'version'>(server, {
      clock,
      random: () => 0,
      name: 'configmaps',
      idleTimeoutMs: 0,
      ...options,
    });
    informer.faults$.subscribe((fault) => faults.push(fault));
    return informer;
  }
  const start = async (): Promise<void> => {
    informer.start();
    await settle();
  };
  const record = (options = {}): string[] => {
    const seen: string[] = [];
    informer.handle((event) => void seen.push(line(event)), options);
    return seen;
  };
  const relist = async (resourceVersion: string, ...items: string[]): Promise<void> => {
    server.onList(list(resourceVersion, ...items));
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(60_000);
  };

  describe('resync', () => {
    it('gives every object again to the handlers that want it', async () => {
      server.onList(list('10', 'a@5'));
      create();
      const none = record();
      const own = record({ resyncMs: 0 });
      await start();
      await clock.advance(100_000);
      expect(none).toEqual(own);
      await informer.close();
      server = new ScriptedListerWatcher().onList(list('10', 'a@5'));
      create({ resyncMs: 10_000 });
      const often = record();
      const seldom = record({ resyncMs: 25_000 });
      const never = record({ resyncMs: 0 });
      await start();
      await clock.advance(60_000);
      const updates = (seen: string[]): number => seen.filter((each) => each === 'update a@5->5').length;
      expect([updates(often), updates(seldom), updates(never)]).toEqual([6, 2, 0]);
    });

    it('raises a period below the minimum, and below that of a running informer', async () => {
      server.onList(list('10', 'a@5'));
      create({ resyncMs: 5000 });
      const quick = record({ resyncMs: 10 });
      await start();
      const late = record({ resyncMs: 10 });
      await clock.advance(5000);
      const updates = (seen: string[]): number => seen.filter((each) => each.startsWith('update')).length;
      expect([updates(quick), updates(late)]).toEqual([5, 5]);
    });
  });

  describe('a list that repeats what is there', () => {
    const says = (each: TestObject, value: string): TestObject => ({ ...each, data: { value } });

    it.each(['objects', 'compact'] as const)(
      'keeps the objects it has, and tells of the others alone (%s)',
      async (storage) => {
        server.onList(list('10', 'a@5', 'b@6'));
        create({ storage });
        const seen = record();
        await start();
        const [a] = informer.store.list();
        await relist('20', 'a@5', 'b@9');
        expect(seen).toEqual(['add a@5 initial', 'add b@6 initial', 'synced 2 first', 'update b@6->9', 'synced 2']);
        if (storage === 'objects') expect(informer.store.list()[0]).toBe(a);
        expect(informer.lastSyncResourceVersion).toBe('20');
      },
    );

    it('is believed when it says something else at the same version, as after a restore of an old state', async () => {
      const first = list('10', 'a@5');
      server.onList({ ...first, items: first.items.map((each) => says(each, 'old')) });
      create();
      await start();
      server.onList({ ...list('9'), items: first.items.map((each) => says(each, 'new')) });
      server.stream.send(errorEvent(410, 'Expired'));
      await clock.advance(60_000);
      expect(informer.store.get('a', 'default')?.data).toEqual({ value: 'new' });
    });
  });

  describe('transform', () => {
    const strip = (each: TestObject): TestObject => ({ ...each, data: { seen: 'yes' } });

    it('is seen by store, indices and handlers', async () => {
      server.onList(list('10', 'a@5'));
      create({ transform: strip as never, indexers: { version: (each) => [each.data?.['seen'] ?? 'no'] } });
      await start();
      server.stream.send('ADDED b@11');
      expect(informer.store.indexKeys('version', 'yes')).toEqual(['default/a', 'default/b']);
    });

    it('that throws leaves the old version in place, also over a relist, and is reported', async () => {
      server.onList(list('10', 'a@5', 'b@6'));
      create({
        transform: (each) => {
          if (Number(each.metadata.resourceVersion) > 10) throw new Error('too new');
          return each;
        },
      });
      const seen = record();
      await start();
      server.stream.send('MODIFIED a@11');
      expect(informer.broken).toEqual(['default/a']);
      await relist('20', 'a@15', 'b@6');
      expect(informer.store.get('a', 'default')?.metadata.resourceVersion).toBe('5');
      expect(seen).toEqual(['add a@5 initial', 'add b@6 initial', 'synced 2 first', 'synced 2']);
      expect(faults.filter((fault) => fault.kind === 'handler')).toHaveLength(2);
      server.stream.send('DELETED a@21');
      expect(seen.at(-1)).toBe('delete a@21');
      expect(informer.broken).toEqual([]);
    });
  });

  describe('events$', () => {
    it('joins the present store with what follows, for each subscriber', async () => {
      server.onList(list('10', 'a@5'));
      create();
      await start();
      const seen: string[] = [];
      let completed = false;
      informer.events$.subscribe({ next: (event) => seen.push(line(event)), complete: () => (completed = true) });
      server.stream.send('ADDED b@11');
      expect(seen).toEqual(['add a@5 initial', 'synced 1 first', 'add b@11']);
      await informer.close();
      expect(completed).toBe(true);
    });

    it('keeps one order for all subscribers when one of them causes an event', async () => {
      create();
      await start();
      const one: string[] = [];
      const two: string[] = [];
      const subscriptions = new Subscription();
      subscriptions.add(
        informer.events$.subscribe((event) => {
          one.push(line(event));
          if (one.length === 2) server.stream.send('ADDED b@12');
        }),
      );
      subscriptions.add(informer.events$.subscribe((event) => two.push(line(event))));
      server.stream.send('ADDED a@11');
      expect(one).toEqual(['synced 0 first', 'add a@11', 'add b@12']);
      expect(two).toEqual(one);
      subscriptions.unsubscribe();
      expect(informer.inspect()['handlers']).toEqual([]);
    });
  });

  describe('changes', () => {
    it('gives events to a loop, one at a time, and ends with break', async () => {
      server.onList(list('10', 'a@5', 'b@6'));
      create();
      await start();
      const seen: string[] = [];
      for await (const event of informer.changes()) {
        seen.push(line(event));
        if (event.type === 'synced') break;
      }
      expect(seen).toEqual(['add a@5 initial', 'add b@6 initial', 'synced 2 first']);
      expect(informer.inspect()['handlers']).toEqual([]);
    });

    it('ends with the informer, and throws what its signal says', async () => {
      create();
      await start();
      const collect = async (signal?: AbortSignal): Promise<string[]> => {
        const seen: string[] = [];
        for await (const event of informer.changes(signal === undefined ? {} : { signal })) seen.push(line(event));
        return seen;
      };
      const controller = new AbortController();
      const aborted = expect(collect(controller.signal)).rejects.toThrow('enough');
      const ended = collect();
      await settle();
      controller.abort(new Error('enough'));
      await aborted;
      await informer.close();
      expect(await ended).toEqual(['synced 0 first']);
      expect(await collect()).toEqual([]);
    });

    it('joins what a slow loop has not got to', async () => {
      create();
      await start();
      const iterator = informer.changes({ buffer: { max: 2, overflow: 'conflate' } });
      expect(line((await iterator.next()).value as StoreEvent<TestObject>)).toBe('synced 0 first');
      server.stream.send('ADDED a@11', 'MODIFIED a@12', 'MODIFIED a@13', 'MODIFIED a@14');
      expect(line((await iterator.next()).value as StoreEvent<TestObject>)).toBe('add a@13');
      expect(line((await iterator.next()).value as StoreEvent<TestObject>)).toBe('update a@13->14');
      await iterator.return?.();
      expect((await iterator.next()).done).toBe(true);
    });

    it('refuses to block a connection that others share', () => {
      create();
      expect(() => informer.changes({ buffer: { max: 1, overflow: 'block' } })).toThrow(/buffer.overflow/);
    });
  });
});
