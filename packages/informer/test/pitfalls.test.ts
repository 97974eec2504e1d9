// What goes wrong in clients of this kind, each with the rule that keeps it from going wrong here.
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListWatch } from '../src/rest/list-watch.ts';
import { defineResource } from '../src/rest/resource-type.ts';
import { RestClient } from '../src/rest/rest-client.ts';
import { SharedIndexInformer } from '../src/shared-informer/shared-index-informer.ts';
import { MemoryBody } from './support/memory-body.ts';
import { errorEvent, list, object, ScriptedListerWatcher, type TestObject } from './support/scripted-lister-watcher.ts';

const ConfigMaps = defineResource<TestObject>()({
  apiVersion: 'v1' as never,
  kind: 'ConfigMap' as never,
  plural: 'configmaps',
  scope: 'Namespaced',
});

describe('a long list', () => {
  it('lets the event loop run while it is decoded, and reports progress', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({
      metadata: { name: `o${index}`, resourceVersion: '1' },
      data: { pad: 'x'.repeat(200) },
    }));
    const body = new MemoryBody();
    body.write(JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items }));
    body.end();
    const transport = { send: async () => ({ status: 200, headers: {}, body }), close() {} };
    const listWatch = new ListWatch<TestObject>(
      new RestClient({ server: 'http://memory.test', transport }),
      ConfigMaps,
    );
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const progress: number[] = [];
    const result = await listWatch.list(
      {},
      { signal: new AbortController().signal, onItems: (more) => progress.push(more) },
    );
    running = false;
    expect(result.items).toHaveLength(20_000);
    expect(progress.reduce((sum, each) => sum + each, 0)).toBe(20_000);
    expect(progress.length).toBeGreaterThan(20);
    expect(turns).toBeGreaterThan(8);
  });
});

describe('an informer', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let informer: SharedIndexInformer<TestObject>;
  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    informer = new SharedIndexInformer<TestObject>(server, { clock, random: () => 0 });
  });
  afterEach(() => informer.close());

  it('keeps one listener on the signal of its owner, however many requests it makes', async () => {
    const warnings: string[] = [];
    const warn = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', warn);
    server.onList(list('5'));
    const controller = new AbortController();
    const done = informer.run({ signal: controller.signal });
    for (let version = 6; version < 106; version++) {
      await settle();
      server.stream.send(`ADDED o${version}@${version}`);
      await clock.advance(6000);
      server.stream.end();
    }
    controller.abort();
    await done;
    await settle();
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('keeps running when its last subscriber leaves, and lists no second time for the next', async () => {
    server.onList(list('5', 'a@5'));
    informer.start();
    await settle();
    for (let count = 0; count < 5; count++) informer.events$.subscribe().unsubscribe();
    await settle();
    expect(server.requests).toHaveLength(2);
    expect(server.openStreams).toBe(1);
  });

  it('compares versions that no number can hold', async () => {
    const before = '90071992547409931234';
    server.onList(list(before));
    informer.start();
    await settle();
    let caughtUp = false;
    const wait = informer.whenSynced({ requireVersion: '90071992547409931236' }).then(() => {
      caughtUp = true;
    });
    server.stream.send('ADDED a@90071992547409931235');
    await settle();
    expect(caughtUp).toBe(false);
    server.stream.send('ADDED b@90071992547409931236');
    await wait;
  });

  it('can be disposed from inside a handler, and delivers nothing more', async () => {
    server.onList(list('5', 'a@1', 'b@2', 'c@3'));
    const seen: string[] = [];
    let closed: Promise<void> | undefined;
    informer.handle((event) => {
      seen.push(event.type);
      closed ??= informer.close();
    });
    const other: string[] = [];
    informer.handle((event) => void other.push(event.type));
    informer.start();
    await settle();
    await closed;
    expect(seen).toEqual(['added']);
    expect(other.length).toBeLessThanOrEqual(1);
    expect(server.openStreams).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('stops although a handler never returns', async () => {
    server.onList(list('5', 'a@1', 'b@2'));
    let calls = 0;
    informer.handle(() => {
      calls++;
      return new Promise<void>(() => {});
    });
    informer.start();
    await settle();
    await informer.close();
    expect(calls).toBe(1);
    expect(informer.isStopped).toBe(true);
  });

  // Upstream test: client-go@v0.37.2:tools/cache/reflector_test.go#TestReflectorReplacesStoreOnUnsafeDelete
  it('lists when the server says that it cannot read what it stores, and lets go of what the list no longer holds', async () => {
    server.onList(list('10', 'a@5', 'corrupt@6'), list('20', 'a@5'));
    const seen: string[] = [];
    informer.handle((event) => {
      if (event.type === 'deleted') seen.push(`${event.object.metadata.name} ${event.finalState}`);
    });
    informer.start();
    await settle();
    const status = errorEvent(500, 'StorageReadError' as never);
    server.stream.send(status);
    await clock.advance(2000);
    expect(server.requests.slice(2)).toEqual(['LIST rv=10', 'WATCH rv=20']);
    expect([informer.store.keys(), seen]).toEqual([['default/a'], ['corrupt unknown']]);
  });

  it('survives an object whose keys are names of object properties', async () => {
    const odd = {
      ...object('__proto__@6'),
      data: JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>,
    };
    server.onList({ items: [odd], resourceVersion: '6', continue: '' });
    informer.start();
    await settle();
    server.stream.send('MODIFIED constructor@7', 'DELETED toString@8');
    expect(informer.store.keys()).toEqual(['default/__proto__', 'default/constructor']);
    expect(Object.keys(informer.store.get('__proto__', 'default')?.data ?? {})).toEqual(['__proto__', 'constructor']);
  });
});
