// What an informer relies on in a delta queue, whatever its order between keys.
// Upstream: client-go@v0.30.3:tools/cache/delta_fifo_test.go, client-go@v0.33.0:tools/cache/the_real_fifo_test.go
import { beforeEach, describe, expect, it } from 'vitest';
import type { KnownObjects, Queue } from '../../packages/informer/src/queue/queue.ts';
import { IndexedStore } from '../../packages/informer/src/store/indexed-store.ts';

export interface QueueTestObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly uid: string };
}

export interface QueueSuiteOptions {
  readonly name: string;
  create(knownObjects: KnownObjects<QueueTestObject>): Queue<QueueTestObject>;
}

/** `a@5#2` is version 5 of the second object called a. */
export function queueObject(notation: string): QueueTestObject {
  const [name = '', rest = ''] = notation.split('@');
  const [resourceVersion = '', uid = '1'] = rest.split('#');
  return { metadata: { name, resourceVersion, uid } };
}

export function describeQueue(options: QueueSuiteOptions): void {
  describe(`Queue: ${options.name}`, () => {
    let store: IndexedStore<QueueTestObject>;
    let queue: Queue<QueueTestObject>;

    beforeEach(() => {
      store = new IndexedStore<QueueTestObject>();
      queue = options.create(store);
    });

    const known = (...notations: string[]): void => {
      for (const notation of notations) store.add(queueObject(notation));
    };
    const pop = (): string[] => {
      const popped = queue.pop();
      if (popped === undefined) return [];
      queue.processed();
      return popped.deltas.map(({ type, object, finalStateUnknown }) => {
        const { name, resourceVersion } = object.metadata;
        return `${type} ${name}@${resourceVersion}${finalStateUnknown ? ' unknown' : ''}`;
      });
    };
    const popAll = (): string[] => {
      const all: string[] = [];
      while (queue.length > 0) all.push(...pop());
      return all;
    };

    it('is empty and not synced at first', () => {
      expect(queue.pop()).toBeUndefined();
      expect(queue.length).toBe(0);
      expect(queue.hasSynced).toBe(false);
    });

    it('gives the changes of one object in order', () => {
      queue.add(queueObject('a@1'));
      queue.update(queueObject('a@2'));
      queue.delete(queueObject('a@3'));
      expect(popAll()).toEqual(['Added a@1', 'Updated a@2', 'Deleted a@3']);
    });

    it('counts as synced when something came before the first list', () => {
      queue.add(queueObject('a@1'));
      expect(queue.hasSynced).toBe(true);
    });

    it('is synced when the first list is worked off, and at once when it is empty', () => {
      queue.replace([queueObject('a@1'), queueObject('b@2')], '5');
      expect(queue.hasSynced).toBe(false);
      pop();
      expect(queue.hasSynced).toBe(false);
      pop();
      expect(queue.hasSynced).toBe(true);
      const empty = options.create(store);
      empty.replace([], '5');
      expect(empty.hasSynced).toBe(true);
    });

    it.each(['add', 'update', 'delete'] as const)(
      'counts as synced when the first thing that comes is a %s',
      (verb) => {
        known('a@1');
        queue[verb](queueObject('a@2'));
        expect(queue.hasSynced).toBe(true);
        pop();
        expect(queue.hasSynced).toBe(true);
      },
    );

    it('is synced only when the deletions that its first list tells are worked off too', () => {
      known('gone@1', 'too@2', 'stays@3');
      queue.replace([queueObject('stays@4')], '5');
      const seen: string[] = [];
      while (queue.length > 0) {
        expect(queue.hasSynced).toBe(false);
        seen.push(...pop());
      }
      expect(seen.sort()).toEqual(['Deleted gone@1 unknown', 'Deleted too@2 unknown', 'Replaced stays@4']);
      expect(queue.hasSynced).toBe(true);
    });

    it('tells once the deletion of what both it and the store know, and counts it once', () => {
      known('a@1');
      queue.update(queueObject('a@2'));
      queue.replace([], '5');
      expect(popAll()).toEqual(['Updated a@2', 'Deleted a@2 unknown']);
      expect([queue.length, queue.hasSynced]).toEqual([0, true]);
    });

    it('gives listed items in the form they were prepared in, and leaves out what was refused', () => {
      known('a@1');
      const prepare = ({ metadata }: QueueTestObject): QueueTestObject | undefined =>
        metadata.name === 'b'
          ? undefined
          : { metadata: { ...metadata, resourceVersion: `${metadata.resourceVersion}0` } };
      queue.replace(['a@3', 'b@4', 'c@5'].map(queueObject), '9', prepare);
      expect(popAll()).toEqual(['Replaced a@30', 'Replaced c@50']);
      expect(queue.hasSynced).toBe(true);
    });

    it('marks what belongs to the first list, its last item included', () => {
      queue.replace([queueObject('a@1'), queueObject('b@2')], '5');
      queue.add(queueObject('c@6'));
      const marks: boolean[] = [];
      for (let popped = queue.pop(); popped !== undefined; popped = queue.pop()) {
        marks.push(popped.isInInitialList);
        queue.processed();
      }
      expect(marks).toEqual([true, true, false]);
    });

    it('tells the deletion of what a list does not hold any more, with the last known state', () => {
      known('a@1', 'b@2');
      queue.replace([queueObject('a@3')], '5');
      expect(popAll().sort()).toEqual(['Deleted b@2 unknown', 'Replaced a@3']);
    });

    it('tells the deletion of what only the queue knew', () => {
      queue.add(queueObject('a@1'));
      queue.replace([], '5');
      expect(popAll()).toEqual(['Added a@1', 'Deleted a@1 unknown']);
    });

    it('adds no second deletion for what is queued as deleted', () => {
      known('a@1');
      queue.delete(queueObject('a@2'));
      queue.replace([], '5');
      expect(popAll()).toEqual(['Deleted a@2']);
    });

    it('keeps a deletion and the object that came after it under the same name', () => {
      known('x@1#1');
      queue.delete(queueObject('x@2#1'));
      queue.replace([queueObject('x@3#2')], '5');
      expect(popAll()).toEqual(['Deleted x@2', 'Replaced x@3']);
    });

    it('resyncs only what has nothing waiting', () => {
      known('a@1', 'b@2');
      queue.update(queueObject('b@3'));
      queue.resync();
      expect(popAll().sort()).toEqual(['Sync a@1', 'Updated b@3']);
    });

    it('resyncs nothing that is not there', () => {
      queue.resync();
      expect(queue.length).toBe(0);
    });

    it('takes nothing after close, and still gives what it had', () => {
      queue.add(queueObject('a@1'));
      queue.close();
      queue.add(queueObject('b@1'));
      queue.replace([queueObject('c@1')], '5');
      expect(queue.closed).toBe(true);
      expect(popAll()).toContain('Added a@1');
      expect(queue.length).toBe(0);
    });

    it('can be filled while it is emptied', () => {
      queue.add(queueObject('a@1'));
      const popped = queue.pop();
      queue.update(queueObject('a@2'));
      queue.processed();
      expect(popped?.deltas).toHaveLength(1);
      expect(popAll()).toEqual(['Updated a@2']);
    });

    it('gives ten thousand entries back in order and keeps nothing', () => {
      for (let count = 0; count < 10_000; count++) queue.add(queueObject(`o${count}@${count}`));
      expect(popAll()).toEqual(Array.from({ length: 10_000 }, (_, count) => `Added o${count}@${count}`));
      expect(queue.length).toBe(0);
    });
  });
}
