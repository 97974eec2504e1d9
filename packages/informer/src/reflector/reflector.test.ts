import {
  newForbidden,
  newInternalError,
  newResourceExpired,
  newTooManyRequests,
  settle,
  VirtualClock,
} from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  errorEvent,
  list,
  page,
  ScriptedListerWatcher,
  type TestObject,
  TestStream,
} from '../../test/support/scripted-lister-watcher.ts';
import { TransportError } from '../errors.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import type { Fault, InformerStatus } from './informer-status.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import type { ReflectorStore } from './reflector-store.ts';

const refused = new TransportError('REFUSED', 'refused');

describe('Reflector', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let store: IndexedStore<TestObject>;
  let faults: Fault[];
  let phases: InformerStatus['phase'][];
  let reported: string[];
  let controller: AbortController;
  let reflector: Reflector<TestObject>;
  let done: Promise<void>;

  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    store = new IndexedStore<TestObject>();
    controller = new AbortController();
  });
  afterEach(async () => {
    controller.abort();
    await done;
    expect(clock.pendingTimers).toBe(0);
    expect(server.openStreams).toBe(0);
  });

  async function run(
    options: ReflectorOptions = {},
    target: ReflectorStore<TestObject> = store,
    stopReason: 'aborted' | 'disposed' = 'aborted',
  ): Promise<void> {
    faults = [];
    phases = [];
    reported = [];
    reflector = new Reflector<TestObject>(server, target, {
      clock,
      random: () => 0,
      onWatchError: (error) => reported.push(error.message),
      ...options,
    });
    reflector.status$.subscribe((status) => phases.push(status.phase));
    reflector.faults$.subscribe((fault) => faults.push(fault));
    done = reflector.run({ signal: controller.signal, stopReason: () => stopReason });
    await settle();
  }
  const keys = () => store.list().map((each) => `${each.metadata.name}@${each.metadata.resourceVersion}`);

  it('lists any state, then watches from the version of the list', async () => {
    server.onList(list('10', 'a@5', 'b@6'));
    await run();
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'WATCH rv=10']);
    expect(keys()).toEqual(['a@5', 'b@6']);
    server.stream.send('ADDED c@11', 'DELETED b@12', 'BOOKMARK 20');
    expect(keys()).toEqual(['a@5', 'c@11']);
    expect(reflector.lastSyncResourceVersion).toBe('20');
    expect(phases).toEqual(['idle', 'listing', 'connecting', 'watching', 'watching']);
    expect(reflector.status).toMatchObject({
      phase: 'watching',
      resourceVersion: '20',
      lastBookmark: { resourceVersion: '20' },
    });
  });

  it('asks the server to end each watch after five to ten minutes, drawn anew', async () => {
    let draw = 0;
    const draws = [0, 0.5, 0.999999];
    server.onList(list('10'));
    await run({ random: () => draws[draw++ % draws.length]! });
    server.stream.send('BOOKMARK 11');
    await clock.advance(6000);
    server.stream.end();
    await settle();
    server.stream.send('BOOKMARK 12');
    await clock.advance(6000);
    server.stream.end();
    await settle();
    expect(server.timeouts).toEqual([300, 450, 599]);
  });

  it('reads all pages and takes the version of the first', async () => {
    server.onList(page('10', 'c1', 'a@5'), list('11', 'b@6'));
    await run();
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'LIST rv= limit=500 continue=c1', 'WATCH rv=10']);
    expect(keys()).toEqual(['a@5', 'b@6']);
  });

  it('relists from the last event after 410, and without a version when that is gone too', async () => {
    server.onList(list('10', 'a@5'), newResourceExpired('gone'), list('30', 'a@25'));
    await run();
    server.stream.send('MODIFIED a@12', errorEvent(410, 'Expired'));
    expect(reflector.status.phase).toBe('backing-off');
    await clock.advance(799);
    expect(server.requests).toHaveLength(2);
    await clock.advance(1);
    expect(server.requests.slice(2)).toEqual(['LIST rv=12', 'LIST rv= limit=500', 'WATCH rv=30']);
    expect(keys()).toEqual(['a@25']);
    expect(faults.map((fault) => `${fault.kind} ${fault.verb} ${fault.resourceVersion}`)).toEqual([
      'expired watch 12',
      'expired list 12',
    ]);
    expect(reported).toEqual([]);
  });

  it('waits longer each time a list fails, and tells the error handler each time', async () => {
    server.onList(...Array.from({ length: 4 }, () => newInternalError('down')), list('10'));
    await run();
    for (const wait of [800, 1600, 3200, 6400]) {
      const before = server.requests.length;
      await clock.advance(wait - 1);
      expect(server.requests).toHaveLength(before);
      await clock.advance(1);
    }
    expect(server.listCount).toBe(5);
    expect(reported).toHaveLength(4);
    expect(reflector.status.phase).toBe('watching');
  });

  it('tries a refused watch again with the same version and without a list', async () => {
    server.onList(list('50')).onWatch(refused, refused);
    await run();
    await clock.advance(800 + 1600);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'WATCH rv=50', 'WATCH rv=50', 'WATCH rv=50']);
    expect(reported).toEqual([]);
  });

  it('waits as long as the server asks', async () => {
    server.onList(newTooManyRequests('busy', 60), list('10'));
    await run();
    expect(reflector.status).toMatchObject({ phase: 'backing-off', until: clock.now() + 60_000, attempt: 1 });
    await clock.advance(59_999);
    expect(server.listCount).toBe(1);
    await clock.advance(1);
    expect(server.listCount).toBe(2);
  });

  it('says suspended after three equal refusals, goes on probing and heals', async () => {
    const no = newForbidden({ group: '', resource: 'configmaps' }, '', 'rbac');
    server.onList(no, no, no, list('10', 'a@1'));
    await run();
    await clock.advance(800 + 1600);
    expect(reflector.status).toMatchObject({ phase: 'suspended', fault: { kind: 'forbidden', verb: 'list' } });
    await clock.advance(30_000);
    expect(reflector.status.phase).toBe('watching');
    expect(keys()).toEqual(['a@1']);
  });

  it('leaves the store alone while a relist fails', async () => {
    server.onList(list('10', 'a@5'), newInternalError('x'), list('20', 'b@15'));
    await run();
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(800);
    expect(keys()).toEqual(['a@5']);
    await clock.advance(1600);
    expect(keys()).toEqual(['b@15']);
  });

  it('reports a store that cannot be replaced and keeps its old version', async () => {
    server.onList(list('10', 'a@5'));
    let failures = 1;
    await run(
      {},
      {
        add: (each) => store.add(each),
        update: (each) => store.update(each),
        delete: (each) => store.delete(each),
        replace: (items) => {
          if (failures-- > 0) throw new Error('no room');
          store.replace(items);
        },
      },
    );
    expect(reflector.lastSyncResourceVersion).toBe('');
    expect(faults[0]).toMatchObject({ kind: 'store' });
    await clock.advance(800);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'LIST rv=0 limit=500', 'WATCH rv=10']);
  });

  it('resyncs on its period while it watches, and on no fixed grid after a failure', async () => {
    server.onList(list('10', 'a@5'));
    let resyncs = 0;
    await run(
      { resyncMs: 60_000, idleTimeoutMs: 0 },
      Object.assign(Object.create(store) as ReflectorStore<TestObject>, {
        replace: (items: readonly TestObject[]) => store.replace(items),
        resync: () => {
          if (++resyncs === 3) throw new Error('resync');
        },
      }),
    );
    await clock.advance(120_000);
    expect(resyncs).toBe(2);
    await clock.advance(60_000);
    expect(reflector.status.phase).toBe('backing-off');
    await clock.advance(800);
    expect(server.requests.slice(2)).toEqual(['LIST rv=10', 'WATCH rv=10']);
    await clock.advance(59_999);
    expect(resyncs).toBe(3);
    await clock.advance(1);
    expect(resyncs).toBe(4);
  });

  it('can run once only', async () => {
    await run();
    await expect(reflector.run({ signal: controller.signal })).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
  });

  describe('stop', () => {
    const unanswered = new Promise<never>(() => {});

    it('during a list cancels the request, and what comes late is dropped', async () => {
      server.onList(unanswered);
      await run();
      controller.abort();
      await done;
      expect(server.signals[0]?.aborted).toBe(true);
      expect(server.requests).toHaveLength(1);
      expect(phases.at(-1)).toBe('stopped');
    });

    it('lets what waits for its answer run on in the parity profile, and drops the answer', async () => {
      let answer!: (page: ReturnType<typeof list>) => void;
      server.onList(
        new Promise((resolve) => {
          answer = resolve;
        }),
      );
      await run({ profile: 'client-go-1.30' });
      controller.abort();
      await done;
      expect([server.signals[0]?.aborted, phases.at(-1)]).toEqual([false, 'stopped']);
      answer(list('10', 'a@5'));
      await settle();
      expect([keys(), server.requests.length]).toEqual([[], 1]);
    });

    it.each(['list', 'watch'] as const)(
      'cancels a %s that waits in the parity profile when it is disposed',
      async (verb) => {
        const never = new Promise<never>(() => {});
        if (verb === 'list') server.onList(never);
        else server.onList(list('10')).onWatch(never);
        await run({ profile: 'client-go-1.30' }, store, 'disposed');
        controller.abort();
        await done;
        expect(server.signals.at(-1)?.aborted).toBe(true);
      },
    );

    it('lets a watch that opens run on in the parity profile, and stops its stream', async () => {
      let open!: (stream: TestStream) => void;
      const late = new Promise<TestStream>((resolve) => {
        open = resolve;
      });
      server.onList(list('10')).onWatch(late);
      await run({ profile: 'client-go-1.30' });
      controller.abort();
      await done;
      expect(server.signals.at(-1)?.aborted).toBe(false);
      open(new TestStream());
      await settle();
      expect([server.openStreams, server.signals.at(-1)?.aborted]).toEqual([0, false]);
    });

    it('while a watch is being opened stops the stream that comes late', async () => {
      let open!: (stream: TestStream) => void;
      const late = new Promise<TestStream>((resolve) => {
        open = resolve;
      });
      server.onList(list('10')).onWatch(late);
      await run();
      controller.abort();
      open(new TestStream());
      await done;
      await settle();
      expect(server.openStreams).toBe(0);
    });

    it('during a wait ends at once', async () => {
      server.onList(newInternalError('x'));
      await run();
      controller.abort();
      await done;
      await clock.advance(100_000);
      expect(server.requests).toHaveLength(1);
    });

    it('before the start sends nothing', async () => {
      controller.abort();
      await run();
      expect(server.requests).toEqual([]);
    });

    it('emits nothing afterwards', async () => {
      server.onList(list('10'));
      await run();
      const stream = server.stream;
      controller.abort();
      await done;
      const seen = phases.length;
      stream.send('ADDED a@11');
      expect(keys()).toEqual([]);
      expect(phases).toHaveLength(seen);
    });
  });

  describe('liveness', () => {
    it('drops a stream on which nothing comes, after its timeout and a margin, and goes on from the last version', async () => {
      server.onList(list('10'));
      await run();
      await clock.advance(329_999);
      expect(server.requests).toHaveLength(2);
      await clock.advance(1);
      expect(server.requests).toEqual(['LIST rv=0 limit=500', 'WATCH rv=10', 'WATCH rv=10']);
      expect(faults.map((fault) => fault.kind)).toEqual(['idle']);
    });

    it('is content with three minutes once a bookmark came', async () => {
      server.onList(list('10'));
      await run();
      server.stream.send('BOOKMARK 15');
      await clock.advance(330_000);
      expect(server.requests.slice(1)).toEqual(['WATCH rv=10', 'WATCH rv=15']);
    });

    it('counts from the last byte, whether or not it completed an event', async () => {
      server.onList(list('10'));
      await run({ idleTimeoutMs: 10_000 });
      for (let count = 0; count < 5; count++) {
        await clock.advance(9_000);
        server.stream.trickle();
      }
      expect(server.requests).toHaveLength(2);
      await clock.advance(10_000);
      expect(server.requests).toHaveLength(3);
    });

    it('also bounds the wait for the headers', async () => {
      server.onList(list('10')).onWatch(new Promise<never>(() => {}));
      await run({ idleTimeoutMs: 10_000 });
      await clock.advance(10_000);
      expect(server.requests.slice(1)).toEqual(['WATCH rv=10', 'WATCH rv=10']);
    });
  });

  describe('streaming list', () => {
    it('keeps what comes before the end mark aside, then goes on with the same stream', async () => {
      await run({ initial: 'watch-list' });
      server.stream.send('ADDED a@5', 'ADDED b@6', 'MODIFIED a@7', 'DELETED b@8');
      expect(keys()).toEqual([]);
      expect(reflector.received).toBe(4);
      server.stream.send('BOOKMARK 10 end', 'ADDED c@11');
      expect(keys()).toEqual(['a@7', 'c@11']);
      expect(server.requests).toEqual(['WATCHLIST rv=']);
      expect(reflector.lastSyncResourceVersion).toBe('11');
    });

    it('lists when the end mark does not come, and leaves the streaming list alone for a while', async () => {
      server.onList(list('10', 'a@5'));
      await run({ initial: 'watch-list' });
      server.stream.send('ADDED a@5');
      await clock.advance(10_000);
      expect(server.requests).toEqual(['WATCHLIST rv=', 'LIST rv=0 limit=500', 'WATCH rv=10']);
      expect(faults.map((fault) => fault.kind)).toEqual(['initial-events-timeout']);
      server.stream.send(errorEvent(410, 'Expired'));
      await clock.advance(800);
      expect(server.requests.at(-2)).toBe('LIST rv=10');
    });

    it('lists at once when a bookmark comes without the mark: something on the way takes annotations off', async () => {
      server.onList(list('10', 'a@5'));
      await run({ initial: 'watch-list' });
      server.stream.send('ADDED a@5', 'BOOKMARK 10');
      await settle();
      expect(server.requests).toEqual(['WATCHLIST rv=', 'LIST rv=0 limit=500', 'WATCH rv=10']);
      expect(faults.map((fault) => fault.error?.message)).toEqual([
        'the end mark of the streaming list has lost its annotation',
      ]);
    });

    it('is bounded in total although events keep coming', async () => {
      server.onList(list('10'));
      await run({ initial: 'watch-list', initialEventsTimeoutMs: 30_000 });
      for (let count = 0; count < 6; count++) {
        await clock.advance(5_000);
        if (server.streams.length === 1) server.stream.send(`ADDED a@${count + 1}`);
      }
      await clock.advance(5_000);
      expect(server.requests.slice(0, 2)).toEqual(['WATCHLIST rv=', 'LIST rv=0 limit=500']);
    });
  });

  it('lives through 24 hours of failures in bounded requests', async () => {
    server.onList(...Array.from({ length: 10_000 }, () => newInternalError('down')));
    await run();
    await clock.advance(24 * 3_600_000);
    expect(server.listCount).toBeGreaterThan(1000);
    expect(server.listCount).toBeLessThan(3000);
  });
});
