// Namespaces that are deleted are emptied, then go.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegistry, RegistryCalls, type RegistryFixture } from '../../test/support/registry-fixture.ts';

describe('NamespaceController', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  beforeEach(async () => {
    fixture = await openRegistry();
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
  });
  afterEach(() => fixture.close());

  const gone = (path: string): Promise<void> =>
    expect
      .poll(async () => ((await calls.get(path)) as { readonly code?: number }).code, { timeout: 5000, interval: 5 })
      .toBe(404);

  it('deletes everything in the namespace, pods on nodes included, and then the namespace', async () => {
    await calls.create('/api/v1/namespaces/ns/configmaps', { metadata: { name: 'a' } });
    await calls.create('/api/v1/namespaces/ns/pods', {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
    expect(await calls.delete('/api/v1/namespaces/ns')).toMatchObject({ status: { phase: 'Terminating' } });
    await gone('/api/v1/namespaces/ns');
    expect(await calls.get('/api/v1/namespaces/ns/configmaps/a')).toMatchObject({ code: 404 });
    expect(await calls.get('/api/v1/namespaces/ns/pods/p')).toMatchObject({ code: 404 });
  });

  it('waits for objects with finalizers', async () => {
    const path = '/api/v1/namespaces/ns/configmaps/held';
    await calls.create('/api/v1/namespaces/ns/configmaps', { metadata: { name: 'held', finalizers: ['a.b/c'] } });
    await calls.delete('/api/v1/namespaces/ns');
    await expect
      .poll(() => calls.get(path), { timeout: 5000, interval: 5 })
      .toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    expect(await calls.get('/api/v1/namespaces/ns')).toMatchObject({ status: { phase: 'Terminating' } });
    await calls.update(path, (object) => {
      object.metadata['finalizers'] = [];
    });
    await gone('/api/v1/namespaces/ns');
  });
});
