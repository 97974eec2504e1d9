import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { DelayingQueueOptions } from './delaying-queue.ts';
import { DelayingQueue } from './delaying-queue.ts';

function setUp(options: DelayingQueueOptions = {}) {
  const clock = new VirtualClock();
  return { clock, queue: new DelayingQueue<string>({ clock, ...options }) };
}

describe('DelayingQueue', () => {
  it('adds at once when the delay is zero, negative or not a number', () => {
    const { queue } = setUp();
    queue.addAfter('a', 0);
    queue.addAfter('b', -5);
    queue.addAfter('c', Number.NaN);
    expect(queue.length).toBe(3);
  });

  it('adds when the time has come, not a millisecond earlier', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 50);
    await clock.advance(49);
    expect(queue.length).toBe(0);
    expect(queue.waitingLength).toBe(1);
    await clock.advance(1);
    expect(queue.tryGet()).toBe('a');
    expect(clock.pendingTimers).toBe(0);
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/delaying_queue_test.go#TestDeduping
  for (const [first, second] of [
    [10_000, 2000],
    [2000, 10_000],
  ] as const) {
    it(`runs once, at the earlier time, when ${first} ms meet ${second} ms (kubernetes#28179)`, async () => {
      const { clock, queue } = setUp();
      queue.addAfter('x', first);
      queue.addAfter('x', second);
      await clock.advance(1999);
      expect(queue.length).toBe(0);
      await clock.advance(1);
      expect(queue.tryGet()).toBe('x');
      queue.done('x');
      await clock.advance(60_000);
      expect(queue.length).toBe(0);
    });
  }

  // Upstream test: client-go@v0.30.3:util/workqueue/delaying_queue_test.go#TestCopyShifting
  it('hands out by ready time, not by the order of the calls', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('first', 1000);
    queue.addAfter('second', 500);
    queue.addAfter('third', 250);
    await clock.advance(2000);
    expect([queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual(['third', 'second', 'first']);
  });

  it('waits longer than 2^31 ms', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 2 ** 31 + 1000);
    await clock.advance(2 ** 31);
    expect(queue.length).toBe(0);
    await clock.advance(1000);
    expect(queue.length).toBe(1);
  });

  it('runs an item now and again later when it is added while it waits (kubernetes#112325)', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 1000);
    queue.add('a');
    queue.done(queue.tryGet()!);
    await clock.advance(1000);
    expect(queue.tryGet()).toBe('a');
  });

  it('runs it once in the strict mode', async () => {
    const { clock, queue } = setUp({ onAddWhileWaiting: 'forget' });
    queue.addAfter('a', 1000);
    queue.add('a');
    queue.done(queue.tryGet()!);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1000);
    expect(queue.length).toBe(0);
  });

  it('loses waiting items at a shutdown and leaves no timer', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 1000);
    queue.shutDown();
    queue.addAfter('b', 1000);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1000);
    expect(await queue.get()).toBeUndefined();
  });

  it('ends the waiting at a drain too', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 1000);
    await queue.shutDownWithDrain();
    expect(queue.waitingLength).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wakes a waiting worker', async () => {
    const { clock, queue } = setUp();
    const item = queue.get();
    queue.addAfter('a', 10);
    await clock.advance(10);
    expect(await item).toBe('a');
  });

  it('takes a waiting item back', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 10);
    expect(queue.cancelWaiting('a')).toBe(true);
    expect(queue.cancelWaiting('a')).toBe(false);
    await clock.advance(10);
    expect(queue.length).toBe(0);
  });
});
