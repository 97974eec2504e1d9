import { describe, expect, it } from 'vitest';
import { describeQueue, type QueueTestObject, queueObject } from '../../../../contract/suites/queue.suite.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { RealFIFO } from './the-real-fifo.ts';

describeQueue({ name: 'RealFIFO', create: (knownObjects) => new RealFIFO({ knownObjects }) });

describe('RealFIFO', () => {
  const create = (): RealFIFO<QueueTestObject> => new RealFIFO({ knownObjects: new IndexedStore<QueueTestObject>() });

  it('keeps the order between keys', () => {
    const fifo = create();
    for (const each of ['a@1', 'b@2', 'a@3']) fifo.update(queueObject(each));
    const versions: (string | undefined)[] = [];
    for (let popped = fifo.pop(); popped !== undefined; popped = fifo.pop())
      versions.push(popped.deltas[0]?.object.metadata.resourceVersion);
    expect(versions).toEqual(['1', '2', '3']);
  });

  it('is synced only when the last item was dealt with, not when it was taken', () => {
    const fifo = create();
    fifo.replace([queueObject('a@1')]);
    fifo.pop();
    expect(fifo.hasSynced).toBe(false);
    fifo.processed();
    expect(fifo.hasSynced).toBe(true);
  });

  it('tells deletions of a list before its items', () => {
    const store = new IndexedStore<QueueTestObject>();
    store.add(queueObject('b@1'));
    const fifo = new RealFIFO<QueueTestObject>({ knownObjects: store });
    fifo.replace([queueObject('a@2')]);
    expect([fifo.pop()?.key, fifo.pop()?.key]).toEqual(['b', 'a']);
  });
});
