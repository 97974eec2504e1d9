// The life of one watch request: silence, restart, and what becomes of a stream that comes too late.
import { getEventListeners } from 'node:events';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { list, type TestObject, TestStream } from '../../test/support/scripted-lister-watcher.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { Reflector } from './reflector.ts';
import { StreamSession } from './stream-session.ts';

describe('StreamSession', () => {
  let clock: VirtualClock;
  let start: number;
  let owner: AbortController;
  let limitMs: number;
  let idle: number[];
  beforeEach(() => {
    clock = new VirtualClock();
    start = clock.now();
    owner = new AbortController();
    limitMs = 1000;
    idle = [];
  });
  const open = (): StreamSession<TestObject> =>
    new StreamSession<TestObject>({
      clock,
      unref: false,
      child: childSignal(owner.signal),
      idleLimitMs: () => limitMs,
      onIdle: () => void idle.push(clock.now() - start),
    });

  it('says once that nothing came, counted from the last byte', () => {
    const session = open();
    clock.advanceSync(900);
    session.activity();
    clock.advanceSync(999);
    expect(idle).toEqual([]);
    clock.advanceSync(1);
    expect(idle).toEqual([1900]);
    clock.advanceSync(10_000);
    expect([idle.length, clock.pendingTimers]).toEqual([1, 0]);
    session.close();
  });

  it('follows a limit that changes, and has no timer without one', () => {
    const session = open();
    limitMs = 3000;
    clock.advanceSync(2999);
    expect(idle).toEqual([]);
    clock.advanceSync(1);
    expect(idle).toEqual([3000]);
    session.close();
    limitMs = 0;
    const unlimited = open();
    expect(clock.pendingTimers).toBe(0);
    limitMs = 1000;
    const ended = open();
    limitMs = 0;
    clock.advanceSync(5000);
    expect([idle.length, clock.pendingTimers]).toEqual([1, 0]);
    unlimited.close();
    ended.close();
  });

  it('counts anew, with another limit, when the live phase begins', () => {
    limitMs = 10_000;
    const session = open();
    clock.advanceSync(9000);
    session.activity();
    limitMs = 2000;
    session.restart();
    expect(session.startedAt).toBe(start + 9000);
    expect(clock.pendingTimers).toBe(1);
    clock.advanceSync(2000);
    expect(idle).toEqual([11_000]);
    session.close();
  });

  it('leaves nothing behind when it is closed, and does nothing more', () => {
    const session = open();
    const stream = new TestStream();
    session.attach(stream);
    expect(getEventListeners(owner.signal, 'abort')).toHaveLength(1);
    session.close();
    session.close();
    session.restart();
    expect([session.closed, session.signal.aborted, stream.stopped, clock.pendingTimers]).toEqual([
      true,
      true,
      true,
      0,
    ]);
    expect(getEventListeners(owner.signal, 'abort')).toEqual([]);
    clock.advanceSync(5000);
    expect(idle).toEqual([]);
  });

  it('stops a stream that comes after it was closed', () => {
    const session = open();
    session.close();
    const stream = new TestStream();
    session.attach(stream);
    expect(stream.stopped).toBe(true);
  });
});

describe('a watch that the server opens although nobody wants it any more', () => {
  /** Pays no heed to signals. */
  function stubborn() {
    const opened: TestStream[] = [];
    const waiting: (() => void)[] = [];
    const server: ListerWatcher<TestObject> = {
      list: async () => list('10', 'a@5'),
      watch: () =>
        new Promise((resolve) => {
          waiting.push(() => {
            const stream = new TestStream();
            opened.push(stream);
            resolve(stream);
          });
        }),
    };
    return { server, opened, waiting };
  }

  it('is stopped, and what it says is not heard', async () => {
    const clock = new VirtualClock();
    const { server, opened, waiting } = stubborn();
    const store = new IndexedStore<TestObject>();
    const owner = new AbortController();
    const reflector = new Reflector<TestObject>(server, store, {
      clock,
      random: () => 0,
      initial: 'list',
      idleTimeoutMs: 5000,
    });
    const done = reflector.run({ signal: owner.signal });
    await settle();
    // No headers come: it is given up, and another is asked for.
    await clock.advance(5000);
    expect(waiting).toHaveLength(2);
    waiting[0]!();
    await settle();
    expect(opened[0]!.stopped).toBe(true);
    opened[0]!.send('ADDED ghost@11');
    expect(store.keys()).toEqual(['default/a']);
    owner.abort();
    waiting[1]!();
    await done;
    await settle();
    expect(opened.map((stream) => stream.stopped)).toEqual([true, true]);
    expect(clock.pendingTimers).toBe(0);
  });
});
