import { newInternalError, newResourceExpired, settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { list, ScriptedListerWatcher, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import type { Fault } from './informer-status.ts';
import { Reflector } from './reflector.ts';

describe('verify: watch-list', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let faults: Fault[];
  let controller: AbortController;
  let done: Promise<void>;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    faults = [];
    controller = new AbortController();
    const reflector = new Reflector<TestObject>(server, new IndexedStore<TestObject>(), {
      clock,
      random: () => 0,
      initial: 'watch-list',
      verify: 'watch-list',
      idleTimeoutMs: 0,
      onFault: (fault) => faults.push(fault),
    });
    done = reflector.run({ signal: controller.signal });
    await settle();
  });
  afterEach(async () => {
    controller.abort();
    await done;
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });
  async function stream(): Promise<void> {
    server.stream.send('ADDED a@5', 'ADDED b@6', 'BOOKMARK 10 end');
    await settle();
  }

  it('lists the version of the streamed list, once, and says nothing when both agree', async () => {
    server.onList(list('10', 'b@6', 'a@5'));
    await stream();
    expect(server.requests).toEqual(['WATCHLIST rv=', 'LIST rv=10 limit=500']);
    expect(faults).toEqual([]);
  });

  it('reports what differs', async () => {
    server.onList(list('10', 'a@4', 'c@7'));
    await stream();
    expect(faults).toMatchObject([
      {
        kind: 'inconsistent',
        verb: 'watch-list',
        resourceVersion: '10',
        error: {
          code: 'INCONSISTENT',
          message:
            '3 objects differ: default/a is 5 and not 4, default/b is 6 and not undefined, default/c is undefined and not 7',
        },
      },
    ]);
  });

  it('tries again until the list can be read', async () => {
    server.onList(newInternalError('down'), newInternalError('down'), list('10', 'a@5'));
    await stream();
    await clock.advance(2_000);
    expect(server.listCount).toBe(3);
    expect(faults.map(({ kind }) => kind)).toEqual(['inconsistent']);
  });

  it('gives up when the version is gone, or the informer stops', async () => {
    server.onList(newResourceExpired('gone'));
    await stream();
    await clock.advance(60_000);
    expect(server.listCount).toBe(1);
    expect(faults).toEqual([]);
  });

  it('stops with the reflector', async () => {
    server.onList(newInternalError('down'));
    await stream();
    controller.abort();
    await done;
    await settle();
    expect(clock.pendingTimers).toBe(0);
    expect(server.listCount).toBe(1);
  });
});
