import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { WorkQueueMetrics } from './metrics.ts';
import { WorkQueue } from './queue.ts';

const pending = Symbol('pending');

/** What a promise has come to after everything ready has run. */
async function stateOf<T>(promise: Promise<T>): Promise<T | typeof pending> {
  await settle();
  return Promise.race([promise, Promise.resolve(pending)]);
}

describe('WorkQueue', () => {
  it('hands out items in the order of their first add', () => {
    const queue = new WorkQueue<string>();
    for (const item of ['b', 'a', 'b', 'c', 'a']) queue.add(item);
    expect(queue.length).toBe(3);
    expect([queue.tryGet(), queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual(['b', 'a', 'c', undefined]);
  });

  it('does not hand out an item that is in hands, and runs it once more after any number of adds', () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.tryGet();
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    expect(queue.tryGet()).toBeUndefined();
    queue.done('a');
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    expect(queue.tryGet()).toBeUndefined();
  });

  it('gives an added item to the worker that has waited longest', async () => {
    const queue = new WorkQueue<string>();
    const first = queue.get();
    const second = queue.get();
    queue.add('a');
    expect(await first).toBe('a');
    expect(await stateOf(second)).toBe(pending);
    queue.shutDown();
    expect(await second).toBeUndefined();
  });

  it('ends a wait when its signal aborts, without losing the next item', async () => {
    const queue = new WorkQueue<string>();
    const abort = new AbortController();
    const given = queue.get({ signal: abort.signal });
    const other = queue.get();
    abort.abort();
    expect(await given).toBeUndefined();
    queue.add('a');
    expect(await other).toBe('a');
    expect(await queue.get({ signal: abort.signal })).toBeUndefined();
  });

  it('serves what is queued after a shutdown, refuses adds, then says undefined', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.shutDown();
    queue.add('b');
    expect(await queue.get()).toBe('a');
    queue.done('a');
    expect(await queue.get()).toBeUndefined();
  });

  it('ignores done for an item that nobody has', () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.done('a');
    expect(queue.tryGet()).toBe('a');
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/queue_test.go#TestQueueDrainageUsingShutDownWithDrain
  it('drains only when every item in hands is done', async () => {
    const queue = new WorkQueue<string>();
    for (const item of ['a', 'b']) queue.add(item);
    queue.tryGet();
    queue.tryGet();
    const drained = queue.shutDownWithDrain().then(() => true);
    queue.done('a');
    expect(await stateOf(drained)).toBe(pending);
    queue.done('b');
    expect(await drained).toBe(true);
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/queue_test.go#TestQueueDrainageUsingShutDownWithDrainWithDirtyItem
  it('drains only after the second run of an item that was added while in hands (kubernetes#101928)', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.tryGet();
    queue.add('a');
    const drained = queue.shutDownWithDrain().then(() => true);
    queue.done('a');
    expect(await stateOf(drained)).toBe(pending);
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    expect(await drained).toBe(true);
  });

  it('drains only after items that no worker has taken yet (kubernetes#141079)', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    const drained = queue.shutDownWithDrain().then(() => true);
    expect(await stateOf(drained)).toBe(pending);
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    expect(await drained).toBe(true);
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/queue_test.go#TestForceQueueShutdownUsingShutDown
  it('ends the wait of a drain when a plain shutdown follows', async () => {
    const queue = new WorkQueue<string>();
    queue.add('a');
    queue.tryGet();
    const drained = queue.shutDownWithDrain().then(() => true);
    expect(await stateOf(drained)).toBe(pending);
    queue.shutDown();
    expect(await drained).toBe(true);
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/queue_test.go#TestGarbageCollection
  it('does not keep an item alive after it was handed out and done', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const queue = new WorkQueue<object>();
    const addAndWork = (): WeakRef<object> => {
      const item = { big: true };
      queue.add(item);
      queue.done(queue.tryGet()!);
      return new WeakRef(item);
    };
    const reference = addAndWork();
    await settle();
    collectGarbage();
    expect(reference.deref()).toBeUndefined();
    expect(queue.length).toBe(0);
  });

  it('drops what waits when it is discarded, lets what is in hands go on, and takes nothing back', async () => {
    const queue = new WorkQueue<string>();
    for (const item of ['in hands', 'waits', 'waits too']) queue.add(item);
    expect(queue.tryGet()).toBe('in hands');
    queue.add('in hands');
    const drained = queue.shutDownWithDrain();
    expect(await stateOf(drained)).toBe(pending);
    queue.discard();
    expect(queue.inspect()).toEqual({ queued: 0, processing: 1, waitingWorkers: 0, shuttingDown: true });
    expect(await queue.get()).toBeUndefined();
    expect(await stateOf(drained)).toBe(pending);
    queue.done('in hands');
    expect(queue.tryGet()).toBeUndefined();
    await drained;
    const idle = new WorkQueue<string>();
    const waiting = idle.get();
    idle.discard();
    expect(await waiting).toBeUndefined();
    idle.add('late');
    expect(idle.length).toBe(0);
    // With nothing in hands a discard is the end of a drain.
    const full = new WorkQueue<string>();
    full.add('a');
    const ended = full.shutDownWithDrain();
    full.discard();
    await ended;
  });

  it('leaves no listener on the signal of a wait that is over', async () => {
    const queue = new WorkQueue<string>();
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) {
      const wait = queue.get({ signal });
      queue.add('a');
      await wait;
      queue.done('a');
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('reports what a discard leaves: a depth of nothing, and no time for what was dropped', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const metrics = {
      depth: (items: number) => log.push(`depth ${items}`),
      queueDuration: (seconds: number) => log.push(`queued ${seconds}`),
    };
    const silent = () => undefined;
    const all = { added: silent, workDuration: silent, retried: silent, unfinishedWork: silent };
    const create = (name?: string): WorkQueue<string> =>
      new WorkQueue<string>({
        ...(name === undefined ? {} : { name }),
        clock,
        metrics: () => ({ ...all, longestRunningProcessor: silent, ...metrics }) as WorkQueueMetrics,
      });
    const queue = create('pods');
    expect(queue.name).toBe('pods');
    queue.add('a');
    queue.add('b');
    queue.discard();
    expect(log).toEqual(['depth 1', 'depth 2', 'depth 0']);
    // A queue without a name has no metrics.
    create().add('a');
    expect(log).toHaveLength(3);
  });

  it('reports the metrics of upstream', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const metrics: WorkQueueMetrics = {
      depth: (items) => log.push(`depth ${items}`),
      added: () => log.push('added'),
      queueDuration: (seconds) => log.push(`queued ${seconds}`),
      workDuration: (seconds) => log.push(`worked ${seconds}`),
      retried: () => log.push('retried'),
      unfinishedWork: (seconds) => log.push(`unfinished ${seconds}`),
      longestRunningProcessor: (seconds) => log.push(`longest ${seconds}`),
    };
    const queue = new WorkQueue<string>({ name: 'pods', clock, metrics: () => metrics });
    queue.add('a');
    queue.add('a');
    await clock.advance(2000);
    queue.tryGet();
    await clock.advance(750);
    queue.done('a');
    expect(log).toEqual([
      'added',
      'depth 1',
      'queued 2',
      'depth 0',
      'unfinished 0.5',
      'longest 0.5',
      'worked 0.75',
      'unfinished 0',
      'longest 0',
    ]);
    expect(clock.pendingTimers).toBe(0);
  });
});
