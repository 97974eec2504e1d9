// After the end nothing is left: no socket, no timer, no listener.
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/config/create-client.ts';
import { ConfigMaps, Secrets } from '../../src/resources/builtin.ts';
import { SharedInformerFactory } from '../../src/shared-informer/shared-informer-factory.ts';
import { MemoryApi } from '../support/memory-api.ts';
import { serveTransport } from '../support/transport-server.ts';

const PATH = '/api/v1/namespaces/shop/configmaps';

describe('informers over sockets', () => {
  it('leave nothing behind when they are disposed', async () => {
    const api = new MemoryApi();
    const server = await serveTransport(api);
    api.put(`${PATH}/a`, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
    const resources = (): string[] =>
      process
        .getActiveResourcesInfo()
        .filter((name) => name !== 'Immediate')
        .sort();
    const before = resources();
    for (let round = 0; round < 5; round++) {
      await using client = createClient({ server: server.url });
      await using factory = new SharedInformerFactory(client);
      await using maps = factory.informer(ConfigMaps, { namespaces: ['shop'] });
      await using secrets = factory.informer(Secrets);
      await Promise.all([maps.whenSynced(), secrets.whenSynced()]);
      api.put(`${PATH}/r${round}`, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `r${round}` } });
      await maps.waitFor((store) => store.get(`r${round}`, 'shop') !== undefined);
      expect(api.openWatches).toBeGreaterThan(0);
    }
    for (let count = 0; count < 200 && (api.openWatches > 0 || resources().length > before.length); count++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(api.openWatches).toBe(0);
    expect(resources()).toEqual(before);
    await server.close();
  });
});
