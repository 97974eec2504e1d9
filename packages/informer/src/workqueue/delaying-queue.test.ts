import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { DelayingQueueOptions } from './delaying-queue.ts';
import { DelayingQueue } from './delaying-queue.ts';
import type { WorkQueueMetrics } from './metrics.ts';

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

  it('keeps one timer, for the item that is due first, and none for an item that was taken back', async () => {
    const clock = new VirtualClock();
    const start = clock.now();
    const queue = new DelayingQueue<string>({ clock });
    for (const [item, wait] of [
      ['late', 10_000],
      ['first', 2000],
      ['second', 5000],
    ] as const)
      queue.addAfter(item, wait);
    expect([clock.pendingTimers, clock.nextTimerAt]).toEqual([1, start + 2000]);
    expect(queue.cancelWaiting('first')).toBe(true);
    expect([clock.pendingTimers, clock.nextTimerAt]).toEqual([1, start + 5000]);
    await clock.advance(5000);
    expect([queue.tryGet(), clock.pendingTimers, clock.nextTimerAt]).toEqual(['second', 1, start + 10_000]);
    expect([queue.cancelWaiting('late'), queue.cancelWaiting('late'), clock.pendingTimers]).toEqual([true, false, 0]);
    queue.addAfter('again', 1000);
    await clock.advance(1000);
    expect([queue.tryGet(), clock.pendingTimers]).toEqual(['again', 0]);
  });

  it('counts what comes with a wait as a retry', () => {
    const clock = new VirtualClock();
    let retried = 0;
    const silent = (): void => undefined;
    const metrics = (): WorkQueueMetrics => ({
      depth: silent,
      added: silent,
      queueDuration: silent,
      workDuration: silent,
      retried: () => void retried++,
      unfinishedWork: silent,
      longestRunningProcessor: silent,
    });
    const queue = new DelayingQueue<string>({ name: 'q', clock, metrics });
    queue.add('a');
    queue.addAfter('b', 10);
    queue.addAfter('b', 20);
    expect(retried).toBe(2);
    queue.shutDown();
  });

  it('loses waiting items when it is discarded', async () => {
    const clock = new VirtualClock();
    const queue = new DelayingQueue<string>({ clock });
    queue.addAfter('a', 1000);
    queue.add('b');
    queue.discard();
    expect([queue.length, queue.waitingLength, clock.pendingTimers]).toEqual([0, 0, 0]);
    queue.addAfter('c', 1000);
    await clock.advance(2000);
    expect([queue.length, queue.waitingLength, clock.pendingTimers]).toEqual([0, 0, 0]);
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
