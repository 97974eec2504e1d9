// Public reports about bytes, kinds and factories as inputs for our client; the names are those of the reports.
import { settle, VirtualClock, type WatchEvent } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { ListWatch } from '../../src/rest/list-watch.ts';
import type { Live } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { TransportBody } from '../../src/rest/transport.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import { SharedInformerFactory } from '../../src/shared-informer/shared-informer-factory.ts';
import { type ConfigMap, ConfigMaps, MemoryApi } from '../support/memory-api.ts';
import { jsonResponse, MemoryBody } from '../support/memory-body.ts';

const TYPE = { kind: 'ConfigMap', apiVersion: 'v1' };

/** A body of given chunks. */
function chunked(chunks: readonly Uint8Array[]): TransportBody {
  return {
    consume(sink) {
      queueMicrotask(() => {
        for (const chunk of chunks) sink.data(chunk);
        sink.end();
      });
    },
    pause() {},
    resume() {},
    destroy() {},
  };
}

describe('reports about the wire', () => {
  it('I-12 bonny#43: events and characters that are cut anywhere arrive whole', async () => {
    const text = '\u{1f680}漢字é€'.repeat(20_000);
    const big = { type: 'ADDED', object: { ...TYPE, metadata: { name: 'big' }, data: { text } } };
    const bytes = Buffer.from(`${JSON.stringify(big)}\n`);
    expect(bytes.length).toBeGreaterThan(300_000);
    // Byte by byte around everything that is longer than one.
    const chunks: Uint8Array[] = [];
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at]! < 0x80) continue;
      if (at > start) chunks.push(bytes.subarray(start, at));
      chunks.push(bytes.subarray(at, at + 1));
      start = at + 1;
    }
    chunks.push(bytes.subarray(start));
    const names = Array.from({ length: 1000 }, (_, at) => `o${at}`);
    const small = names.map((name) => JSON.stringify({ type: 'MODIFIED', object: { ...TYPE, metadata: { name } } }));
    chunks.push(Buffer.from(`${small.join('\n')}\n`));
    const headers = { 'content-type': 'application/json' };
    const transport = { send: async () => ({ status: 200, headers, body: chunked(chunks) }), close() {} };
    const listWatch = new ListWatch<ConfigMap>(new RestClient({ server: 'http://memory.test', transport }), ConfigMaps);
    const stream = await listWatch.watch({}, { signal: new AbortController().signal });
    const objects: ConfigMap[] = [];
    await new Promise<void>((resolve) => {
      const next = ({ object }: WatchEvent<ConfigMap>): void => void objects.push(object as ConfigMap);
      stream.start({ next, end: () => resolve() });
    });
    expect(objects[0]!.data?.['text'] === text).toBe(true);
    expect(objects.slice(1).map(({ metadata }) => metadata?.name)).toEqual(names);
  });

  it('I-44 kubernetes#98925: objects of a list look as those of a watch, kind and version included', async () => {
    const clock = new VirtualClock();
    const body = new MemoryBody();
    const bare = (name: string, resourceVersion: string) => ({
      metadata: { name, namespace: 'shop', uid: name, resourceVersion },
    });
    const list = {
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '9' },
      items: [bare('a', '5')],
    };
    const transport = {
      send: async ({ url }: { readonly url: string }) =>
        url.includes('watch=true')
          ? { status: 200, headers: { 'content-type': 'application/json' }, body }
          : jsonResponse(200, list),
      close() {},
    };
    const listWatch = new ListWatch<ConfigMap>(
      new RestClient({ server: 'http://memory.test', transport, clock }),
      ConfigMaps,
    );
    await using informer = new SharedIndexInformer<ConfigMap>(listWatch, { clock, expected: ConfigMaps });
    informer.start();
    await informer.whenSynced();
    await settle();
    expect(informer.store.list()).toEqual([{ ...TYPE, ...bare('a', '5') }]);
    body.write(`${JSON.stringify({ type: 'MODIFIED', object: { ...TYPE, ...bare('a', '10') } })}\n`);
    body.write(`${JSON.stringify({ type: 'ADDED', object: { ...TYPE, ...bare('b', '11') } })}\n`);
    await settle();
    expect(informer.store.list()).toEqual([
      { ...TYPE, ...bare('a', '10') },
      { ...TYPE, ...bare('b', '11') },
    ]);
  });

  it('I-38 kubernetes#132367: one user without a transform takes none away from another', async () => {
    const clock = new VirtualClock();
    const api = new MemoryApi();
    api.put('/api/v1/namespaces/shop/configmaps', { ...TYPE, metadata: { name: 'a' }, data: { k: 'v' } });
    const rest = new RestClient({ server: 'http://memory.test', transport: api, clock });
    await using factory = new SharedInformerFactory({ rest }, { clock });
    const strip = ({ data: _, ...object }: Live<ConfigMap>): Live<ConfigMap> => object as Live<ConfigMap>;
    const plain = factory.informer(ConfigMaps);
    const stripped = factory.informer(ConfigMaps, { transform: strip });
    const again = factory.informer(ConfigMaps);
    await factory.ready();
    expect(plain.store.get('a', 'shop')?.data).toEqual({ k: 'v' });
    expect(again.store).toBe(plain.store);
    expect(stripped.store.get('a', 'shop')?.metadata.name).toBe('a');
    expect(stripped.store.get('a', 'shop')).not.toHaveProperty('data');
  });
});
