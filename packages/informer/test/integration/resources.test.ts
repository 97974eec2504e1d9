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
    // The test runner has timers and pipes of its own; ours come on top of them.
    const count = (kind: string): number => process.getActiveResourcesInfo().filter((name) => name === kind).length;
    const timers = count('Timeout');
    const left = (): number => api.openWatches + count('TCPSocketWrap') + Math.max(count('Timeout') - timers, 0);
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
    for (let tries = 0; tries < 200 && left() > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(api.openWatches).toBe(0);
    expect(count('TCPSocketWrap')).toBe(0);
    expect(count('Timeout')).toBeLessThanOrEqual(timers);
    await server.close();
  });
});
