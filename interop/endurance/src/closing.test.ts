// An informer may be closed at every moment of its life: before the first byte, in the middle of a list, while its watch opens.
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { ConfigMaps, createClient, SharedInformerFactory } from '@kube-rx/informer';
import { leakGuard } from '@kube-rx/testkit';
import { describe, expect, it } from 'vitest';

const MOMENTS = 40;
// A streaming list ends with a bookmark, for which the server takes its time.
const LONG_MS = { list: 150, 'watch-list': 1_500 };

describe('closing an informer over sockets', () => {
  it.each([
    ['HTTP', { insecure: true }, 'list'],
    ['TLS', {}, 'list'],
    ['HTTP, with a streaming list', { insecure: true, featureGates: { WatchList: true } }, 'watch-list'],
  ] as const)(
    'leaves nothing behind and tells nothing more, whenever it is done, over %s',
    async (_name, serverOptions, initial) => {
      const outer = leakGuard();
      const server = await startFakeApiServer({ ...serverOptions, closeGraceMs: 0 });
      const writer = createClient({ server: server.url, token: server.token, ca: server.ca });
      for (let n = 0; n < 50; n++) {
        const data = { text: 'x'.repeat(5_000) };
        await writer.resource(ConfigMaps, 'default').create({ metadata: { name: `m-${n}` }, data });
      }
      writer.close();
      let synced = 0;
      for (let moment = 0; moment < MOMENTS; moment++) {
        const guard = leakGuard();
        const client = createClient({ server: server.url, token: server.token, ca: server.ca });
        const factory = new SharedInformerFactory(client, { initial });
        const informer = factory.informer(ConfigMaps);
        let closed = false;
        let late = 0;
        informer.handle(() => {
          if (closed) late++;
        });
        // Each moment a little later than the one before.
        for (let turn = 0; turn < moment; turn++) await new Promise((resolve) => setImmediate(resolve));
        const waitMs = moment === MOMENTS - 1 ? LONG_MS[initial] : Math.max(moment - MOMENTS / 2, 0);
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (informer.hasSynced) synced++;
        closed = true;
        await factory.close();
        client.close();
        await guard.check();
        expect(late).toBe(0);
      }
      expect(synced).toBeGreaterThan(0);
      expect(synced).toBeLessThan(MOMENTS);
      await server.close();
      await outer.check();
    },
  );
});
