// What an informer asks for first when it decides by itself, and informers of what only discovery knows.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import {
  ConfigMaps,
  isCrdEstablished,
  KubeClient,
  RestClient,
  SharedInformerFactory,
  type Transport,
  waitForCondition,
} from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { advanceUntil, type Pair, startPair } from './support/pair.ts';

/** The server as one of another minor version, with its lists and watches written down. */
function pretending(pair: Pair, minor: string | undefined) {
  const requests: string[] = [];
  const transport: Transport = {
    async send(request) {
      const url = new URL(request.url);
      const { searchParams: query } = url;
      if (url.pathname === '/version') {
        requests.push('version');
        if (minor === undefined) return new Promise(() => {});
        const bytes = new TextEncoder().encode(JSON.stringify({ major: '1', minor, gitVersion: `v1.${minor}.0` }));
        const body = {
          consume(sink: { data(chunk: Uint8Array): void; end(): void }) {
            sink.data(bytes);
            sink.end();
          },
          pause() {},
          resume() {},
          destroy() {},
        };
        return { status: 200, headers: { 'content-type': 'application/json' }, body };
      }
      const kind = query.has('sendInitialEvents') ? 'stream' : query.has('watch') ? 'watch' : 'list';
      requests.push(`${kind} ${url.pathname.split('/').at(-1)}`);
      return pair.transport.send(request);
    },
    close() {},
  };
  const client = new KubeClient(
    new RestClient({ server: pair.server.url, transport, clock: pair.clock, maxRetries: 0 }),
  );
  return { client, requests };
}

const until = async (pair: Pair, promise: Promise<unknown>): Promise<void> => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await advanceUntil(pair.clock, () => done, { stepMs: 50 });
};

describe("initial: 'auto' against the server", () => {
  it.each([
    ['30', true, ['version', 'list configmaps', 'watch configmaps']],
    ['33', true, ['version', 'list configmaps', 'watch configmaps']],
    ['34', true, ['version', 'stream configmaps']],
    ['36+', true, ['version', 'stream configmaps']],
    ['34', false, ['version', 'stream configmaps', 'list configmaps', 'watch configmaps']],
    [undefined, true, ['version', 'list configmaps', 'watch configmaps']],
  ])('of version 1.%s, WatchList %s: %j', async (minor, gate, expected) => {
    await using pair = await startPair({ featureGates: { WatchList: gate } });
    await pair.client.resource(ConfigMaps, 'default').create({ metadata: { name: 'a' } });
    const { client, requests } = pretending(pair, minor);
    await using factory = new SharedInformerFactory(client, { clock: pair.clock, verify: 'watch-list' });
    const informer = factory.informer(ConfigMaps, { namespaces: ['default'] });
    const faults: string[] = [];
    informer.faults$.subscribe(({ kind }) => faults.push(kind));
    await until(pair, informer.whenSynced());
    await pair.client.resource(ConfigMaps, 'default').create({ metadata: { name: 'b' } });
    await until(
      pair,
      informer.waitFor((store) => store.get('b', 'default') !== undefined),
    );
    const verified = requests.filter((line) => line === 'list configmaps').length;
    // The exact list that `verify` asks for comes after a stream that worked.
    const streamed = expected.at(-1) === 'stream configmaps';
    expect(streamed ? requests.filter((line) => line !== 'list configmaps') : requests).toEqual(expected);
    expect(verified).toBe(1);
    expect(faults).toEqual(gate || minor !== '34' ? [] : ['bad-request']);
    expect(informer.store.get('a', 'default')).toBeDefined();
  });

  it('asks once for many informers of a client', async () => {
    await using pair = await startPair();
    const { client, requests } = pretending(pair, '30');
    await using factory = new SharedInformerFactory(client, { clock: pair.clock });
    for (const namespace of ['a', 'b', 'c', 'd']) factory.informer(ConfigMaps, { namespaces: [namespace] });
    await until(pair, factory.ready());
    expect(requests.filter((line) => line === 'version')).toHaveLength(1);
    expect(requests.filter((line) => line === 'list configmaps')).toHaveLength(4);
  });
});

describe('an informer of what only discovery knows', () => {
  it('follows a custom resource by any of its names, typed by hand, in several namespaces', async () => {
    await using pair = await startPair();
    for (const namespace of ['one', 'two', 'three']) await pair.createNamespace(namespace);
    const crds = await pair.client.discover('crd');
    const served = waitForCondition(crds, 'widgets.example.com', isCrdEstablished, { clock: pair.clock });
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await crds.create({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    } as never);
    await until(pair, served);
    await pair.clock.advance(5000);
    interface Widget extends KubernetesObject {
      readonly spec?: { readonly size?: number };
    }
    const Widgets = await pair.client.discovery.find<Widget>('wd');
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock });
    const widgets = factory.informer(Widgets, {
      namespaces: ['one', 'two'],
      indexers: { size: (widget) => [String(widget.spec?.size ?? 0)] },
    });
    await until(pair, widgets.whenSynced());
    for (const namespace of ['one', 'two', 'three']) {
      await pair.client.resource(Widgets, namespace).create({ metadata: { name: 'w' }, spec: { size: 3 } });
    }
    await until(
      pair,
      widgets.waitFor((store) => store.by('size', '3').length === 2),
    );
    expect(widgets.store.keys().sort()).toEqual(['one/w', 'two/w']);
    expect(widgets.store.get('w', 'one')?.spec?.size).toBe(3);
    // The same resource by another name is the same informer.
    await using again = factory.informer(await pair.client.discovery.find<Widget>('Widget'), {
      namespaces: ['two', 'one'],
    });
    expect(factory.size).toBe(1);
    expect(again.store.size).toBe(2);
  });
});
