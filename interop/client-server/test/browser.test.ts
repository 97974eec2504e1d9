// A page without a bundler that watches the server, in a real browser.
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { ConfigMaps, createClient, Namespaces } from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { chromium, openPage } from './support/chromium.ts';
import { startPageServer } from './support/page-server.ts';

const page = (token: string, watchOver: string): string => `
  import { bearerToken, ConfigMaps, createFetchTransport, RestClient, SharedInformerFactory } from '@kube-rx/informer/browser';
  const transport = createFetchTransport({ watchOver: '${watchOver}' });
  const auth = bearerToken('${token}');
  const rest = new RestClient({ server: location.origin, transport, auth });
  const factory = new SharedInformerFactory(rest);
  const maps = factory.informer(ConfigMaps, { namespaces: ['shop'] });
  maps.faults$.subscribe((fault) => report('fault: ' + fault.kind + ' ' + fault.error?.message));
  maps.handle(async (event) => {
    if (event.type === 'synced') await report('synced ' + event.size);
    else await report(event.type + ' ' + event.object.metadata.name + ' ' + JSON.stringify(event.object.data ?? {}));
  });
`;

async function eventually(condition: () => boolean, what: () => string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`the page did not get there: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Needs a browser on the machine; the same code is tested against the server without one elsewhere.
describe.skipIf(chromium === undefined)('an informer in Chromium', () => {
  it.each(['fetch', 'websocket'])(
    'follows the server over %s',
    async (watchOver) => {
      await using server = await startFakeApiServer({ insecure: true });
      const client = createClient({ server: server.url, token: server.token });
      await client.resource(Namespaces).create({ metadata: { name: 'shop' } });
      const maps = client.resource(ConfigMaps, 'shop');
      await maps.create({ metadata: { name: 'a' }, data: { text: 'grün' } });
      await using pages = await startPageServer(page(server.token, watchOver), server.url);
      await using _browser = await openPage(pages.url);
      const seen = (count: number) =>
        eventually(
          () => pages.reports.length >= count,
          () => JSON.stringify(pages.reports),
        );
      await seen(2);
      await maps.patch('a', { data: { text: 'blau' } });
      await maps.delete('a');
      await seen(4);
      expect(pages.reports).toEqual([
        'added a {"text":"grün"}',
        'synced 1',
        'updated a {"text":"blau"}',
        'deleted a {"text":"blau"}',
      ]);
      client.close();
    },
    60_000,
  );
});
