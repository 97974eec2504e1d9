// A server that was restored from a backup knows less than its clients do: versions go backwards, and those the clients hold are of a
// future that will not come, or not the same way.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@kube-rx/apimachinery';
import { type FakeApiServer, type FakeApiServerOptions, startFakeApiServer } from '@kube-rx/fake-apiserver';
import type { Fault, SharedInformerFactoryOptions, Transport } from '@kube-rx/informer';
import { ConfigMaps, createFetchTransport, KubeClient, RestClient, SharedInformerFactory } from '@kube-rx/informer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { advanceUntil, rest } from './support/pair.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kube-rx-restore-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function setUp(serverOptions: FakeApiServerOptions = {}, options: SharedInformerFactoryOptions = {}) {
  const clock = new VirtualClock();
  const start = (name: string): Promise<FakeApiServer> =>
    startFakeApiServer({ listen: false, clock, dataDir: join(folder, name), ...serverOptions });
  let server = await start('now');
  const transport: Transport = createFetchTransport({ fetch: (url, init) => server.fetch(url, init) });
  const client = new KubeClient(
    new RestClient({ server: 'http://in-process', transport, clock, maxRetries: 0, timeoutMs: 20_000 }),
  );
  const maps = client.resource(ConfigMaps, 'default');
  const factory = new SharedInformerFactory(client, { clock, handlerBuffer: 'unbounded', ...options });
  const informer = factory.informer(ConfigMaps);
  const told: string[] = [];
  const faults: Fault['kind'][] = [];
  informer.handle((event) => {
    if (event.type !== 'synced') told.push(`${event.type} ${event.object.metadata.name}`);
  });
  informer.faults$.subscribe(({ kind }) => faults.push(kind));
  return {
    clock,
    client,
    maps,
    told,
    faults,
    informer,
    backUp: () => cp(join(folder, 'now'), join(folder, 'backup'), { recursive: true }),
    async restore() {
      await server.destroy();
      server = await start('backup');
    },
    async converges(maxMs: number) {
      const wanted = (await maps.list()).items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
      const held = () =>
        informer.store
          .list()
          .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
          .sort();
      await advanceUntil(clock, () => held().join() === wanted.join(), {
        maxMs,
        what: () => `${wanted} wanted, ${held()} held, ${JSON.stringify(informer.status)}`,
      });
    },
    async [Symbol.asyncDispose]() {
      await factory.close();
      await server.destroy();
    },
  };
}

describe('an informer whose server was restored from a backup', () => {
  it.each<[string, FakeApiServerOptions, SharedInformerFactoryOptions]>([
    ['a watch cache', {}, {}],
    ['no watch cache', { watchCache: false }, {}],
    ['a streaming list', { featureGates: { WatchList: true } }, { initial: 'watch-list' }],
    ['a list of any state', {}, { relistFrom: 'any' }],
    ['an informer per namespace', {}, { namespaces: ['default', 'kube-system'] }],
  ])('comes to hold what the restored server holds, with %s', async (_what, serverOptions, options) => {
    await using run = await setUp(serverOptions, options);
    const { maps, informer, clock } = run;
    for (const name of ['kept', 'changed', 'deleted']) await maps.create({ metadata: { name } });
    await run.backUp();
    await advanceUntil(clock, () => informer.hasSynced);
    await maps.patch('changed', { data: { a: '1' } });
    await maps.delete('deleted');
    for (let n = 0; n < 20; n++) await maps.create({ metadata: { name: `late-${n}` } });
    await advanceUntil(clock, () => informer.store.size === 22);
    // Long enough for bookmarks.
    await clock.advance(200_000);
    await run.restore();
    await rest();
    await maps.create({ metadata: { name: 'new' } });
    await run.converges(300_000);
    expect(informer.store.size).toBe(4);
    expect(run.faults).toContain('rv-too-large');
    expect(run.told.slice(-23).sort()).toEqual(
      [
        'added deleted',
        'added new',
        'updated changed',
        ...Array.from({ length: 20 }, (_, n) => `deleted late-${n}`),
      ].sort(),
    );
  });
});
