import { everythingFields, everythingLabels, settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { overrideProfile, type Profile } from '../profiles/profile.ts';
import { v1_30 } from '../profiles/v1-30.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { StorageListOptions, StorageWatch } from '../storage/interfaces.ts';
import type { ResourceStorageConfig } from '../storage/storage-factory.ts';
import { createStorageFactory, isCached } from './build-storage.ts';
import { MetricsRegistry } from './metrics.ts';

const config = (cached: boolean, resource = 'configmaps'): ResourceStorageConfig => ({
  groupResource: { group: '', resource },
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespaced: true,
  resourcePrefix: `/registry/${resource}`,
  getAttributes: ({ metadata }) => ({
    labels: metadata.labels,
    fields: { 'metadata.name': metadata.name ?? '', 'metadata.namespace': metadata.namespace ?? '' },
  }),
  codec: {
    encode: (object) => {
      const { resourceVersion: _, ...metadata } = object.metadata;
      return Buffer.from(JSON.stringify({ ...object, metadata }));
    },
    decode: (bytes) => JSON.parse(bytes.toString()) as ApiObject,
  },
  cached,
});

const configMap = (namespace: string, name: string, data: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, uid: `uid-${name}` },
  data,
});

const everything = (more: Partial<StorageListOptions> = {}): StorageListOptions => ({
  predicate: {
    label: everythingLabels,
    field: everythingFields,
    getAttributes: config(true).getAttributes,
    limit: 0,
    continue: '',
    allowWatchBookmarks: false,
  },
  ...more,
});

function read(watch: StorageWatch): string[] {
  const lines: string[] = [];
  for (let event = watch.next(); event !== undefined; event = watch.next()) {
    lines.push(
      event.type === 'ERROR'
        ? `ERROR ${event.status.message}`
        : `${event.type} ${event.object.object.metadata.name ?? ''} ${event.object.object.metadata.resourceVersion}`,
    );
  }
  return lines;
}

function setUp(options: { readonly cached?: boolean; readonly profile?: Profile } = {}) {
  const clock = new VirtualClock();
  const etcd = new EmbeddedEtcd({ clock });
  const backend = createStorageFactory({ etcd, clock, random: () => 0.5, profile: options.profile });
  const storage = backend.create(config(options.cached ?? true));
  return { clock, etcd, backend, storage };
}

