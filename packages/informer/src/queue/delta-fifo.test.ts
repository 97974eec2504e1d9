import { describe, expect, it } from 'vitest';
import { describeQueue, type QueueTestObject, queueObject } from '../../../../contract/suites/queue.suite.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { dedupDeltas, delta } from './delta.ts';
import { DeltaFIFO } from './delta-fifo.ts';

describeQueue({ name: 'DeltaFIFO', create: (knownObjects) => new DeltaFIFO({ knownObjects }) });

describe('DeltaFIFO', () => {
  it('gives all changes of the key that was touched first together', () => {
    const fifo = new DeltaFIFO<QueueTestObject>();
    for (const each of ['a@1', 'b@2', 'a@3']) fifo.add(queueObject(each));
    expect(fifo.pop()?.deltas.map((each) => each.object.metadata.resourceVersion)).toEqual(['1', '3']);
    expect(fifo.pop()?.key).toBe('b');
  });

  it('ignores the deletion of what neither it nor the store knows', () => {
    const fifo = new DeltaFIFO<QueueTestObject>({ knownObjects: new IndexedStore<QueueTestObject>() });
    fifo.delete(queueObject('a@1'));
    expect(fifo.length).toBe(0);
    expect(fifo.hasSynced).toBe(true);
  });

  it('ignores without a store the deletion of what is not queued, and tells that of what is', () => {
    const fifo = new DeltaFIFO<QueueTestObject>();
    fifo.delete(queueObject('a@1'));
    expect(fifo.length).toBe(0);
    fifo.add(queueObject('a@1'));
    fifo.delete(queueObject('a@2'));
    expect(fifo.pop()?.deltas.map((each) => each.type)).toEqual(['Added', 'Deleted']);
  });

  it('counts a name that a list holds twice once', () => {
    const fifo = new DeltaFIFO<QueueTestObject>();
    fifo.replace([queueObject('a@1'), queueObject('a@2')]);
    expect(fifo.pop()?.deltas).toHaveLength(2);
    expect(fifo.hasSynced).toBe(true);
  });

  it('emits Sync for the items of a list when told so', () => {
    const fifo = new DeltaFIFO<QueueTestObject>({ emitDeltaTypeReplaced: false });
    fifo.replace([queueObject('a@1')]);
    expect(fifo.pop()?.deltas[0]?.type).toBe('Sync');
  });
});

describe('dedupDeltas', () => {
  const real = (version: string) => delta('Deleted', queueObject(`a@${version}`));
  const tombstone = (version: string) => delta('Deleted', queueObject(`a@${version}`), true);
  it.each([
    ['keeps the newer of two real deletions', [real('1'), real('2')], ['2']],
    ['keeps the real one when a tombstone follows', [real('1'), tombstone('2')], ['1']],
    ['keeps the real one when a tombstone came before', [tombstone('1'), real('2')], ['2']],
    ['leaves other pairs alone', [delta('Added', queueObject('a@1')), real('2')], ['1', '2']],
  ])('%s', (_, deltas, versions) => {
    dedupDeltas(deltas);
    expect(deltas.map((each) => each.object.metadata.resourceVersion)).toEqual(versions);
  });
});
