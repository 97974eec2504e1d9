// What was delivered and replaced must be free to go, also while its connection waits in the pool.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { defineResource } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const ConfigMaps = defineResource()({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' });

describe('a list that nobody holds any more', () => {
  it('is not held by the connection it came over', async () => {
    const items = Array.from({ length: 100 }, (_, index) => ({
      metadata: { name: `o${index}`, resourceVersion: '1' },
    }));
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const transport = createAxiosTransport();
    const client = new RestClient({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, transport });
    const listWatch = new ListWatch(client, ConfigMaps);
    const read = async (): Promise<WeakRef<object>> => {
      const list = await listWatch.list({}, { signal: new AbortController().signal });
      return new WeakRef(list.items[0]!);
    };
    const reference = await read();
    for (let count = 0; count < 20 && reference.deref() !== undefined; count++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      collectGarbage();
    }
    expect(reference.deref()).toBeUndefined();
    transport.close();
    await new Promise((resolve) => server.close(resolve));
  });
});
