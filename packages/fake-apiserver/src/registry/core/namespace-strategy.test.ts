import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegistry, type RegistryFixture } from '../../../test/support/registry-fixture.ts';

describe('namespaceStrategy', () => {
  let fixture: RegistryFixture;
  beforeEach(async () => {
    fixture = await openRegistry();
  });
  afterEach(() => fixture.close());

  it('labels a namespace with its name, also one that was generated', async () => {
    const store = fixture.storeAt('/api/v1/namespaces');
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'gen-' } };
    const { stored } = await store.create(fixture.ctx, store.applyDefaults(object), { namespace: '', dryRun: false });
    const { name, labels } = stored.object.metadata;
    expect(name).toMatch(/^gen-.{5}$/);
    expect(labels).toEqual({ 'kubernetes.io/metadata.name': name });
  });
});