describe('createStorageFactory', () => {
  it('serves a list and the watch that follows it from the cache', async () => {
    const { backend, storage } = setUp();
    await backend.whenReady();
    await storage.create('/registry/configmaps/default/a', configMap('default', 'a'));
    const list = await storage.getList('/registry/configmaps/default', everything({ resourceVersion: '0' }));
    expect(list.items.map(({ object }) => object.metadata.name)).toEqual(['a']);
    expect(list.resourceVersion).toBe('2');
    const watch = await storage.watch('/registry/configmaps/default', everything({ resourceVersion: '2' }));
    await storage.create('/registry/configmaps/default/b', configMap('default', 'b'));
    await storage.guaranteedUpdate('/registry/configmaps/default/b', () => ({
      object: configMap('default', 'b', { k: 'v' }),
    }));
    await storage.delete('/registry/configmaps/default/b');
    expect(read(watch)).toEqual(['ADDED b 3', 'MODIFIED b 4', 'DELETED b 5']);
    await backend.close();
    expect(watch.done).toBe(true);
  });

  it('forgets the past of one resource when its window is slid', async () => {
    const { backend, storage } = setUp();
    await backend.whenReady();
    for (const name of ['a', 'b', 'c']) await storage.create(`/registry/configmaps/x/${name}`, configMap('x', name));
    backend.slideWindow('configmaps');
    const late = await storage.watch('/registry/configmaps', everything({ resourceVersion: '3' }));
    expect(read(late)).toEqual(['ERROR too old resource version: 3 (4)']);
    expect(late.done).toBe(true);
    const fresh = await storage.watch('/registry/configmaps', everything({ resourceVersion: '4' }));
    expect(read(fresh)).toEqual([]);
    expect((await backend.inspect()).caches[0]).toMatchObject({
      resource: 'configmaps',
      state: 'ready',
      objects: 3,
      ring: { start: 3, end: 3, size: 0, capacity: 100 },
      oldestResourceVersion: '4',
    });
    expect(() => backend.slideWindow('secrets')).toThrow('a resource with a watch cache');
    await backend.close();
  });

  it('ends the watches of a resource that is initialized again, and refuses their old versions', async () => {
    const { backend, clock, storage } = setUp();
    await backend.whenReady();
    await storage.create('/registry/configmaps/x/a', configMap('x', 'a'));
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '2' }));
    backend.reinitialize('configmaps');
    await settle();
    await storage.create('/registry/configmaps/x/b', configMap('x', 'b'));
    expect(watch.done).toBe(false);
    await clock.advance(1000);
    expect(watch.done).toBe(true);
    const again = await storage.watch('/registry/configmaps', everything({ resourceVersion: '2' }));
    expect(read(again)).toEqual(['ERROR too old resource version: 2 (3)']);
    await backend.close();
  });

  it('answers with the texts of etcd when a resource has no cache', async () => {
    const { backend, storage } = setUp({ cached: false });
    for (const name of ['a', 'b', 'c']) await storage.create(`/registry/configmaps/x/${name}`, configMap('x', name));
    await backend.compact();
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '2' }));
    await settle();
    expect(read(watch)).toEqual(['ERROR The resourceVersion for the provided watch is too old.']);
    const zero = await storage.watch('/registry/configmaps', everything({ resourceVersion: '0' }));
    await settle();
    expect(read(zero)).toEqual(['ADDED a 2', 'ADDED b 3', 'ADDED c 4']);
    await backend.close();
    expect(zero.done).toBe(true);
  });

  it('watches from now without a version where that is asked for, without a cache too', async () => {
    const profile = overrideProfile(v1_30, { behaviours: { emptyResourceVersionWatch: 'from-now' } });
    const { backend, storage } = setUp({ cached: false, profile });
    await storage.create('/registry/configmaps/x/a', configMap('x', 'a'));
    const unset = await storage.watch('/registry/configmaps', everything());
    const zero = await storage.watch('/registry/configmaps', everything({ resourceVersion: '0' }));
    await settle();
    await storage.create('/registry/configmaps/x/b', configMap('x', 'b'));
    await settle();
    expect([read(unset), read(zero)]).toEqual([['ADDED b 3'], ['ADDED a 2', 'ADDED b 3']]);
    await backend.close();
  });

  it('follows the switches of the command line in what it caches', async () => {
    const etcd = new EmbeddedEtcd();
    const sizes = new Map([
      ['events', 100],
      ['configmaps', 0],
    ]);
    const backend = createStorageFactory({ etcd, random: () => 0.5, watchCacheSizes: sizes });
    for (const [resource, cached] of [
      ['events', false],
      ['configmaps', true],
      ['secrets', true],
    ] as const) {
      backend.create(config(cached, resource));
    }
    const { caches, uncached } = await backend.inspect();
    expect([caches.map(({ resource }) => resource), uncached]).toEqual([['events', 'secrets'], ['configmaps']]);
    expect(isCached(config(true), { watchCache: false, watchCacheSizes: new Map([['configmaps', 5]]) })).toBe(false);
    await backend.close();
    expect(await backend.inspect()).toMatchObject({ caches: [], uncached: [] });
  });

  it('leaves nothing running once it is closed', async () => {
    const { backend, clock, etcd, storage } = setUp();
    backend.compactor.start();
    await backend.whenReady();
    await storage.watch('/registry/configmaps', everything({ resourceVersion: '0' }));
    await backend.close();
    expect(etcd.watchers).toBe(0);
    await etcd.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a reader of a resource without a cache', () => {
  it('that does not read makes its watch stop reading etcd, and gets everything later', async () => {
    const etcd = new EmbeddedEtcd();
    const metrics = new MetricsRegistry();
    const backend = createStorageFactory({ etcd, random: () => 0.5, metrics });
    const storage = backend.create(config(false));
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '1' }));
    for (let i = 0; i < 1000; i++) await storage.create(`/registry/configmaps/x/${i}`, configMap('x', String(i)));
    await settle();
    expect(metrics.render()).toContain('apiserver_storage_events_received_total{resource="configmaps"} 200\n');
    const lines: string[] = [];
    for (let i = 0; i < 20; i++) {
      lines.push(...read(watch));
      await settle();
    }
    expect(lines).toEqual(Array.from({ length: 1000 }, (_, i) => `ADDED ${i} ${i + 2}`));
    await backend.close();
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/etcd3/watcher_test.go#TestWatchChanSync
  it('gets a present state of more than a page whole, as it was at one revision', async () => {
    const { backend, storage, etcd } = setUp({ cached: false });
    const nameOf = (i: number): string => String(i).padStart(5, '0');
    const key = (i: number): string => `/registry/configmaps/x/${nameOf(i)}`;
    for (let i = 0; i < 10_050; i++) {
      const put = { op: 'put' as const, key: key(i), value: config(false).codec.encode(configMap('x', nameOf(i))) };
      await etcd.txn({ compare: [], success: [put], failure: [] });
    }
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '0' }));
    await settle();
    await storage.delete(key(10_049));
    const lines: string[] = [];
    for (let i = 0; i < 10; i++) {
      lines.push(...read(watch));
      await settle();
    }
    expect(lines.slice(0, -1)).toEqual(Array.from({ length: 10_050 }, (_, i) => `ADDED ${nameOf(i)} ${i + 2}`));
    expect(lines.at(-1)).toBe('DELETED 10049 10052');
    await backend.close();
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/etcd3/event_test.go#TestParseEvent
  it('gets an ERROR and the end for a change whose last state is compacted', async () => {
    const { backend, storage, etcd } = setUp({ cached: false });
    await storage.create('/registry/configmaps/x/a', configMap('x', 'a'));
    await storage.guaranteedUpdate('/registry/configmaps/x/a', () => ({ object: configMap('x', 'a', { k: 'v' }) }));
    await etcd.compact(3);
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '2' }));
    await settle();
    expect(read(watch)).toEqual([
      'ERROR Internal error occurred: etcd event received with PrevKv=nil (key="/registry/configmaps/x/a", modRevision=3, type=PUT)',
    ]);
    expect(watch.done).toBe(true);
    await backend.close();
  });

  // Upstream test: apiserver@v0.30.3:pkg/storage/testing/watcher_tests.go#RunTestWatchError
  it('gets an ERROR and the end where stored bytes cannot be read', async () => {
    const { backend, storage, etcd } = setUp({ cached: false });
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '1' }));
    const put = { op: 'put' as const, key: '/registry/configmaps/x/a', value: Buffer.from('not an object') };
    await etcd.txn({ compare: [], success: [put], failure: [] });
    await settle();
    expect(watch.next()).toMatchObject({ type: 'ERROR', status: { code: 500 } });
    expect([watch.next(), watch.done]).toEqual([undefined, true]);
    await backend.close();
  });
});

