// A controller that keeps a Secret for every ConfigMap, on both sides' real code.
import { isAlreadyExists, isNotFound } from '@kube-rx/apimachinery';
import type { Controller } from '@kube-rx/informer';
import {
  ConfigMaps,
  createController,
  elect,
  reconcileWithFinalizer,
  Secrets,
  SharedInformerFactory,
  setControllerReference,
} from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { FaultyTransport } from './support/faulty-transport.ts';
import type { Pair } from './support/pair.ts';
import { advanceUntil, rest, startPair } from './support/pair.ts';
import { seeded } from './support/random.ts';

function mirror(pair: Pair, client = pair.client) {
  const factory = new SharedInformerFactory(client, { clock: pair.clock, random: seeded(1) });
  const maps = factory.informer(ConfigMaps, { namespaces: ['shop'] });
  const secrets = factory.informer(Secrets, { namespaces: ['shop'] });
  const api = client.resource(Secrets, 'shop');
  const controller: Controller = createController({
    name: 'mirror',
    for: maps,
    owns: [secrets],
    concurrency: 3,
    clock: pair.clock,
    async reconcile({ name }, { signal }) {
      const map = maps.store.get(name, 'shop');
      if (map === undefined) return;
      const stringData = { copy: JSON.stringify(map.data ?? {}) };
      const secret = secrets.store.get(name, 'shop');
      if (secret === undefined) {
        const wanted = setControllerReference({ metadata: { name, namespace: 'shop' }, stringData }, map, ConfigMaps);
        // The cache may lag behind a write of ours; the event of that write brings us back.
        await api.create(wanted, { signal }).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
      } else if (atob(secret.data?.['copy'] ?? '') !== stringData.copy) {
        await api.patch(name, { stringData }, { signal }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    },
  });
  return { factory, controller };
}

async function copies(pair: Pair): Promise<Record<string, string>> {
  const { items } = await pair.client.resource(Secrets, 'shop').list();
  return Object.fromEntries(items.map((item) => [item.metadata.name, atob(item.data?.['copy'] ?? '')]));
}

describe('a controller against the server', () => {
  it('makes, repairs and follows what it owns', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const secrets = pair.client.resource(Secrets, 'shop');
    await maps.create({ metadata: { name: 'a' }, data: { x: '1' } });
    const { factory, controller } = mirror(pair);
    const running = controller.run();
    await advanceUntil(pair.clock, async () => (await copies(pair))['a'] === '{"x":"1"}');
    await maps.patch('a', { data: { x: '2' } });
    await advanceUntil(pair.clock, async () => (await copies(pair))['a'] === '{"x":"2"}');
    await secrets.delete('a');
    await advanceUntil(pair.clock, async () => (await copies(pair))['a'] === '{"x":"2"}');
    await secrets.patch('a', { stringData: { copy: 'tampered' } });
    await advanceUntil(pair.clock, async () => (await copies(pair))['a'] === '{"x":"2"}');
    await controller.close();
    await running;
    await factory.close();
  });

  it('cleans up outside the cluster before an object goes, also when it was down meanwhile', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const outside = new Set<string>();
    const makeController = (factory: SharedInformerFactory) => {
      const informer = factory.informer(ConfigMaps);
      return createController({
        name: 'bucket',
        for: informer,
        clock: pair.clock,
        async reconcile({ name, namespace }, context) {
          const map = informer.store.get(name, namespace);
          if (map === undefined || namespace !== 'shop') return undefined;
          return reconcileWithFinalizer(map, context, {
            client: maps,
            finalizer: 'example.com/bucket',
            apply: ({ metadata }) => void outside.add(metadata.name),
            cleanup: ({ metadata }) => void outside.delete(metadata.name),
          });
        },
      });
    };
    const factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const controller = makeController(factory);
    void controller.run();
    for (const name of ['a', 'b']) await maps.create({ metadata: { name } });
    await advanceUntil(pair.clock, () => outside.size === 2);
    await maps.delete('a');
    await advanceUntil(pair.clock, () => outside.size === 1);
    await advanceUntil(pair.clock, async () =>
      (await maps.list()).items.every(({ metadata }) => metadata.name !== 'a'),
    );
    await controller.close();
    await factory.close();
    await maps.delete('b');
    expect((await maps.get('b')).metadata.deletionTimestamp).toBeDefined();
    const later = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const successor = makeController(later);
    void successor.run();
    await advanceUntil(pair.clock, () => outside.size === 0);
    await advanceUntil(pair.clock, async () =>
      (await maps.list()).items.every(({ metadata }) => metadata.name !== 'b'),
    );
    await successor.close();
    await later.close();
  });

  it('comes to the wanted state under faults, and as one of two candidates', async () => {
    await using pair = await startPair();
    for (const namespace of ['shop', 'kube-system']) await pair.createNamespace(namespace);
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const random = seeded(11);
    const networks: FaultyTransport[] = [];
    const members = ['one', 'two'].map((identity) => {
      const network = new FaultyTransport({
        inner: pair.transport,
        clock: pair.clock,
        random,
        requestFaults: 0.15,
        chunkFaults: 0.05,
      });
      networks.push(network);
      const client = pair.connect({ transport: network, timeoutMs: 5000 });
      const { factory, controller } = mirror(pair, client);
      const abort = new AbortController();
      const done = elect(client, {
        lease: { name: 'mirror', namespace: 'kube-system' },
        identity,
        signal: abort.signal,
        random,
      }).whileLeader((leading, fence) => controller.run({ signal: leading, fence }));
      return { abort, done, controller, factory };
    });
    const names = ['a', 'b', 'c', 'd'];
    for (let round = 0; round < 60; round++) {
      const name = names[Math.floor(random() * names.length)]!;
      await maps
        .patch(name, { data: { round: String(round) } })
        .catch(() => maps.create({ metadata: { name }, data: { round: String(round) } }));
      if (round % 20 === 19) await pair.server.restart();
      await pair.clock.advance(1000);
      await rest(2);
    }
    for (const network of networks) network.active = false;
    const wanted = Object.fromEntries(
      (await maps.list()).items.map((map) => [map.metadata.name, JSON.stringify(map.data)]),
    );
    await advanceUntil(
      pair.clock,
      async () => JSON.stringify(sorted(await copies(pair))) === JSON.stringify(sorted(wanted)),
      {
        stepMs: 1000,
        maxMs: 1_200_000,
      },
    );
    for (const { abort } of members) abort.abort();
    let ended = false;
    void Promise.all(members.map(({ done }) => done)).then(() => {
      ended = true;
    });
    await advanceUntil(pair.clock, () => ended);
    for (const { controller, factory } of members) {
      await controller.close();
      await factory.close();
    }
  });
});

const sorted = (record: Record<string, string>): [string, string][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
