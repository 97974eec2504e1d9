// The resource client and discovery against the server of this workspace.
import { isAlreadyExists, isConflict, isExpiredOrGone, isInvalid, isNotFound } from '@kube-rx/apimachinery';
import { ConfigMaps, Deployments, isCrdEstablished, Pods, retryOnConflict, waitForCondition } from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { advanceUntil, rest, startPair } from './support/pair.ts';

describe('ResourceClient against the server', () => {
  it('creates, reads, replaces, patches and deletes', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const created = await maps.create({ metadata: { name: 'a', labels: { app: 'web' } }, data: { x: '1' } });
    expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { namespace: 'shop' } });
    await expect(maps.create({ metadata: { name: 'a' } })).rejects.toSatisfy(isAlreadyExists);
    await expect(maps.create({ metadata: { name: 'Not valid' } })).rejects.toSatisfy(isInvalid);
    const updated = await maps.update({ ...created, data: { x: '2' } });
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    await expect(maps.update({ ...created, data: { x: '3' } })).rejects.toSatisfy(isConflict);
    const merged = await maps.patch('a', { data: { x: null, y: '4' } });
    expect(merged.data).toEqual({ y: '4' });
    const operated = await maps.patch('a', [
      { op: 'test', path: '/data/y', value: '4' },
      { op: 'add', path: '/data/z', value: '5' },
    ]);
    expect(operated.data).toEqual({ y: '4', z: '5' });
    const strategic = await maps.patch('a', { metadata: { labels: { tier: 'back' } } }, { type: 'strategic' });
    expect(strategic.metadata.labels).toEqual({ app: 'web', tier: 'back' });
    expect((await maps.list({ labelSelector: 'tier=back' })).items).toHaveLength(1);
    expect((await maps.list({ fieldSelector: 'metadata.name=b' })).items).toHaveLength(0);
    expect(await maps.delete('a')).toMatchObject({ kind: 'Status', status: 'Success' });
    await expect(maps.get('a')).rejects.toSatisfy(isNotFound);
  });

  it('applies, and learns who owns a field', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const mine = pair.connect({ fieldManager: 'mine' }).resource(ConfigMaps, 'shop');
    const theirs = pair.connect({ fieldManager: 'theirs' }).resource(ConfigMaps, 'shop');
    await mine.apply({ metadata: { name: 'a' }, data: { x: '1' } });
    await expect(theirs.apply({ metadata: { name: 'a' }, data: { x: '2' } })).rejects.toSatisfy(isConflict);
    const forced = await theirs.apply({ metadata: { name: 'a' }, data: { x: '2' } }, { force: true });
    expect(forced.data).toEqual({ x: '2' });
  });

  it('reads and writes status and scale apart from the rest', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const deployments = pair.client.resource(Deployments, 'shop');
    const labels = { app: 'web' };
    await deployments.create({
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    });
    const patched = await deployments.patchStatus('web', { status: { replicas: 7 }, spec: { replicas: 9 } });
    expect([patched.status?.replicas, patched.spec?.replicas]).toEqual([7, 1]);
    expect(await deployments.scale('web', 3)).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    expect(await deployments.getScale('web')).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 7 } });
    const scale = await deployments.getScale('web');
    expect(await deployments.updateScale('web', { ...scale, spec: { replicas: 4 } })).toMatchObject({
      spec: { replicas: 4 },
    });
    // The version that was read above is old by now.
    await expect(deployments.updateScale('web', { ...scale, spec: { replicas: 5 } })).rejects.toSatisfy(isConflict);
    const status = { status: { replicas: 8 }, spec: { replicas: 9 } };
    const applied = await deployments.applyStatus({ metadata: { name: 'web' }, ...status } as never, {
      fieldManager: 'status-writer',
      force: true,
    });
    expect([applied.status?.replicas, applied.spec?.replicas]).toEqual([8, 4]);
    expect((await deployments.updateStatus({ ...applied, status: { replicas: 2 } })).status?.replicas).toBe(2);
    expect((await deployments.get('web')).spec?.replicas).toBe(4);
  });

  it('reads a long list page by page, all of one state', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    for (let n = 0; n < 12; n++) await maps.create({ metadata: { name: `a${String(n).padStart(2, '0')}` } });
    const names: (string | undefined)[] = [];
    for await (const page of maps.pages({ pageSize: 5 })) {
      names.push(...page.items.map((item) => item.metadata.name));
      if (names.length === 5) await maps.create({ metadata: { name: 'a99' } });
    }
    expect(names).toEqual(Array.from({ length: 12 }, (_, n) => `a${String(n).padStart(2, '0')}`));
    expect((await maps.list({ pageSize: 4 })).items).toHaveLength(13);
    await maps.deleteCollection({ labelSelector: '!keep' });
    expect((await maps.list()).items).toEqual([]);
  });

  it('retries a write that meets another writer', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    await maps.create({ metadata: { name: 'counter' }, data: { n: '0' } });
    const add = (): Promise<unknown> =>
      retryOnConflict(
        async () => {
          const map = await maps.get('counter');
          await rest(3);
          return maps.update({ ...map, data: { n: String(Number(map.data?.['n']) + 1) } });
        },
        { clock: pair.clock, backoff: { steps: 20, durationMs: 10, jitter: 1 } },
      );
    const all = Promise.all([add(), add(), add(), add()]);
    let done = false;
    void all.then(() => {
      done = true;
    });
    await advanceUntil(pair.clock, () => done, { stepMs: 10 });
    expect((await maps.get('counter')).data).toEqual({ n: '4' });
  });

  it('watches from a version, and learns that it is too old', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const { resourceVersion } = (await maps.create({ metadata: { name: 'a' } })).metadata;
    const iterator = maps.watch({ resourceVersion })[Symbol.asyncIterator]();
    const first = iterator.next();
    await maps.patch('a', { data: { x: '1' } });
    await maps.delete('a');
    expect(await first).toMatchObject({ value: { type: 'MODIFIED', object: { data: { x: '1' } } } });
    expect(await iterator.next()).toMatchObject({ value: { type: 'DELETED' } });
    await iterator.return?.();
    pair.server.slideWindow('configmaps');
    const late = maps.watch({ resourceVersion })[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toSatisfy(isExpiredOrGone);
  });

  it('finds resources by any of their names', async () => {
    await using pair = await startPair();
    const { discovery } = pair.client;
    expect(await discovery.find('po')).toMatchObject({ kind: 'Pod', plural: 'pods', scope: 'Namespaced' });
    expect(await discovery.find('Deployment')).toMatchObject({ apiVersion: 'apps/v1', shortNames: ['deploy'] });
    expect(await discovery.find('events.events.k8s.io')).toMatchObject({ apiVersion: 'events.k8s.io/v1' });
    expect((await discovery.find('deployments')).subresources.map(({ name }) => name).sort()).toEqual([
      'scale',
      'status',
    ]);
    expect((await discovery.category('all')).map(({ plural }) => plural)).toContain('statefulsets');
    expect((await discovery.snapshot()).failures.size).toBe(0);
    const legacy = pair.connect({ discovery: { aggregated: false } }).discovery;
    const byName = (resources: { readonly apiVersion: string; readonly plural: string }[]) =>
      resources.map(({ apiVersion, plural }) => `${apiVersion}/${plural}`).sort();
    expect(byName(await legacy.resources())).toEqual(byName(await discovery.resources()));
    expect((await discovery.serverVersion()).gitVersion).toBe('v1.30.3');
  });

  it('uses a custom resource as soon as it is served', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const crds = await pair.client.discover('customresourcedefinitions.apiextensions.k8s.io');
    const served = waitForCondition(crds, 'widgets.example.com', isCrdEstablished, { clock: pair.clock });
    await crds.create({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    } as never);
    let established = false;
    void served.then(() => {
      established = true;
    });
    await advanceUntil(pair.clock, () => established);
    await pair.clock.advance(5000);
    const widgets = await pair.client.discover('wd', { namespace: 'shop' });
    await widgets.create({ metadata: { name: 'w' }, spec: { size: 3 } } as never);
    expect(await widgets.get('w')).toMatchObject({ kind: 'Widget', spec: { size: 3 } });
    expect((await pair.client.resource(Pods, 'shop').list()).items).toEqual([]);
  });
});
