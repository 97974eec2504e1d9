import {
  describeListerWatcher,
  type ListedObject,
  type ListerWatcherUnderTest,
} from '../../../../contract/suites/lister-watcher.suite.ts';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import { createFetchTransport } from '../../src/rest/fetch-transport.ts';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { defineResource } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { Transport } from '../../src/rest/transport.ts';
import { MemoryApi } from '../support/memory-api.ts';
import { serveTransport } from '../support/transport-server.ts';

const ConfigMaps = defineResource<ListedObject>()({
  apiVersion: 'v1' as never,
  kind: 'ConfigMap' as never,
  plural: 'configmaps',
  scope: 'Namespaced',
});
const PATH = '/api/v1/namespaces/default/configmaps';

function under(
  api: MemoryApi,
  server: string,
  transport: Transport,
  close: () => Promise<void>,
): ListerWatcherUnderTest {
  const client = new RestClient({ server, transport });
  return {
    listerWatcher: new ListWatch<ListedObject>(client, ConfigMaps, { namespace: 'default' }),
    put: (name) => void api.put(`${PATH}/${name}`, { metadata: { name } }),
    remove: (name) => api.remove(`${PATH}/${name}`),
    endWatches: () => api.cutWatches(),
    openWatches: () => api.openWatches,
    settle: () => new Promise((resolve) => setTimeout(resolve, 2)),
    close: async () => {
      transport.close();
      await close();
    },
  };
}

describeListerWatcher({
  name: 'ListWatch in memory',
  create: async () => {
    const api = new MemoryApi();
    return under(api, 'http://memory.test', api, async () => {});
  },
});

for (const [name, make] of [
  ['axios', () => createAxiosTransport()],
  ['axios with one pool', () => createAxiosTransport({ pools: 'shared' })],
  ['fetch', () => createFetchTransport()],
] as const) {
  describeListerWatcher({
    name: `ListWatch over ${name}`,
    create: async () => {
      const api = new MemoryApi();
      const server = await serveTransport(api);
      return under(api, server.url, make(), server.close);
    },
  });
}
