import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type QueueTestObject, queueObject } from '../../../../contract/suites/queue.suite.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { DeltaFIFO } from './delta-fifo.ts';
import type { Queue } from './queue.ts';
import { RealFIFO } from './the-real-fifo.ts';

type Step = {
  readonly op: 'put' | 'delete' | 'relist' | 'resync' | 'pop';
  readonly name: string;
  readonly seen: boolean;
};

const steps = fc.array(
  fc.record({
    op: fc.constantFrom<Step['op']>('put', 'put', 'delete', 'relist', 'resync', 'pop', 'pop'),
    name: fc.constantFrom('a', 'b', 'c'),
    // Whether the watch delivers the change, or it happens while the connection is down.
    seen: fc.boolean(),
  }),
  { maxLength: 60 },
);

/** Plays a history of a server through the queue into a store, with the consumer taking entries at any time. */
function play(history: readonly Step[], create: (store: IndexedStore<QueueTestObject>) => Queue<QueueTestObject>) {
  const store = new IndexedStore<QueueTestObject>();
  const queue = create(store);
  const server = new Map<string, QueueTestObject>();
  const told = new Map<string, string[]>();
  let version = 0;
  let connected = true;
  const take = (): void => {
    const popped = queue.pop();
    if (popped === undefined) return;
    for (const { type, object } of popped.deltas) {
      if (type === 'Deleted') store.deleteKey(popped.key);
      else store.add(object);
      const { resourceVersion, uid } = object.metadata;
      told.set(popped.key, [...(told.get(popped.key) ?? []), `${type} ${resourceVersion} ${uid}`]);
    }
    queue.processed();
  };
  const relist = (): void => {
    queue.replace([...server.values()], String(version));
    connected = true;
  };
  relist();
  for (const { op, name, seen } of history) {
    if (op === 'pop') take();
    else if (op === 'relist') relist();
    else if (op === 'resync') queue.resync();
    else {
      version++;
      // Once a change was missed nothing more arrives until the next list.
      connected &&= seen;
      const before = server.get(name);
      if (op === 'put') {
        const next = queueObject(`${name}@${version}#${before?.metadata.uid ?? `u${version}`}`);
        server.set(name, next);
        if (connected && before === undefined) queue.add(next);
        else if (connected) queue.update(next);
      } else if (before !== undefined) {
        server.delete(name);
        if (connected) queue.delete(queueObject(`${name}@${version}#${before.metadata.uid}`));
      }
    }
  }
  if (!connected) relist();
  while (queue.length > 0) take();
  return { store, server, told };
}

describe.each([
  ['DeltaFIFO', (store: IndexedStore<QueueTestObject>) => new DeltaFIFO<QueueTestObject>({ knownObjects: store })],
  ['RealFIFO', (store: IndexedStore<QueueTestObject>) => new RealFIFO<QueueTestObject>({ knownObjects: store })],
])('%s, any history', (_, create) => {
  it('leads the store to the state of the server', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const { store, server } = play(history, create);
        expect(new Map(store.keys().map((key) => [key, store.getByKey(key)]))).toEqual(server);
      }),
      { numRuns: 300 },
    );
  });

  it('tells the versions of an object in order and loses no deletion', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const { told, server } = play(history, create);
        for (const [key, lines] of told) {
          const versions = lines.map((line) => Number(line.split(' ')[1]));
          expect(versions).toEqual([...versions].sort((a, b) => a - b));
          expect(lines.at(-1)?.startsWith('Deleted')).toBe(!server.has(key));
        }
      }),
      { numRuns: 300 },
    );
  });
});
