// Public reports about queues as inputs for ours; the names are those of the reports. Those about elections are beside the elector.
import { VirtualClock } from '@kube-rx/apimachinery';
import { type QueueTestObject, queueObject } from '@kube-rx/contract/suites/queue.suite';
import { describe, expect, it } from 'vitest';
import { DeltaFIFO } from '../../src/queue/delta-fifo.ts';
import { RealFIFO } from '../../src/queue/the-real-fifo.ts';
import { IndexedStore } from '../../src/store/indexed-store.ts';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import { LOW_PRIORITY, PriorityQueue } from '../../src/workqueue/priority-queue.ts';
import { WorkQueue } from '../../src/workqueue/queue.ts';
import { RateLimitingQueue } from '../../src/workqueue/rate-limiting-queue.ts';

describe.each([
  ['delta', DeltaFIFO],
  ['real', RealFIFO],
] as const)('reports about the queue before the cache (%s)', (_name, Fifo) => {
  const setUp = () => {
    const store = new IndexedStore<QueueTestObject>();
    const queue = new Fifo<QueueTestObject>({ knownObjects: store });
    /** Works the queue off as the process loop does. */
    const popAll = (): string[] => {
      const lines: string[] = [];
      for (let popped = queue.pop(); popped !== undefined; popped = queue.pop()) {
        for (const { type, object, finalStateUnknown } of popped.deltas) {
          if (type === 'Deleted') store.deleteKey(popped.key);
          else store.add(object);
          lines.push(`${type} ${object.metadata.name}#${object.metadata.uid}${finalStateUnknown ? ' unknown' : ''}`);
        }
        queue.processed();
      }
      return lines;
    };
    return { store, queue, popAll };
  };

  it('I-32 kubernetes#83810: a list does not hide in a waiting deletion the object that came back', () => {
    const { store, queue, popAll } = setUp();
    store.add(queueObject('x@1#1'));
    queue.delete(queueObject('x@2#1'));
    queue.replace([queueObject('x@3#2')], '5');
    expect(popAll()).toEqual(['Deleted x#1', 'Replaced x#2']);
    expect(store.getByKey('x')?.metadata.uid).toBe('2');
  });

  it('I-34 kubernetes#115658: an object that only the queue knows is deleted by a list without it', () => {
    const { store, queue, popAll } = setUp();
    queue.add(queueObject('x@1#1'));
    queue.replace([], '5');
    expect(popAll()).toEqual(['Added x#1', 'Deleted x#1 unknown']);
    expect(store.keys()).toEqual([]);
  });
});

describe('reports about work queues: I-49', () => {
  it('(a) kubernetes#101928: a drain waits for the second run of what was added while in hands', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    expect(await queue.get()).toBe('a');
    queue.add('a');
    let drained = false;
    const drain = queue.shutDownWithDrain().then(() => {
      drained = true;
    });
    queue.done('a');
    await Promise.resolve();
    expect(drained).toBe(false);
    expect(await queue.get()).toBe('a');
    queue.done('a');
    await drain;
  });

  it.each([
    ['the longer first', [10_000, 2000]],
    ['the shorter first', [2000, 10_000]],
  ])('(b) openshift/origin#9674: of two waits the shorter counts, once (%s)', async (_order, waits) => {
    const clock = new VirtualClock();
    const queue = new DelayingQueue<string>({ clock });
    for (const wait of waits) queue.addAfter('x', wait);
    await clock.advance(1999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect([await queue.get(), queue.length]).toEqual(['x', 0]);
    queue.done('x');
    await clock.advance(20_000);
    expect(queue.length).toBe(0);
    queue.shutDown();
  });

  it('(c) virtual-kubelet#953: queues do not forget the failures of each other', () => {
    const clock = new VirtualClock();
    const queues = [new RateLimitingQueue<string>({ clock }), new RateLimitingQueue<string>({ clock })];
    for (const queue of queues) for (let tries = 0; tries < 3; tries++) queue.addRateLimited('x');
    queues[1]!.forget('x');
    expect(queues.map((queue) => queue.numRequeues('x'))).toEqual([3, 0]);
    for (const queue of queues) queue.shutDown();
  });

  it('(d) draino#86: a hundred items that come back every second are all served at half that rate', async () => {
    const clock = new VirtualClock();
    const queue = new RateLimitingQueue<number>({ clock });
    const served = new Set<number>();
    for (let second = 0; second < 10; second++) {
      for (let item = 0; item < 100; item++) queue.addRateLimited(item);
      for (let slot = 0; slot < 50; slot++) {
        await clock.advance(20);
        const item = queue.length === 0 ? undefined : await queue.get();
        if (item === undefined) continue;
        served.add(item);
        queue.forget(item);
        queue.done(item);
      }
    }
    expect(served.size).toBe(100);
    queue.shutDown();
  });

  it.each([
    ['keep', 2],
    ['forget', 1],
  ] as const)(
    '(e) kubernetes#112325: an item that waits and is added (%s) runs %d times',
    async (onAddWhileWaiting, runs) => {
      const clock = new VirtualClock();
      const queue = new DelayingQueue<string>({ clock, onAddWhileWaiting });
      queue.addAfter('x', 5000);
      queue.add('x');
      let count = 0;
      for (let second = 0; second < 10; second++) {
        for (; queue.length > 0; count++) queue.done((await queue.get())!);
        await clock.advance(1000);
      }
      expect(count).toBe(runs);
      queue.shutDown();
    },
  );

  it('(f) controller-runtime#3157: a priority is kept, the depth counts what is ready, and low items come last', async () => {
    const clock = new VirtualClock();
    const queue = new PriorityQueue<string>({ clock });
    queue.add('resynced', { priority: LOW_PRIORITY });
    queue.add('late', { priority: 5, afterMs: 1000 });
    queue.add('first');
    queue.add('second');
    expect([LOW_PRIORITY, queue.length]).toEqual([-100, 3]);
    const take = (): string => {
      const item = queue.tryGet()!;
      const priority = queue.priorityOf(item);
      queue.done(item);
      return `${item} ${priority}`;
    };
    expect([take(), take(), take(), queue.length]).toEqual(['first 0', 'second 0', 'resynced -100', 0]);
    await clock.advance(1000);
    expect([queue.length, take(), queue.length]).toEqual([1, 'late 5', 0]);
    queue.add('again', { priority: 7 });
    const item = queue.tryGet()!;
    queue.addRateLimited(item, queue.priorityOf(item));
    queue.done(item);
    expect(queue.length).toBe(0);
    await clock.advance(5);
    expect([take(), queue.length]).toEqual(['again 7', 0]);
    queue.shutDown();
  });
});
