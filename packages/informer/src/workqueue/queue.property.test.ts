// The queue against the shortest model that has its promises: a list of dirty keys and a set of keys in hands.
import { VirtualClock } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelayingQueue } from './delaying-queue.ts';
import { Fifo } from './fifo.ts';
import { WaitingHeap } from './waiting-heap.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
type Step =
  | { readonly do: 'add'; readonly key: string }
  | { readonly do: 'addAfter'; readonly key: string; readonly delayMs: number }
  | { readonly do: 'get' | 'doneOldest' | 'doneNewest' }
  | { readonly do: 'advance'; readonly ms: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('addAfter' as const), key, delayMs: fc.integer({ min: -1, max: 20 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('get' as const, 'doneOldest' as const, 'doneNewest' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 15 }) }) },
);

class Model {
  queue: string[] = [];
  inHands: string[] = [];
  again = new Set<string>();
  waiting: { key: string; at: number; order: number }[] = [];
  order = 0;

  add(item: string): void {
    if (this.inHands.includes(item)) this.again.add(item);
    else if (!this.queue.includes(item)) this.queue.push(item);
  }

  addAfter(item: string, at: number): void {
    const known = this.waiting.find((entry) => entry.key === item);
    if (known === undefined) this.waiting.push({ key: item, at, order: this.order++ });
    else known.at = Math.min(known.at, at);
  }

  advance(now: number): void {
    const ready = this.waiting.filter((entry) => entry.at <= now).sort((a, b) => a.at - b.at || a.order - b.order);
    this.waiting = this.waiting.filter((entry) => entry.at > now);
    for (const entry of ready) this.add(entry.key);
  }

  get(): string | undefined {
    const item = this.queue.shift();
    if (item !== undefined) this.inHands.push(item);
    return item;
  }

  done(item: string): void {
    this.inHands = this.inHands.filter((each) => each !== item);
    if (this.again.delete(item)) this.queue.push(item);
  }
}

describe('DelayingQueue under random use', () => {
  it('hands out what the model hands out, never one key twice at once, and loses nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const clock = new VirtualClock();
        const queue = new DelayingQueue<string>({ clock });
        const model = new Model();
        for (const each of steps) {
          switch (each.do) {
            case 'add':
              queue.add(each.key);
              model.add(each.key);
              break;
            case 'addAfter':
              queue.addAfter(each.key, each.delayMs);
              if (each.delayMs > 0) model.addAfter(each.key, clock.now() + each.delayMs);
              else model.add(each.key);
              break;
            case 'get': {
              const before = [...model.inHands];
              const item = queue.tryGet();
              expect(item).toBe(model.get());
              if (item !== undefined) expect(before).not.toContain(item);
              break;
            }
            case 'doneOldest':
            case 'doneNewest': {
              const item = model.inHands.at(each.do === 'doneOldest' ? 0 : -1);
              if (item === undefined) break;
              queue.done(item);
              model.done(item);
              break;
            }
            case 'advance':
              clock.advanceSync(each.ms);
              model.advance(clock.now());
          }
          expect(queue.length).toBe(model.queue.length);
          expect(queue.waitingLength).toBe(model.waiting.length);
          expect(clock.pendingTimers).toBe(model.waiting.length === 0 ? 0 : 1);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('runs every key that was added after its last start, whatever the workers do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(key, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        async (scheduler, adds, workers) => {
          const queue = new DelayingQueue<string>({ clock: new VirtualClock() });
          const running = new Set<string>();
          const wanted = new Map<string, number>();
          const seen = new Map<string, number>();
          const work = async (): Promise<void> => {
            for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
              expect(running.has(item)).toBe(false);
              running.add(item);
              const version = wanted.get(item)!;
              await scheduler.schedule(Promise.resolve(), `work on ${item}`);
              seen.set(item, version);
              running.delete(item);
              queue.done(item);
            }
          };
          const all = Promise.all(Array.from({ length: workers }, work));
          scheduler.scheduleSequence(
            adds.map((item, index) => async () => {
              wanted.set(item, index);
              queue.add(item);
            }),
          );
          await scheduler.waitIdle();
          const drained = queue.shutDownWithDrain();
          await scheduler.waitIdle();
          await drained;
          await all;
          expect(seen).toEqual(wanted);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('Fifo', () => {
  it('is an array with push, shift and remove', () => {
    const operation = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant('push' as const), value: fc.integer({ min: 0, max: 9 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('shift' as const), value: fc.constant(0) }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('remove' as const), value: fc.integer({ min: 0, max: 9 }) }),
      },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
        const fifo = new Fifo<number>();
        const model: number[] = [];
        for (const each of operations) {
          if (each.do === 'push') {
            fifo.push(each.value);
            model.push(each.value);
          } else if (each.do === 'shift') {
            expect(fifo.shift()).toBe(model.shift());
          } else {
            const index = model.indexOf(each.value);
            expect(fifo.remove(each.value)).toBe(index >= 0);
            if (index >= 0) model.splice(index, 1);
          }
          expect(fifo.length).toBe(model.length);
        }
      }),
    );
  });
});

describe('WaitingHeap', () => {
  it('pops by time, then by arrival, with the earliest time of each item, also after removals', () => {
    const operation = fc.record({
      remove: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
      item: fc.integer({ min: 0, max: 12 }),
      at: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100 }), (operations) => {
        const heap = new WaitingHeap<number>();
        const model = new Map<number, { at: number; order: number }>();
        let order = 0;
        for (const { remove, item, at } of operations) {
          if (remove) {
            expect(heap.remove(item)).toBe(model.delete(item));
          } else {
            heap.insert(item, at);
            const known = model.get(item);
            if (known === undefined) model.set(item, { at, order: order++ });
            else known.at = Math.min(known.at, at);
          }
          const times = [...model.values()].map((entry) => entry.at);
          expect(heap.nextReadyAt).toBe(times.length === 0 ? undefined : Math.min(...times));
          expect(heap.size).toBe(model.size);
        }
        const popped: number[] = [];
        for (let item = heap.popReady(30); item !== undefined; item = heap.popReady(30)) popped.push(item);
        const expected = [...model].sort(([, a], [, b]) => a.at - b.at || a.order - b.order).map(([item]) => item);
        expect(popped).toEqual(expected);
      }),
    );
  });
});
