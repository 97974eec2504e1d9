// What a registry serves, and the objects it starts with.

import { realClock } from '@kube-rx/apimachinery';
import { afterEach, describe, expect, it } from 'vitest';
import { openRegistry, RegistryCalls, type RegistryFixture, seeded } from '../../test/support/registry-fixture.ts';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { v1_30 } from '../profiles/v1-30.ts';
import { v1_37 } from '../profiles/v1-37.ts';
import { createStorageFactory } from '../server/build-storage.ts';
import { createCatalog } from './catalog.ts';

describe('Registry', () => {
  let fixture: RegistryFixture | undefined;
  afterEach(() => fixture?.close());

  it.each([
    ['1.30', v1_30],
    ['1.37', v1_37],
  ])('starts with what every cluster has, while its caches are being filled, as %s', async (_version, profile) => {
    fixture = await openRegistry({}, { profile });
    const calls = new RegistryCalls(fixture);
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
      expect(await calls.get(`/api/v1/namespaces/${name}`)).toMatchObject({ status: { phase: 'Active' } });
    expect(await calls.get('/api/v1/namespaces/default/services/kubernetes')).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
    });
    expect(await calls.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin')).toMatchObject({
      rules: [{ verbs: ['*'] }, { nonResourceURLs: ['*'] }],
    });
  });

  it('finds stores, subresources and kinds that are never stored, and counts changes', async () => {
    fixture = await openRegistry();
    const { catalog } = fixture.registry;
    expect(catalog.find('apps', 'v1', 'deployments')?.info.kind).toBe('Deployment');
    expect(catalog.find('apps', 'v1', 'nothing')).toBeUndefined();
    expect(catalog.findSubresource('apps', 'v1', 'deployments', 'scale')?.info.kind).toBe('Scale');
    expect(catalog.findSubresource('apps', 'v1', 'deployments', 'status')).toBeUndefined();
    expect(catalog.findVirtual('authentication.k8s.io', 'v1', 'tokenreviews')?.info.kind).toBe('TokenReview');
    const before = catalog.generation;
    expect(catalog.remove('apps', 'v1', 'deployments')).toBe(true);
    expect(catalog.find('apps', 'v1', 'deployments')).toBeUndefined();
    expect(catalog.findSubresource('apps', 'v1', 'deployments', 'scale')).toBeUndefined();
    expect(catalog.generation).toBeGreaterThan(before);
  });

  it('remembers over a restart which addresses are taken, and leaves what is there as it is', async () => {
    const etcd = new EmbeddedEtcd({ clock: realClock });
    const open = async (): Promise<{
      create(name: string, clusterIP: string): Promise<unknown>;
      close(): Promise<void>;
    }> => {
      const random = seeded(3);
      const storageFactory = createStorageFactory({ etcd, random, clock: realClock });
      const registry = createCatalog({ storageFactory, clock: realClock, random, profile: v1_30 });
      await registry.start();
      const store = registry.store('/v1/services');
      const ctx = {
        signal: new AbortController().signal,
        user: { name: 'admin', groups: ['system:masters'] },
        warn: () => undefined,
      };
      return {
        create: (name, clusterIP) =>
          store
            .create(
              ctx,
              store.applyDefaults({
                apiVersion: 'v1',
                kind: 'Service',
                metadata: { name },
                spec: { clusterIP, ports: [{ port: 1 }] },
              }),
              { namespace: 'default', dryRun: false },
            )
            .catch((error: unknown) => error),
        close: async () => {
          await registry.close();
          await storageFactory.close();
        },
      };
    };
    const first = await open();
    await first.create('a', '10.0.0.77');
    await first.close();
    const second = await open();
    expect(await second.create('b', '10.0.0.77')).toMatchObject({ code: 422 });
    expect(await second.create('c', '10.0.0.1')).toMatchObject({ code: 422 });
    await second.close();
    await etcd.close();
  });
});
