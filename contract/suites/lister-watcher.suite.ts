// What a reflector relies on in list and watch, whatever carries them.
// Upstream: client-go@v0.30.3:tools/cache/listwatch.go#ListerWatcher
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListerWatcher, WatchStream } from '../../packages/informer/src/rest/lister-watcher.ts';

export interface ListedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly resourceVersion?: string };
}

export interface ListerWatcherUnderTest {
  readonly listerWatcher: ListerWatcher<ListedObject>;
  /** Puts or removes an object; both give it a new resource version. */
  put(name: string): Promise<void> | void;
  remove(name: string): Promise<void> | void;
  /** Ends every open watch as a server does at its timeout. */
  endWatches(): void;
  /** Watches the server has open. */
  openWatches(): number;
  /** Lets what is under way arrive. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface ListerWatcherSuiteOptions {
  readonly name: string;
  create(): Promise<ListerWatcherUnderTest>;
}

interface Recorded {
  readonly stream: WatchStream<ListedObject>;
  readonly events: string[];
  ended: boolean;
}

export function describeListerWatcher(options: ListerWatcherSuiteOptions): void {
  describe(`ListerWatcher: ${options.name}`, () => {
    let test: ListerWatcherUnderTest;
    let controller: AbortController;

    beforeEach(async () => {
      test = await options.create();
      controller = new AbortController();
    });
    afterEach(async () => {
      controller.abort();
      await test.settle();
      expect(test.openWatches()).toBe(0);
      await test.close();
    });

    const list = (more = {}) => test.listerWatcher.list(more, { signal: controller.signal });
    const watch = async (resourceVersion: string): Promise<Recorded> => {
      const stream = await test.listerWatcher.watch({ resourceVersion }, { signal: controller.signal });
      const recorded: Recorded = { stream, events: [], ended: false };
      stream.start({
        next: (event) => {
          const { name } = (event.object as ListedObject).metadata;
          recorded.events.push(`${event.type} ${name}`);
        },
        end: () => {
          recorded.ended = true;
        },
      });
      return recorded;
    };
    /** A stream says nothing about when it delivers; this waits for it, within reason. */
    const until = async (condition: () => boolean): Promise<void> => {
      for (let count = 0; count < 200 && !condition(); count++) await test.settle();
      expect(condition()).toBe(true);
    };

    it('lists what is there, with a version, and every item with its kind', async () => {
      await test.put('a');
      await test.put('b');
      const result = await list();
      expect(result.items.map((item) => item.metadata.name)).toEqual(['a', 'b']);
      expect(result.items.every((item) => item.kind !== undefined && item.apiVersion !== undefined)).toBe(true);
      expect(Number(result.resourceVersion)).toBeGreaterThan(0);
      expect(result.continue).toBe('');
    });

    it('lists in pages', async () => {
      for (const name of ['a', 'b', 'c']) await test.put(name);
      const first = await list({ limit: 2 });
      expect(first.items).toHaveLength(2);
      const second = await list({ limit: 2, continue: first.continue });
      expect([second.items.map((item) => item.metadata.name), second.continue]).toEqual([['c'], '']);
    });

    it('watches what happens after a version, in order, also what happened before the watch', async () => {
      await test.put('a');
      const { resourceVersion } = await list();
      await test.put('b');
      const seen = await watch(resourceVersion);
      await test.put('a');
      await test.remove('b');
      await until(() => seen.events.length === 3);
      expect(seen.events).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
    });

    it('says when the server ends the stream', async () => {
      const seen = await watch((await list()).resourceVersion);
      await until(() => test.openWatches() === 1);
      test.endWatches();
      await until(() => seen.ended);
    });

    it('delivers nothing after stop, neither events nor the end', async () => {
      const seen = await watch((await list()).resourceVersion);
      await until(() => test.openWatches() === 1);
      seen.stream.stop();
      seen.stream.stop();
      await test.put('late');
      await until(() => test.openWatches() === 0);
      expect([seen.events, seen.ended]).toEqual([[], false]);
    });

    it('may be stopped from inside an event', async () => {
      const { resourceVersion } = await list();
      await test.put('a');
      await test.put('b');
      const stream = await test.listerWatcher.watch({ resourceVersion }, { signal: controller.signal });
      const events: string[] = [];
      stream.start({
        next: (event) => {
          events.push(event.type);
          stream.stop();
        },
        end: () => events.push('end'),
      });
      await until(() => events.length > 0);
      await test.settle();
      expect(events).toEqual(['ADDED']);
    });

    it('rejects what was aborted before it began', async () => {
      const before = new AbortController();
      before.abort(new Error('too late'));
      await expect(test.listerWatcher.list({}, { signal: before.signal })).rejects.toThrow('too late');
      await expect(test.listerWatcher.watch({}, { signal: before.signal })).rejects.toThrow('too late');
    });

    it('loses nothing while it is paused', async () => {
      const seen = await watch((await list()).resourceVersion);
      seen.stream.pause();
      for (let count = 0; count < 20; count++) await test.put(`o${count}`);
      seen.stream.resume();
      await until(() => seen.events.length === 20);
      expect(seen.events).toEqual(Array.from({ length: 20 }, (_, count) => `ADDED o${count}`));
    });
  });
}
