// Working off a queue in turns, and stopping in the middle of it.
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { object, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import { DeltaFIFO } from '../queue/delta-fifo.ts';
import type { Queue } from '../queue/queue.ts';
import { RealFIFO } from '../queue/the-real-fifo.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { ProcessLoop } from './process-loop.ts';

const OBJECTS = 500;

describe.each([
  ['real', RealFIFO],
  ['delta', DeltaFIFO],
] as const)('ProcessLoop over the %s queue', (_name, Fifo) => {
  let clock: VirtualClock;
  let store: IndexedStore<TestObject>;
  let queue: Queue<TestObject>;
  let loop: ProcessLoop<TestObject>;
  let told: string[];
  let drained: number;
  /** What a notification does besides being noted. */
  let inside: (() => void) | undefined;

  beforeEach(() => {
    clock = new VirtualClock();
    store = new IndexedStore<TestObject>();
    queue = new Fifo<TestObject>({ knownObjects: store });
    told = [];
    drained = 0;
    inside = undefined;
    loop = new ProcessLoop<TestObject>({
      clock,
      queue,
      store,
      notify: (event) => {
        if (event.type === 'synced') return;
        const { name, resourceVersion } = event.object.metadata;
        told.push(`${event.type} ${name}@${resourceVersion}`);
        // Written before it is told.
        expect(store.getByKey(`default/${name}`)?.metadata.resourceVersion).toBe(
          event.type === 'deleted' ? undefined : resourceVersion,
        );
        inside?.();
      },
      onDrained: () => void drained++,
    });
  });
  const names = Array.from({ length: OBJECTS }, (_, at) => `o${at}@${at + 1}`);
  const fill = (): void => queue.replace(names.map(object), '1000');
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) await settle();
  };

  it('gives the event loop its turns, and ends with everything told in order', async () => {
    fill();
    inside = () => clock.advanceSync(1);
    loop.drain();
    const first = told.length;
    expect(first).toBeGreaterThanOrEqual(8);
    expect(first).toBeLessThan(64);
    expect(drained).toBe(0);
    // What comes meanwhile waits for its place.
    queue.add(object('late@2000'));
    loop.drain();
    expect(told).toHaveLength(first);
    await settle();
    expect(told.length).toBeGreaterThan(first);
    expect(told.length).toBeLessThan(OBJECTS);
    await turns();
    expect(told).toEqual([...names.map((name) => `added ${name}`), 'added late@2000']);
    expect([drained, queue.length]).toEqual([1, 0]);
    // A short queue after a long time is worked off within the call.
    clock.advanceSync(60_000);
    inside = undefined;
    for (let at = 0; at < 20; at++) queue.update(object(`late@${3000 + at}`));
    loop.drain();
    expect([told.at(-1), drained, queue.length]).toEqual(['updated late@3019', 2, 0]);
  });

  it('takes up what a notification adds, in the same go and not inside it', () => {
    queue.add(object('a@1'));
    let depth = 0;
    inside = () => {
      expect(++depth).toBe(1);
      if (told.length < 3) {
        queue.add(object(`b@${told.length + 1}`));
        loop.drain();
      }
      depth--;
    };
    loop.drain();
    expect(told).toEqual(['added a@1', 'added b@2', 'updated b@3']);
    expect(drained).toBe(1);
  });

  it('tells nothing more when it is stopped inside a notification, and takes nothing more', () => {
    fill();
    inside = () => {
      if (told.length === 3) loop.stop();
    };
    loop.drain();
    expect([told.length, drained, queue.closed]).toEqual([3, 0, true]);
    loop.drain();
    queue.add(object('late@2000'));
    expect([told.length, store.size]).toEqual([3, 3]);
  });

  it('tells nothing more when it is stopped between two turns', async () => {
    fill();
    inside = () => clock.advanceSync(1);
    loop.drain();
    const first = told.length;
    loop.stop();
    await turns();
    expect([told.length, drained]).toEqual([first, 0]);
  });

  it('is silent about a deletion of what the store does not hold', () => {
    queue.add(object('a@1'));
    queue.delete(object('a@2'));
    queue.delete(object('a@3'));
    loop.drain();
    expect(told).toEqual(
      ['added a@1', 'deleted a@3'].map((each) => (Fifo === DeltaFIFO ? each : each.replace('@3', '@2'))),
    );
  });
});
