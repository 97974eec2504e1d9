// Informers against the server, each bad situation by its cause.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Fault, Informer, InformerStatus } from '@kube-rx/informer';
import {
  ConfigMaps,
  isPodReady,
  Pods,
  SharedInformerFactory,
  TransportError,
  waitForCondition,
} from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import type { Pair } from './support/pair.ts';
import { advanceUntil, rest, startPair } from './support/pair.ts';

function follow(pair: Pair, informer: Informer<KubernetesObject>) {
  const events: string[] = [];
  const faults: Fault[] = [];
  const phases: InformerStatus['phase'][] = [];
  informer.handle((event) => {
    if (event.type !== 'synced') events.push(`${event.type} ${event.object.metadata.name} ${event.cause}`);
  });
  informer.faults$.subscribe((fault) => faults.push(fault));
  informer.status$.subscribe(({ phase }) => phases.push(phase));
  return { events, faults, phases, synced: () => advanceUntil(pair.clock, () => informer.hasSynced) };
}

describe('an informer against the server', () => {
  it('goes on where it was when the server restarts, without a new list', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    await maps.create({ metadata: { name: 'a' } });
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const informer = factory.informer(ConfigMaps);
    const { events, phases, synced } = follow(pair, informer);
    await synced();
    await pair.server.restart();
    await maps.create({ metadata: { name: 'b' } });
    await advanceUntil(pair.clock, () => events.length === 2);
    expect(events).toEqual(['added a list', 'added b watch']);
    expect(phases.filter((phase) => phase === 'listing')).toHaveLength(1);
  });

  it('lists again when the window slid while it was cut off, and tells what it missed', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    for (const name of ['a', 'b']) await maps.create({ metadata: { name } });
    let down = false;
    const transport: typeof pair.transport = {
      async send(request) {
        if (down) throw new TransportError('REFUSED', 'connection refused');
        return pair.transport.send(request);
      },
      close() {},
    };
    const client = pair.connect({ transport });
    await using factory = new SharedInformerFactory(client, { clock: pair.clock });
    const informer = factory.informer(ConfigMaps);
    const { events, faults, synced } = follow(pair, informer);
    await synced();
    down = true;
    await pair.server.restart();
    await maps.delete('a');
    await maps.patch('b', { data: { x: '1' } });
    await maps.create({ metadata: { name: 'c' } });
    await pair.clock.advance(5000);
    await pair.server.compact();
    pair.server.slideWindow('configmaps');
    down = false;
    await advanceUntil(pair.clock, () => informer.store.size === 2 && informer.store.get('c', 'shop') !== undefined);
    expect(events.slice(2).sort()).toEqual(['added c list', 'deleted a list', 'updated b list']);
    expect(faults.map((fault) => fault.kind)).toContain('expired');
  });

  it('keeps a namespace, a label and a field apart from the rest', async () => {
    await using pair = await startPair();
    for (const namespace of ['one', 'two', 'three']) await pair.createNamespace(namespace);
    const create = (namespace: string, name: string, labels: Record<string, string>) =>
      pair.client.resource(ConfigMaps, namespace).create({ metadata: { name, labels } });
    await create('one', 'a', { app: 'web' });
    await create('two', 'b', { app: 'web' });
    await create('three', 'c', { app: 'web' });
    await create('one', 'd', { app: 'db' });
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const selected = factory.informer(ConfigMaps, { namespaces: ['one', 'two'], labelSelector: 'app=web' });
    const single = factory.informer(ConfigMaps, { fieldSelector: 'metadata.name=d' });
    await advanceUntil(pair.clock, () => selected.hasSynced && single.hasSynced);
    expect(selected.store.keys().sort()).toEqual(['one/a', 'two/b']);
    expect(single.store.keys()).toEqual(['one/d']);
    await pair.client.resource(ConfigMaps, 'one').patch('a', { metadata: { labels: { app: 'db' } } });
    await advanceUntil(pair.clock, () => selected.store.size === 1);
    await pair.client.resource(ConfigMaps, 'one').patch('d', { metadata: { labels: { app: 'web' } } });
    await advanceUntil(pair.clock, () => selected.store.get('d', 'one') !== undefined);
  });

  it('streams its first list where the server can, and lists where it cannot', async () => {
    for (const gate of [true, false]) {
      await using pair = await startPair({ featureGates: { WatchList: gate } });
      await pair.createNamespace('shop');
      await pair.client.resource(ConfigMaps, 'shop').create({ metadata: { name: 'a' } });
      await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock, initial: 'watch-list' });
      const informer = factory.informer(ConfigMaps);
      const { phases, synced, events } = follow(pair, informer);
      await synced();
      expect(phases).toContain('streaming-initial');
      expect(phases.includes('listing')).toBe(!gate);
      expect(events).toEqual(['added a list']);
    }
  });

  it('stays connected for hours by bookmarks and reconnects, without a list', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const informer = factory.informer(ConfigMaps);
    const { phases, faults, synced } = follow(pair, informer);
    await synced();
    for (let minute = 0; minute < 120; minute++) {
      await pair.client.rest.json({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { metadata: { generateName: 'other-' } },
      });
      await pair.clock.advance(60_000);
      await rest(2);
    }
    expect(phases.filter((phase) => phase === 'listing')).toHaveLength(1);
    expect(phases.filter((phase) => phase === 'connecting').length).toBeGreaterThan(10);
    expect(faults).toEqual([]);
    expect(Number(informer.lastSyncResourceVersion)).toBeGreaterThan(100);
  });

  it('reads what was just written', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const informer = factory.informer(ConfigMaps);
    const { synced } = follow(pair, informer);
    await synced();
    for (let n = 0; n < 5; n++) {
      const { metadata } = await maps.create({ metadata: { name: `a${n}` } });
      let seen = false;
      const waiting = informer.whenSynced({ requireVersion: metadata.resourceVersion }).then(() => {
        seen = true;
      });
      await advanceUntil(pair.clock, () => seen);
      await waiting;
      expect(informer.store.get(`a${n}`, 'shop')?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    }
  });

  it('waits for one object through a restart', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const pods = pair.client.resource(Pods, 'shop');
    let ready = false;
    const waiting = waitForCondition(pods, 'web', isPodReady, { clock: pair.clock }).then((pod) => {
      ready = true;
      return pod;
    });
    await rest();
    await pods.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } });
    await pair.server.restart();
    await pods.patchStatus(
      'web',
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      { type: 'strategic' },
    );
    await advanceUntil(pair.clock, () => ready);
    expect((await waiting)?.metadata.name).toBe('web');
  });

  it('warns of no leak, however many namespaces it has', async () => {
    await using pair = await startPair();
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', onWarning);
    try {
      const namespaces = Array.from({ length: 30 }, (_, index) => `ns-${index}`);
      await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
      const informer = factory.informer(ConfigMaps, { namespaces });
      await advanceUntil(pair.clock, () => informer.hasSynced);
      await factory.close();
      // Node tells of them in a later turn.
      await rest();
    } finally {
      process.off('warning', onWarning);
    }
    expect(warnings).toEqual([]);
  });
});