describe('storage metrics', () => {
  it('count what came in, went out, and lies in etcd', async () => {
    const clock = new VirtualClock();
    const etcd = new EmbeddedEtcd({ clock });
    const metrics = new MetricsRegistry();
    const backend = createStorageFactory({ etcd, clock, random: () => 0.5, metrics });
    const storage = backend.create(config(true));
    await backend.whenReady();
    const watch = await storage.watch('/registry/configmaps', everything({ resourceVersion: '0' }));
    for (const name of ['a', 'b', 'c']) await storage.create(`/registry/configmaps/x/${name}`, configMap('x', name));
    await backend.compact(3);
    const text = await metrics.collect();
    for (const line of [
      'apiserver_watch_cache_initializations_total{resource="configmaps"} 1',
      'apiserver_watch_cache_events_received_total{resource="configmaps"} 3',
      'apiserver_watch_cache_events_dispatched_total{resource="configmaps"} 3',
      'apiserver_storage_events_received_total{resource="configmaps"} 3',
      'apiserver_storage_objects{resource="configmaps"} 3',
      'watch_cache_capacity{resource="configmaps"} 100',
      'etcd_requests_total{operation="create",type="configmaps"} 3',
      'etcd_debugging_mvcc_compact_revision 3',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    watch.stop();
    await backend.close();
    await etcd.close();
  });
});
