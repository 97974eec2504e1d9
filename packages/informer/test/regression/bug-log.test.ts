// Public reports against other clients as inputs for ours; the names are those of the reports.
import {
  newResourceExpired,
  newStatusError,
  newTooLargeResourceVersion,
  newTooManyRequests,
  StatusError,
  settle,
  VirtualClock,
} from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../../src/errors.ts';
import type { ReflectorOptions } from '../../src/reflector/reflector-options.ts';
import type { SharedIndexInformerOptions } from '../../src/shared-informer/informer-options.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import {
  errorEvent,
  event,
  list,
  page,
  ScriptedListerWatcher,
  type TestObject,
  TestStream,
} from '../support/scripted-lister-watcher.ts';

describe('reports', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let informer: SharedIndexInformer<TestObject>;
  let seen: string[];
  let faults: string[];
  let reported: string[];

  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    seen = [];
    faults = [];
    reported = [];
  });
  afterEach(async () => {
    await informer.close();
    expect([clock.pendingTimers, server.openStreams]).toEqual([0, 0]);
  });

  async function start(options: SharedIndexInformerOptions<TestObject> & ReflectorOptions = {}): Promise<void> {
    informer = new SharedIndexInformer<TestObject>(server, {
      clock,
      random: () => 0,
      onWatchError: (error) => reported.push(error.message),
      ...options,
    });
    informer.faults$.subscribe((fault) => faults.push(fault.kind));
    informer.handle((each) => {
      if (each.type !== 'synced')
        seen.push(`${each.type} ${each.object.metadata.name}@${each.object.metadata.resourceVersion}`);
    });
    informer.start();
    await settle();
  }
  const watches = (): string[] => server.requests.filter((each) => each.startsWith('WATCH'));

  it('I-03 javascript#596: a half-open connection is found and left, without a list', async () => {
    server.onList(list('5'));
    await start();
    server.stream.send('ADDED a@6');
    await clock.advance(2 * 3_600_000);
    expect(watches().length).toBeGreaterThan(10);
    expect(watches().slice(0, 2)).toEqual(['WATCH rv=5', 'WATCH rv=6']);
    server.stream.send('ADDED b@7');
    expect(seen).toEqual(['added a@6', 'added b@7']);
    expect(server.listCount).toBe(1);
  });

  it('I-04 javascript#3020: a healthy watch is left alone as long as events flow', async () => {
    server.onList(list('5', 'a@5'));
    await start();
    for (let version = 6; version < 126; version++) {
      await clock.advance(5000);
      server.stream.send(`MODIFIED a@${version}`);
    }
    expect(watches()).toHaveLength(1);
  });

  it('I-05 javascript#1933: a server that closes at once causes no storm', async () => {
    server.onList(list('5', 'a@5'));
    await start();
    for (let tick = 0; tick < 1000; tick++) {
      await clock.advance(10);
      server.stream.end();
    }
    expect(server.requests.length).toBeLessThanOrEqual(10);
  });

  it('I-06: a quiet watch that ends after five minutes is opened anew at once, every time', async () => {
    server.onList(list('5'));
    await start();
    for (let count = 1; count <= 20; count++) {
      await clock.advance(300_000);
      server.stream.end();
      await settle();
      expect(server.streams).toHaveLength(count + 1);
    }
    expect(server.listCount).toBe(1);
  });

  it('I-07 javascript#494: one open connection at a time, none after the end', async () => {
    server.onList(list('5'));
    await start();
    for (let version = 6; server.streams.length <= 200; version++) {
      await clock.advance(50);
      expect(server.openStreams).toBeLessThanOrEqual(1);
      server.stream.send(`ADDED o${version}@${version}`);
      server.stream.end();
      await settle();
      expect(server.openStreams).toBeLessThanOrEqual(1);
    }
    expect([seen.length, server.streams.length, server.listCount]).toEqual([201, 201, 1]);
    await informer.close();
    expect(server.openStreams).toBe(0);
  });

  it.each([
    ['(a) during a list that takes long', list('5', 'a@5')],
    ['(b) during a wait', newTooManyRequests('busy', 5)],
  ])('I-08 javascript#956: a stop %s is final, and may be said twice', async (_when, answer) => {
    const slow = new Promise<void>((resolve) => clock.setTimer(resolve, 400));
    server.onList(answer instanceof Error ? answer : slow.then(() => answer));
    await start();
    await Promise.all([informer.close(), informer.close()]);
    await clock.advance(600_000);
    expect([server.requests.length, seen, informer.isStopped]).toEqual([1, [], true]);
  });

  it('I-08 javascript#402: (c) what waited in a stopped run does nothing when a new one has begun', async () => {
    server.onList(newTooManyRequests('busy', 5), list('7', 'a@7'));
    await start();
    await informer.close();
    await start();
    await clock.advance(600);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'LIST rv=0 limit=500', 'WATCH rv=7']);
    await clock.advance(60_000);
    expect([server.requests.length, seen]).toEqual([3, ['added a@7']]);
  });

  it('I-10 javascript#2860: a watch without headers can be aborted', async () => {
    server.onList(list('5')).onWatch(new Promise<TestStream>(() => {}));
    await start();
    await clock.advance(1000);
    await informer.close();
    expect(server.signals.at(-1)?.aborted).toBe(true);
  });

  it('I-13 javascript#680: a handler that throws is reported once, and disturbs neither the others nor the stream', async () => {
    server.onList(list('5', 'a@5'));
    await start();
    const second: string[] = [];
    informer.handle({
      onAdd: (object) => {
        if (object.metadata.name === 'b') throw new Error('no b');
      },
    });
    informer.handle({ onAdd: (object) => void second.push(object.metadata.name) });
    await settle();
    server.stream.send('ADDED b@6', 'ADDED c@7');
    await settle();
    expect(second).toEqual(['a', 'b', 'c']);
    expect(informer.lastSyncResourceVersion).toBe('7');
    expect(faults).toEqual(['handler']);
  });

  it('I-15 kubernetes-fluent-client#979: a list that is throttled is tried until it works', async () => {
    server.onList(...Array.from({ length: 6 }, () => newTooManyRequests('busy', 2)), list('9', 'a@9'));
    await start();
    for (let tries = 1; tries <= 6; tries++) {
      expect(server.listCount).toBe(tries);
      await clock.advance(1999);
      expect(server.listCount).toBe(tries);
      while (server.listCount === tries) await clock.advance(1);
    }
    expect(seen).toEqual(['added a@9']);
    expect(faults.filter((kind) => kind === 'throttled')).toHaveLength(6);
  });

  it('I-16 java-operator-sdk#2526: a watch on a storage that is initialising is tried again without a list', async () => {
    server
      .onList(list('5'))
      .onWatch(...Array.from({ length: 6 }, () => newTooManyRequests('storage is (re)initializing', 1)));
    await start();
    await clock.advance(120_000);
    expect(watches().length).toBe(7);
    expect(server.listCount).toBe(1);
    expect(informer.status.phase).toBe('watching');
  });

  it('I-17 kubernetes#119646: a restart of the server causes no list and no updates', async () => {
    const objects = Array.from({ length: 1000 }, (_, index) => `o${index}@${index + 1}`);
    server
      .onList(list('1001', ...objects))
      .onWatch(new TestStream(), ...Array.from({ length: 5 }, () => new TransportError('REFUSED', 'refused')));
    await start();
    seen.length = 0;
    await clock.advance(60_000);
    server.stream.end(new TransportError('RESET', 'cut'));
    await clock.advance(120_000);
    expect([server.listCount, seen, informer.status.phase]).toEqual([1, [], 'watching']);
    expect(new Set(watches())).toEqual(new Set(['WATCH rv=1001']));
  });

  it('I-18 kubernetes-client/java#1829: 410 in a stream drops it and lists from the last version, then from the newest', async () => {
    server.onList(list('5', 'a@5'), newResourceExpired('x'), list('20', 'a@5', 'b@9'));
    await start();
    server.stream.send(errorEvent(410, 'Expired'));
    expect(server.openStreams).toBe(0);
    await clock.advance(2000);
    expect(server.requests).toEqual([
      'LIST rv=0 limit=500',
      'WATCH rv=5',
      'LIST rv=5',
      'LIST rv= limit=500',
      'WATCH rv=20',
    ]);
    expect(seen).toEqual(['added a@5', 'added b@9']);
    expect(reported).toEqual([]);
  });

  it('I-20 python-base#57: the version never comes from the Status of an ERROR event', async () => {
    server.onList(list('5'));
    await start();
    server.stream.send(errorEvent(500, 'InternalError'));
    await clock.advance(2000);
    expect(server.requests.slice(2)).toEqual(['LIST rv=5', 'WATCH rv=5']);
  });

  it.each([
    ['with its cause', newTooLargeResourceVersion('363', '5', 0)],
    [
      'in words only, as servers of 1.17',
      newStatusError(504, 'Timeout', 'Timeout: Too large resource version: 363, current: 5', {}),
    ],
    [
      'in words in a cause, as servers of 1.18',
      newStatusError(504, 'Timeout', 'Timeout', { causes: [{ message: 'Too large resource version' }] }),
    ],
  ])('I-22 kubernetes#107133: a version that is too large %s is answered by a list without one', async (_, refusal) => {
    server.onList(list('363'), refusal, list('5'));
    await start();
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(2000);
    expect(server.requests.slice(2)).toEqual(['LIST rv=363', 'LIST rv= limit=500', 'WATCH rv=5']);
  });

  it('I-23 kube-rs#219: bookmarks carry a quiet resource past the window', async () => {
    server.onList(list('100'));
    await start();
    server.stream.send('BOOKMARK 4990');
    await clock.advance(60_000);
    server.stream.end();
    await settle();
    expect(server.requests.slice(1)).toEqual(['WATCH rv=100', 'WATCH rv=4990']);
  });

  it('I-23 kube-rs#219: without bookmarks it costs one 410 and one list, and nobody is told of an error', async () => {
    server.onList(list('100', 'a@90'), list('5000', 'a@90'));
    const late = new TestStream();
    late.send(errorEvent(410, 'Expired'));
    server.onWatch(new TestStream(), late);
    await start();
    await clock.advance(60_000);
    server.stream.end();
    await clock.advance(5000);
    expect(server.requests.slice(1)).toEqual(['WATCH rv=100', 'WATCH rv=100', 'LIST rv=100', 'WATCH rv=5000']);
    expect([seen, reported]).toEqual([['added a@90'], []]);
  });

  it('I-25 kube-rs#1615: 410 does not end a consumer of the stream of events', async () => {
    server.onList(list('5', 'a@5'), list('9', 'a@5', 'b@8'));
    await start();
    const types: string[] = [];
    let ended = false;
    informer.events$.subscribe({
      next: (each) => types.push(each.type),
      error: () => (ended = true),
      complete: () => (ended = true),
    });
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(2000);
    expect([types, ended]).toEqual([['added', 'synced', 'added', 'synced'], false]);
  });

  it('I-26 kubernetes-client/python#819: the first watch asks for the version of the list, never of an item', async () => {
    server.onList(list('900', 'old@12', 'new@880'));
    await start();
    expect(watches()).toEqual(['WATCH rv=900']);
  });

  it.each(['last', 'any', 'most-recent'] as const)(
    'I-27 argo-workflows#15106: no choice of where lists begin changes where a watch goes on (%s)',
    async (relistFrom) => {
      server.onList(list('70', 'a@5'), list('90', 'a@5'));
      await start({ relistFrom });
      server.stream.send('MODIFIED a@77');
      await clock.advance(60_000);
      server.stream.end();
      await settle();
      expect(watches()).toEqual(['WATCH rv=70', 'WATCH rv=77']);
      server.stream.send(errorEvent(410, 'Expired'));
      await clock.advance(5000);
      const from = { last: 'LIST rv=77', any: 'LIST rv=0 limit=500', 'most-recent': 'LIST rv= limit=500' }[relistFrom];
      expect(server.requests.slice(-2)).toEqual([from, 'WATCH rv=90']);
    },
  );

  it('I-28 kubernetes#66981: pages whose token expires are dropped for one whole list, delivered once', async () => {
    const names = Array.from({ length: 1200 }, (_, at) => `o${at}@${at + 1}`);
    const { status } = newResourceExpired('The provided continue parameter is too old');
    const expired = new StatusError({ ...status, metadata: { continue: 'goes-on-inconsistently' } });
    server.onList(page('2000', 'page-2', ...names.slice(0, 500)), expired, list('2100', ...names));
    await start();
    expect(server.requests).toEqual([
      'LIST rv=0 limit=500',
      'LIST rv= limit=500 continue=page-2',
      'LIST rv=0',
      'WATCH rv=2100',
    ]);
    expect(seen).toHaveLength(1200);
    expect(new Set(seen).size).toBe(1200);
  });

  it('I-31 kubernetes#74105: whoever hears that a resource is gone can stop', async () => {
    server.onList(
      list('5', 'x@5'),
      newStatusError(404, 'NotFound', 'the server could not find the requested resource'),
    );
    await start();
    informer.faults$.subscribe((fault) => {
      if (fault.kind === 'not-found') void informer.close();
    });
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(200_000);
    expect([informer.isStopped, server.listCount]).toEqual([true, 2]);
  });

  it('I-31 kubernetes#74105: a resource that vanishes is reported and comes back by itself', async () => {
    const gone = newStatusError(404, 'NotFound', 'the server could not find the requested resource');
    server.onList(list('5', 'x@5'), gone, gone, gone, gone, gone, list('40', 'x@40#2'));
    await start();
    server.stream.send('DELETED x@6', errorEvent(410, 'Expired'));
    await clock.advance(200_000);
    expect(seen).toEqual(['added x@5', 'deleted x@6', 'added x@40']);
    expect(faults.filter((kind) => kind === 'not-found')).toHaveLength(5);
    expect(reported).toHaveLength(5);
  });

  it.each(['real', 'delta'] as const)(
    'I-33 kubernetes#86015: what changed while disconnected reaches handlers without resync (%s)',
    async (queue) => {
      server.onList(list('10', 'a@5'), list('20', 'a@9'), list('30', 'a@9'));
      await start({ queue });
      let resyncing = 0;
      informer.handle({ onUpdate: () => void resyncing++ }, { resyncMs: 30_000 });
      for (let count = 0; count < 2; count++) {
        server.stream.send(errorEvent(410, 'Expired'));
        await clock.advance(5000);
      }
      expect(seen).toEqual(['added a@5', 'updated a@9']);
      expect(resyncing).toBe(1);
    },
  );

  it('I-36 longhorn#725: a handler gets the last known object of a missed deletion, flagged, never another type', async () => {
    server.onList(list('10', 'a@5'), list('20'));
    await start();
    const deletions: unknown[] = [];
    informer.handle({ onDelete: (object, unknown) => void deletions.push(object.metadata.name, unknown) });
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(2000);
    expect(deletions).toEqual(['a', true]);
  });

  it.each(['real', 'delta'] as const)(
    'I-37 kubernetes#116432: a transform never meets a tombstone, and the relist completes (%s)',
    async (queue) => {
      server.onList(list('10', 'a@5', 'b@6'), list('20', 'a@5'));
      let calls = 0;
      await start({
        queue,
        resyncMs: 1000,
        transform: (object) => {
          calls++;
          if (object.metadata.uid === undefined) throw new Error('a tombstone');
          return object;
        },
      });
      server.stream.send(errorEvent(410, 'Expired'));
      await clock.advance(5000);
      expect(informer.store.keys()).toEqual(['default/a']);
      expect(calls).toBe(3);
      expect(faults).not.toContain('handler');
    },
  );

  it('I-39 kubernetes#84959: indices keep no values of objects that are gone', async () => {
    server.onList(list('1'));
    await start();
    informer.addIndexers({ name: (each) => [each.metadata.name] });
    const indexValues = (): string[] =>
      (informer.store as never as { indexValues(name: string): string[] }).indexValues('name');
    for (let version = 2; version < 10_002; version++) server.stream.send(`ADDED o${version}@${version}`);
    expect(indexValues()).toHaveLength(10_000);
    for (let version = 2; version < 10_002; version++) server.stream.send(`DELETED o${version}@${version + 20_000}`);
    expect(indexValues()).toEqual([]);
  });

  it('I-40 kubernetes#113763: a registration is synced only when its handler has returned from the last initial object', async () => {
    server.onList(list('1001', ...Array.from({ length: 1000 }, (_, index) => `o${index}@${index + 1}`)));
    await start();
    const initial: boolean[] = [];
    const registration = informer.handle((each) => {
      if (each.type === 'added') initial.push(each.initial);
      return new Promise<void>((resolve) => clock.setTimer(resolve, 1));
    });
    expect([informer.hasSynced, registration.hasSynced]).toEqual([true, false]);
    await clock.advance(999);
    expect(registration.hasSynced).toBe(false);
    await clock.advance(2);
    expect(registration.hasSynced).toBe(true);
    const late = informer.handle(() => new Promise<void>((resolve) => clock.setTimer(resolve, 1)));
    expect(late.hasSynced).toBe(false);
    await clock.advance(1001);
    expect(late.hasSynced).toBe(true);
    server.stream.send('ADDED later@2000');
    await clock.advance(1);
    expect(initial).toEqual([...Array.from({ length: 1000 }, () => true), false]);
  });

  it('I-45 kubernetes-client/python#2228: an object that leaves the selector is told as deleted, as it was selected, at the version of the change', async () => {
    server.onList(list('5', 'a@5'));
    await start();
    const told: unknown[] = [];
    informer.handle({ onDelete: (object, unknown) => void told.push(object.metadata.labels, unknown) });
    const left = event('DELETED a@9');
    const labels = { app: 'x' };
    server.stream.send({
      ...left,
      object: { ...left.object, metadata: { ...left.object.metadata, labels } },
    } as typeof left);
    expect([seen, told]).toEqual([
      ['added a@5', 'deleted a@9'],
      [labels, false],
    ]);
    expect(informer.lastSyncResourceVersion).toBe('9');
  });

  it('O-02: 200,000 objects in one list', async () => {
    const items = Array.from(
      { length: 200_000 },
      (_, index) => event(`ADDED o${index}@${index + 1}`).object as TestObject,
    );
    server.onList({ items, resourceVersion: '200001', continue: '' });
    await start();
    await informer.whenSynced();
    expect(informer.store.list()).toHaveLength(200_000);
  });

  it('O-03 gardener: the list that recovers from 410 is used, and there is no third', async () => {
    server.onList(newResourceExpired('x'), list('9', 'a@9'));
    await start();
    expect(seen).toEqual(['added a@9']);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'LIST rv= limit=500', 'WATCH rv=9']);
  });
});
