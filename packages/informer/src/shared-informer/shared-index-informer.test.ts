import { newForbidden, newInternalError, settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { line } from '../../test/support/event-line.ts';
import {
  errorEvent,
  list,
  object,
  ScriptedListerWatcher,
  type TestObject,
} from '../../test/support/scripted-lister-watcher.ts';
import type { Fault } from '../reflector/informer-status.ts';
import type { SharedIndexInformerOptions } from './informer-options.ts';
import { SharedIndexInformer } from './shared-index-informer.ts';

describe('SharedIndexInformer', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let informer: SharedIndexInformer<TestObject, 'version'>;
  let faults: Fault[];

  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    faults = [];
  });
  afterEach(async () => {
    await informer.close();
    expect(clock.pendingTimers).toBe(0);
    expect(server.openStreams).toBe(0);
  });

  function create(
    options: SharedIndexInformerOptions<TestObject, 'version'> = {},
  ): SharedIndexInformer<TestObject, 'version'> {
    informer = new SharedIndexInformer<TestObject, 'version'>(server, {
      clock,
      random: () => 0,
      name: 'configmaps',
      idleTimeoutMs: 0,
      ...options,
    });
    informer.faults$.subscribe((fault) => faults.push(fault));
    return informer;
  }
  const start = async (): Promise<void> => {
    informer.start();
    await settle();
  };
  const record = (options = {}): string[] => {
    const seen: string[] = [];
    informer.handle((event) => void seen.push(line(event)), options);
    return seen;
  };
  const relist = async (resourceVersion: string, ...items: string[]): Promise<void> => {
    server.onList(list(resourceVersion, ...items));
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(60_000);
  };

  it('tells the first list as initial, then what the watch says', async () => {
    server.onList(list('10', 'a@5', 'b@6'));
    create();
    const seen = record();
    await start();
    server.stream.send('ADDED c@11', 'MODIFIED a@12', 'DELETED b@13');
    expect(seen).toEqual([
      'add a@5 initial',
      'add b@6 initial',
      'synced 2 first',
      'add c@11',
      'update a@5->12',
      'delete b@13',
    ]);
    expect(informer.hasSynced).toBe(true);
    expect(informer.lastSyncResourceVersion).toBe('13');
  });

  it('writes the store before it tells', async () => {
    server.onList(list('10', 'a@5'));
    create();
    const seen: (string | undefined)[] = [];
    informer.handle((event) => {
      if (event.type !== 'synced')
        seen.push(informer.store.get('a', 'default')?.metadata.resourceVersion, informer.lastSyncResourceVersion);
    });
    await start();
    server.stream.send('MODIFIED a@12', 'DELETED a@13');
    expect(seen).toEqual(['5', '10', '12', '12', undefined, '13']);
  });

  it('concludes deletions from a relist, and tells a replaced object as recreated', async () => {
    server.onList(list('10', 'a@5', 'b@6', 'c@7'));
    create();
    const seen = record();
    await start();
    seen.length = 0;
    await relist('20', 'a@5', 'c@15#2', 'd@16');
    expect(seen).toEqual(['delete b@6 unknown', 'update c@7->15 recreated', 'add d@16', 'synced 3']);
  });

  it('says nothing about what a relist or a repeated event did not change, unless told to', async () => {
    server.onList(list('10', 'a@5'));
    create();
    const seen = record();
    await start();
    server.stream.send('ADDED a@5');
    await relist('20', 'a@5');
    expect(seen).toEqual(['add a@5 initial', 'synced 1 first', 'synced 1']);
    await informer.close();
    server = new ScriptedListerWatcher().onList(list('10', 'a@5'));
    create({ emitUnchanged: true });
    const all = record();
    await start();
    server.stream.send('ADDED a@5');
    expect(all.at(-1)).toBe('update a@5->5');
  });

  it('is silent about the deletion of what it never had', async () => {
    create();
    const seen = record();
    await start();
    server.stream.send('DELETED x@5', 'ADDED y@6', 'DELETED y@7', 'DELETED y@8');
    expect(seen.slice(1)).toEqual(['add y@6', 'delete y@7']);
  });

  describe('handlers', () => {
    it('that come late get the store first and miss nothing', async () => {
      server.onList(list('10', 'a@5'));
      create();
      await start();
      server.stream.send('ADDED b@11');
      const late = record();
      server.stream.send('ADDED c@12');
      expect(late).toEqual(['add a@5 initial', 'add b@11 initial', 'synced 2 first', 'add c@12']);
    });

    it('added from inside a handler see each object once', async () => {
      server.onList(list('10', 'a@5', 'b@6'));
      create();
      let inner: string[] | undefined;
      informer.handle((event) => {
        if (event.type === 'added' && inner === undefined) inner = record();
      });
      await start();
      expect(inner).toEqual(['add a@5 initial', 'add b@6 initial', 'synced 2 first']);
    });

    it('that throw or reject are reported by name and key, and neither stop nor disturb the others', async () => {
      server.onList(list('10', 'a@5'));
      create();
      informer.handle(
        () => {
          throw new Error('no');
        },
        { name: 'bad' },
      );
      informer.handle(() => Promise.reject(new Error('later')), { name: 'worse' });
      const seen = record();
      await start();
      server.stream.send('ADDED b@11');
      await settle();
      expect(seen).toEqual(['add a@5 initial', 'synced 1 first', 'add b@11']);
      const own = faults.map((fault) => fault.error?.message);
      expect(own.filter((text) => text?.startsWith('bad failed for'))).toHaveLength(3);
      expect(own.filter((text) => text?.startsWith('worse failed for'))).toHaveLength(3);
      expect(informer.lastSyncResourceVersion).toBe('11');
    });

    it('may stop themselves, or the informer, when they throw', async () => {
      server.onList(list('10', 'a@5'));
      create();
      let calls = 0;
      informer.handle(
        () => {
          calls++;
          throw new Error('x');
        },
        { onError: 'stop-handler' },
      );
      await start();
      server.stream.send('ADDED b@11');
      expect(calls).toBe(1);
      expect(informer.isStopped).toBe(false);
      informer.handle(
        () => {
          throw new Error('x');
        },
        { onError: 'stop-informer' },
      );
      await settle();
      expect(informer.isStopped).toBe(true);
    });

    it('run one event at a time when they are async', async () => {
      server.onList(list('10', 'a@1', 'b@2', 'c@3'));
      create();
      const order: string[] = [];
      informer.handle(async (event) => {
        if (event.type === 'synced') return;
        order.push(`start ${event.object.metadata.name}`);
        await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
        order.push(`end ${event.object.metadata.name}`);
      });
      await start();
      await clock.advance(1000);
      expect(order).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c']);
    });

    it('get nothing after they are removed; removal waits for the running call', async () => {
      server.onList(list('10', 'a@1', 'b@2'));
      create();
      const seen: string[] = [];
      const registration = informer.handle(async (event) => {
        seen.push(line(event));
        await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
      });
      await start();
      let removed = false;
      const removal = registration.remove().then(() => {
        removed = true;
      });
      await settle();
      expect(removed).toBe(false);
      await clock.advance(100);
      await removal;
      server.stream.send('ADDED c@11');
      expect(seen).toEqual(['add a@1 initial']);
    });

    it('can remove themselves from inside, and be removed twice', async () => {
      server.onList(list('10', 'a@1', 'b@2'));
      create();
      let calls = 0;
      const registration = informer.handle(() => {
        calls++;
        void registration.remove();
      });
      await start();
      expect(calls).toBe(1);
      await registration.remove();
      await registration[Symbol.asyncDispose]();
    });

    // Upstream test: client-go@v0.30.3:tools/cache/shared_informer_test.go#TestSharedInformerMultipleRegistration
    it('count once for each time they are added, and can be removed after the end', async () => {
      create();
      let calls = 0;
      const handler = (): void => void calls++;
      const [first, second] = [informer.handle(handler), informer.handle(handler)];
      await start();
      expect(calls).toBe(2);
      await first.remove();
      server.stream.send('ADDED a@11');
      expect(calls).toBe(3);
      await informer.close();
      await second.remove();
    });

    it('leave with their signal', async () => {
      create();
      const controller = new AbortController();
      const seen = record({ signal: controller.signal });
      await start();
      controller.abort();
      server.stream.send('ADDED a@11');
      expect(seen).toEqual(['synced 0 first']);
    });

    it('are refused after the end', async () => {
      create();
      await start();
      await informer.close();
      expect(() => informer.handle(() => {})).toThrow(/not added/);
      await expect(informer.run({ signal: new AbortController().signal })).rejects.toMatchObject({ code: 'STOPPED' });
    });

    it('that are slow are joined per object and end at the last state', async () => {
      server.onList(list('10', 'a@1'));
      create({ handlerBuffer: { max: 2, overflow: 'conflate' } });
      const seen: string[] = [];
      let release: () => void = () => {};
      const registration = informer.handle((event) => {
        seen.push(line(event));
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      });
      await start();
      server.stream.send('ADDED b@11', 'ADDED c@12', 'DELETED b@13', 'DELETED a@14', 'ADDED a@15#2');
      for (let version = 100; version < 200; version++)
        server.stream.send(`MODIFIED a@${version}#2`, `MODIFIED c@${version}`);
      expect(registration.pending).toBeLessThanOrEqual(6);
      for (let count = 0; count < 10; count++) {
        release();
        await settle();
      }
      expect(seen[0]).toBe('add a@1 initial');
      expect(seen.filter((each) => each.includes('b@'))).toEqual([]);
      expect(seen.some((each) => each.startsWith('update a@') && each.endsWith('recreated'))).toBe(true);
      expect(seen.filter((each) => each.includes(' a@') && /(->|@)199/.test(each))).toHaveLength(1);
      expect(seen.filter((each) => each.includes(' c@') && /(->|@)199/.test(each))).toHaveLength(1);
      expect(registration.hasSynced).toBe(true);
    });
  });

  describe('synced', () => {
    it('is true for the informer before it is for a slow handler', async () => {
      server.onList(list('10', 'a@1', 'b@2'));
      create();
      const registration = informer.handle(() => new Promise<void>((resolve) => clock.setTimer(resolve, 100)));
      let handlerSynced = false;
      void registration.whenSynced().then(() => {
        handlerSynced = true;
      });
      await start();
      await informer.whenSynced();
      expect([informer.hasSynced, registration.hasSynced, handlerSynced]).toEqual([true, false, false]);
      await clock.advance(199);
      expect(registration.hasSynced).toBe(false);
      await clock.advance(1);
      expect([registration.hasSynced, handlerSynced]).toEqual([true, true]);
      await clock.advance(100);
    });

    it('names the last fault when a wait is given up', async () => {
      server.onList(newForbidden({ group: '', resource: 'configmaps' }, '', 'no rights'), newInternalError('x'));
      create();
      await start();
      const controller = new AbortController();
      const wait = informer.whenSynced({ signal: controller.signal });
      controller.abort();
      await expect(wait).rejects.toThrow(/configmaps: not synced .*last fault: forbidden \(list: .*no rights/);
    });

    it('can fail fast on a refusal', async () => {
      const no = newForbidden({ group: '', resource: 'configmaps' }, '', 'no');
      server.onList(no, no, no, no);
      create();
      await start();
      const wait = expect(informer.whenSynced({ failFast: ['forbidden'] })).rejects.toMatchObject({
        code: 'SYNC_REFUSED',
      });
      await clock.advance(10_000);
      await wait;
    });

    it('rejects when the informer stops first, and after a time limit', async () => {
      server.onList(new Promise<never>(() => {}));
      create();
      await start();
      const limited = expect(informer.whenSynced({ timeoutMs: 1000 })).rejects.toMatchObject({ code: 'TIMED_OUT' });
      await clock.advance(1000);
      await limited;
      const stopped = expect(informer.whenSynced()).rejects.toMatchObject({ code: 'NOT_SYNCED' });
      await informer.close();
      await stopped;
    });

    it('waits for a version that was just written, also when a bookmark brings it', async () => {
      server.onList(list('10'));
      create();
      await start();
      const order: string[] = [];
      const wait = (version: string) =>
        informer.whenSynced({ requireVersion: version }).then(() => order.push(version));
      const waits = [wait('12'), wait('9'), wait('100')];
      await settle();
      expect(order).toEqual(['9']);
      server.stream.send('ADDED a@12');
      await settle();
      expect(order).toEqual(['9', '12']);
      server.stream.send('BOOKMARK 100');
      await Promise.all(waits);
      const late = expect(informer.whenSynced({ requireVersion: '101' })).rejects.toMatchObject({ code: 'TIMED_OUT' });
      await clock.advance(5000);
      await late;
    });

    it('waitFor resolves when its predicate is true of a synced store', async () => {
      server.onList(list('10', 'a@1'));
      create();
      const wait = informer.waitFor((store) => store.size === 2);
      await start();
      let done = false;
      void wait.then(() => {
        done = true;
      });
      await settle();
      expect(done).toBe(false);
      server.stream.send('ADDED b@11');
      await wait;
      const never = expect(informer.waitFor(() => false)).rejects.toMatchObject({ code: 'NOT_SYNCED' });
      const broken = expect(
        informer.waitFor((store) => (store.size > 2 ? Boolean(JSON.parse('{')) : false)),
      ).rejects.toThrow(SyntaxError);
      server.stream.send('ADDED c@12');
      await broken;
      await informer.close();
      await never;
    });
  });

  it('freezes what it caches when told so', async () => {
    server.onList(list('10', 'a@5'));
    create({ freeze: 'deep' });
    await start();
    const cached = informer.store.get('a', 'default')!;
    expect(() => Object.assign(cached.metadata, { name: 'x' })).toThrow(TypeError);
  });

  it('merges several namespaces into one store, each with its own list and watch', async () => {
    const other = new ScriptedListerWatcher().onList(list('30', 'two/b@21'));
    server.onList(list('10', 'one/a@5'));
    informer = new SharedIndexInformer<TestObject, 'version'>(
      [
        { namespace: 'one', listerWatcher: server },
        { namespace: 'two', listerWatcher: other },
      ],
      { clock, random: () => 0 },
    );
    const seen = record();
    await start();
    expect(seen).toEqual(['add a@5 initial', 'add b@21 initial', 'synced 2 first']);
    other.onList(list('40'));
    other.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(10_000);
    expect(seen.at(-2)).toBe('delete b@21 unknown');
    expect(informer.store.keys()).toEqual(['one/a']);
    expect(informer.lastSyncResourceVersion).toBe('10');
    expect(informer.status.phase).toBe('watching');
    await informer.close();
    expect(other.openStreams).toBe(0);
  });

  it('runs until its signal aborts, drops what is undelivered and keeps the store readable', async () => {
    server.onList(list('10', 'a@5'));
    create();
    const phases: string[] = [];
    informer.status$.subscribe((status) =>
      phases.push(status.phase === 'stopped' ? `stopped ${status.reason}` : status.phase),
    );
    const controller = new AbortController();
    const done = informer.run({ signal: controller.signal });
    await settle();
    controller.abort();
    await done;
    expect(phases.at(-1)).toBe('stopped aborted');
    expect(informer.store.keys()).toEqual(['default/a']);
    expect(informer.isStopped).toBe(true);
    expect(() => informer.addIndexers({})).toThrow(/stopped/);
  });

  it('can be closed before it ever ran', async () => {
    create();
    const seen = record();
    await informer.close();
    await informer.close();
    expect(seen).toEqual([]);
    expect(server.requests).toEqual([]);
    expect(informer.status).toEqual({ phase: 'stopped', reason: 'disposed' });
    expect(object('a@1').kind).toBe('ConfigMap');
  });
});
