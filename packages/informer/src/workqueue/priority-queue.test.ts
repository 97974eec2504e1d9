import { getEventListeners } from 'node:events';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PriorityQueueOptions } from './priority-queue.ts';
import { LOW_PRIORITY, PriorityQueue } from './priority-queue.ts';

function setUp(options: PriorityQueueOptions<string> = {}) {
  const clock = new VirtualClock();
  const queue = new PriorityQueue<string>({ clock, ...options });
  const take = (count = queue.length): (string | undefined)[] => Array.from({ length: count }, () => queue.tryGet());
  return { clock, queue, take };
}

describe('PriorityQueue', () => {
  it('hands out by priority, then by arrival', () => {
    const { queue, take } = setUp();
    for (const [item, priority] of [
      ['low', LOW_PRIORITY],
      ['a', 0],
      ['high', 5],
      ['b', 0],
      ['low2', LOW_PRIORITY],
    ] as const) {
      queue.add(item, { priority });
    }
    expect(take()).toEqual(['high', 'a', 'b', 'low', 'low2']);
  });

  it('raises a priority, at the end of the new level, and never lowers one', () => {
    const { queue, take } = setUp();
    queue.add('a', { priority: LOW_PRIORITY });
    queue.add('b');
    queue.add('c');
    queue.add('a');
    queue.add('b', { priority: LOW_PRIORITY });
    expect(queue.length).toBe(3);
    expect(take()).toEqual(['b', 'c', 'a']);
  });

  it('keeps an item in hands aside and gives it out again with the merged priority', () => {
    const { queue, take } = setUp();
    queue.add('a', { priority: 3 });
    expect(queue.tryGet()).toBe('a');
    expect(queue.priorityOf('a')).toBe(3);
    queue.add('a', { priority: LOW_PRIORITY });
    queue.add('a', { priority: 7 });
    queue.add('b', { priority: 5 });
    expect(queue.length).toBe(1);
    queue.done('a');
    expect(take()).toEqual(['a', 'b']);
    expect(queue.priorityOf('a')).toBe(7);
  });

  it('makes a waiting item ready at the earliest time it was given, counted from then', async () => {
    const { clock, queue, take } = setUp();
    queue.addAfter('a', 1000);
    queue.addAfter('a', 300);
    queue.addAfter('a', 5000);
    queue.addAfter('b', 200, 1);
    expect([queue.length, queue.waitingLength]).toEqual([0, 2]);
    await clock.advance(299);
    queue.add('c');
    expect(take()).toEqual(['b', 'c']);
    await clock.advance(1);
    expect(take()).toEqual(['a']);
    queue.addAfter('d', 1000);
    queue.add('d');
    expect(take()).toEqual(['d']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes the shorter of two waits and counts failures', async () => {
    const { clock, queue } = setUp();
    queue.addRateLimited('a');
    queue.forget('a');
    queue.addRateLimited('b');
    queue.addRateLimited('b');
    queue.add('b', { rateLimited: true, afterMs: 2 });
    expect(queue.numRequeues('b')).toBe(3);
    await clock.advance(2);
    expect(queue.tryGet()).toBe('b');
    await clock.advance(3);
    expect(queue.tryGet()).toBe('a');
  });

  it('hands to waiting workers and ends with them', async () => {
    const { clock, queue } = setUp();
    const abort = new AbortController();
    const given = queue.get({ signal: abort.signal });
    const next = queue.get();
    const last = queue.get();
    abort.abort();
    expect(await given).toBeUndefined();
    queue.addAfter('a', 10);
    await clock.advance(10);
    expect(await next).toBe('a');
    queue.shutDown();
    expect(await last).toBeUndefined();
    queue.add('b');
    expect(await queue.get()).toBeUndefined();
  });

  it('serves after a shutdown what is ready and what comes back, not what waits', async () => {
    const { clock, queue } = setUp();
    queue.add('a');
    queue.add('b');
    queue.tryGet();
    queue.add('a');
    queue.addAfter('c', 10);
    queue.shutDown();
    expect(clock.pendingTimers).toBe(0);
    queue.done('a');
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['b', 'a', undefined]);
  });

  it('drops everything but what is in hands when it is discarded', async () => {
    const { queue } = setUp();
    for (const item of ['a', 'b']) queue.add(item);
    queue.tryGet();
    queue.add('a');
    queue.discard();
    queue.done('a');
    expect(await queue.get()).toBeUndefined();
    expect(queue.length).toBe(0);
  });

  it('lets a low item pass newer ones when it has waited long enough (controller-runtime#3496)', async () => {
    const { clock, queue, take } = setUp({ ageMs: 1000 });
    queue.add('old', { priority: -3 });
    await clock.advance(2900);
    queue.add('young');
    await clock.advance(200);
    queue.add('younger');
    expect(take()).toEqual(['young', 'old', 'younger']);
    expect(() => setUp({ ageMs: 0 })).toThrow(/ageMs/);
  });

  it('reports depth without what waits or is in hands', async () => {
    const depths: number[] = [];
    const metrics = () => ({
      depth: (items: number) => depths.push(items),
      added() {},
      queueDuration() {},
      workDuration() {},
      retried() {},
      unfinishedWork() {},
      longestRunningProcessor() {},
    });
    const { clock, queue } = setUp({ name: 'q', metrics });
    queue.addAfter('w', 5);
    queue.add('a');
    queue.add('b');
    queue.done(queue.tryGet()!);
    await clock.advance(5);
    await settle();
    expect(depths).toEqual([1, 2, 1, 2]);
    expect(Math.min(...depths)).toBeGreaterThanOrEqual(0);
  });

  it('reports how long items wait and are worked on, and counts waits as retries', async () => {
    const log: string[] = [];
    const silent = (): void => undefined;
    const metrics = () => ({
      depth: silent,
      added: () => void log.push('added'),
      queueDuration: (seconds: number) => void log.push(`queued ${seconds}`),
      workDuration: (seconds: number) => void log.push(`worked ${seconds}`),
      retried: () => void log.push('retried'),
      unfinishedWork: silent,
      longestRunningProcessor: silent,
    });
    const { clock, queue } = setUp({ name: 'q', metrics });
    expect(queue.name).toBe('q');
    queue.addAfter('a', 1000);
    await clock.advance(1500);
    expect(queue.tryGet()).toBe('a');
    await clock.advance(250);
    queue.done('a');
    expect(log).toEqual(['retried', 'added', 'queued 0.5', 'worked 0.25']);
  });

  it('starts the waits of an item anew when its failures are forgotten', async () => {
    const { clock, queue, take } = setUp();
    for (let failure = 0; failure < 3; failure++) {
      queue.addRateLimited('a');
      await clock.advance(1000);
      expect(take()).toEqual(['a']);
      queue.done('a');
    }
    expect(queue.numRequeues('a')).toBe(3);
    queue.forget('a');
    expect(queue.numRequeues('a')).toBe(0);
    queue.addRateLimited('a');
    await clock.advance(5);
    expect(take()).toEqual(['a']);
  });

  it('gives items that become ready at the same time in the order of their adds', async () => {
    const { clock, queue, take } = setUp();
    for (const item of ['c', 'a', 'b', 'd', 'e']) queue.addAfter(item, 10);
    await clock.advance(10);
    expect(take()).toEqual(['c', 'a', 'b', 'd', 'e']);
  });

  it('lets an item arrive, and age, from when its wait is over', async () => {
    for (const options of [{}, { ageMs: 1000 }]) {
      const { clock, queue, take } = setUp(options);
      queue.addAfter('waited', 10_000);
      await clock.advance(9500);
      queue.add('came meanwhile');
      await clock.advance(500);
      expect(take()).toEqual(['came meanwhile', 'waited']);
    }
  });

  it('counts the age of a raised item from when it was raised', async () => {
    const { clock, queue, take } = setUp({ ageMs: 1000 });
    queue.add('raised', { priority: -10 });
    await clock.advance(500);
    queue.add('other');
    await clock.advance(100);
    queue.add('raised');
    // Counted from its first add it would be the older of the two.
    expect(take()).toEqual(['other', 'raised']);
  });

  it('leaves no listener on the signal of a wait that is over', async () => {
    const { queue } = setUp();
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) {
      const wait = queue.get({ signal });
      queue.add('a');
      queue.done((await wait)!);
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('does under random use what a sorted list would do', () => {
    const item = fc.constantFrom('a', 'b', 'c', 'd');
    const priority = fc.integer({ min: -2, max: 2 });
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('add' as const),
          item,
          priority,
          afterMs: fc.constantFrom(0, 0, 5, 12),
        }),
      },
      { weight: 3, arbitrary: fc.constantFrom({ do: 'get' as const }, { do: 'done' as const }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 8 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { clock, queue } = setUp();
        const model = new Map<string, { priority: number; readyAt: number; order: number; locked: boolean }>();
        const inHands: string[] = [];
        let order = 0;
        const ripen = (): void => {
          const ripe = [...model].filter(
            ([, entry]) => !entry.locked && entry.readyAt > 0 && entry.readyAt <= clock.now(),
          );
          ripe.sort(([, a], [, b]) => a.readyAt - b.readyAt || a.order - b.order);
          for (const [, entry] of ripe) Object.assign(entry, { readyAt: 0, order: order++ });
        };
        for (const each of steps) {
          if (each.do === 'add') {
            queue.add(each.item, { priority: each.priority, afterMs: each.afterMs });
            const readyAt = each.afterMs > 0 ? clock.now() + each.afterMs : 0;
            const known = model.get(each.item);
            if (known === undefined) {
              model.set(each.item, {
                priority: each.priority,
                readyAt,
                order: order++,
                locked: inHands.includes(each.item),
              });
            } else {
              const wasReady = known.readyAt === 0;
              const raised = each.priority > known.priority;
              const earlier = !wasReady && (readyAt === 0 || readyAt < known.readyAt);
              if (raised) known.priority = each.priority;
              if (earlier) known.readyAt = readyAt;
              if (!known.locked && ((wasReady && raised) || (earlier && readyAt === 0))) known.order = order++;
            }
          } else if (each.do === 'get') {
            const ready = [...model].filter(([, entry]) => !entry.locked && entry.readyAt === 0);
            ready.sort(([, a], [, b]) => b.priority - a.priority || a.order - b.order);
            const expected = ready[0]?.[0];
            expect(queue.tryGet()).toBe(expected);
            if (expected === undefined) continue;
            model.delete(expected);
            inHands.push(expected);
          } else if (each.do === 'done') {
            const finished = inHands.shift();
            if (finished === undefined) continue;
            queue.done(finished);
            const again = model.get(finished);
            if (again !== undefined) {
              again.locked = false;
              if (again.readyAt <= clock.now()) Object.assign(again, { readyAt: 0, order: order++ });
            }
          } else {
            clock.advanceSync(each.ms);
            ripen();
          }
          expect(queue.length).toBe([...model.values()].filter((entry) => !entry.locked && entry.readyAt === 0).length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
