// The HTTP/2 transport against the server of this workspace, over TLS, with the protocol chosen in the handshake.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isConflict, isNotFound } from '@kube-rx/apimachinery';
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { ConfigMaps, type ConnectedClient, createClient, SharedInformerFactory } from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { CertificateAuthority } from '../../../packages/fake-apiserver/src/server/tls/certificates.ts';
import { forwarder } from './support/proxies.ts';

async function start() {
  const server = await startFakeApiServer();
  const proxy = await forwarder(Number(new URL(server.url).port));
  const clients: ConnectedClient[] = [];
  return {
    server,
    proxy,
    connect(): ConnectedClient {
      const { token, ca } = server;
      const client = createClient({ server: `https://127.0.0.1:${proxy.port}`, token, ca }, { transport: 'http2' });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (let count = 0; count < 5000 && !condition(); count++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
}

const socketsOf = (): number =>
  process.getActiveResourcesInfo().filter((name) => /TCPSocketWrap|TLSWrap/.test(name)).length;

describe('HTTP/2 against the server', () => {
  it('creates, reads, changes, deletes and fails as over HTTP/1.1, on one connection', async () => {
    await using pair = await start();
    const maps = pair.connect().resource(ConfigMaps, 'default');
    const created = await maps.create({ metadata: { name: 'a' }, data: { x: 'ä' } });
    expect((await maps.get('a')).data).toEqual({ x: 'ä' });
    const updated = await maps.update({ ...created, data: { x: '2' } });
    await expect(maps.update({ ...created, data: { x: '3' } })).rejects.toSatisfy(isConflict);
    expect((await maps.patch('a', { data: { y: '4' } })).data).toEqual({ x: '2', y: '4' });
    const data = { big: 'x'.repeat(500_000) };
    for (const name of ['b', 'c']) await maps.create({ metadata: { name }, data });
    const { items } = await maps.list();
    expect(items.filter((each) => each.data?.['big']?.length === 500_000)).toHaveLength(2);
    for (const name of ['a', 'b']) await maps.delete(name);
    await expect(maps.get('a')).rejects.toSatisfy(isNotFound);
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    expect(pair.proxy.open).toBe(1);
  });

  it('holds 99 watches and the calls beside them on one connection, more on another, and leaves nothing behind', async () => {
    const before = socketsOf();
    {
      await using pair = await start();
      const client = pair.connect();
      const maps = client.resource(ConfigMaps, 'default');
      await maps.create({ metadata: { name: 'seed' } });
      const { resourceVersion } = await maps.list();
      const seen: string[] = [];
      const watches: Promise<void>[] = [];
      const stops = Array.from({ length: 120 }, () => new AbortController());
      const open = async (id: number): Promise<void> => {
        for await (const event of maps.watch({ resourceVersion, signal: stops[id]!.signal })) {
          seen.push(`${id}:${event.object.metadata.name}`);
        }
      };
      for (let id = 0; id < 99; id++) watches.push(open(id).catch(() => {}));
      await maps.create({ metadata: { name: 'x' } });
      await until(() => seen.filter((line) => line.endsWith(':x')).length === 99);
      expect(pair.proxy.open).toBe(1);
      for (let id = 99; id < 120; id++) watches.push(open(id).catch(() => {}));
      await until(() => seen.filter((line) => line.endsWith(':x')).length === 120);
      await maps.create({ metadata: { name: 'y' } });
      await until(() => seen.filter((line) => line.endsWith(':y')).length === 120);
      expect(pair.proxy.open).toBe(2);
      for (const stop of stops) stop.abort();
      await Promise.all(watches);
      client.close();
      await until(() => pair.proxy.open === 0);
    }
    await until(() => socketsOf() <= before);
  });

  it('an informer goes on where it was when its connection is lost, without a list', async () => {
    await using pair = await start();
    const client = pair.connect();
    const maps = client.resource(ConfigMaps, 'default');
    await maps.create({ metadata: { name: 'a' } });
    await using factory = new SharedInformerFactory(client, { backoff: { initialMs: 5, maxMs: 20 } });
    const informer = factory.informer(ConfigMaps, { namespaces: ['default'] });
    const phases: string[] = [];
    informer.status$.subscribe(({ phase }) => phases.push(phase));
    await informer.whenSynced();
    await until(() => phases.at(-1) === 'watching');
    for (let round = 1; round <= 5; round++) {
      pair.proxy.cut();
      await maps
        .create({ metadata: { name: `during-${round}` } })
        .catch(() => maps.create({ metadata: { name: `during-${round}` } }));
      await informer.waitFor((store) => store.get(`during-${round}`, 'default') !== undefined);
    }
    expect(phases.filter((phase) => phase === 'listing')).toHaveLength(1);
    expect(informer.store.list()).toHaveLength((await maps.list()).items.length);
  });

  it('lives through restarts of the server', async () => {
    await using pair = await start();
    const client = pair.connect();
    const maps = client.resource(ConfigMaps, 'default');
    await using factory = new SharedInformerFactory(client, { backoff: { initialMs: 5, maxMs: 20 } });
    const informer = factory.informer(ConfigMaps, { namespaces: ['default'] });
    await informer.whenSynced();
    for (let round = 1; round <= 3; round++) {
      await pair.server.restart();
      await pair.server.fetch('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `after-${round}` } }),
      });
      await informer.waitFor((store) => store.get(`after-${round}`, 'default') !== undefined);
    }
    expect((await maps.list()).items).toHaveLength(informer.store.list().length);
  });

  it('presents a client certificate, and another one after it was exchanged', async () => {
    await using pair = await start();
    const materialOf = (commonName: string) => {
      const issued = pair.server.issueClientCertificate({ commonName, organizations: ['system:masters'] })!;
      return { ca: pair.server.ca, cert: issued.certPem, key: issued.keyPem };
    };
    let material = materialOf('first');
    const config = { server: `https://127.0.0.1:${pair.proxy.port}`, tls: () => material };
    await using client = createClient(config, { transport: 'http2' });
    const whoAmI = async (): Promise<unknown> => {
      const review = await client.rest.json<{ status: { userInfo: { username: string } } }>({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
      return review.status.userInfo.username;
    };
    expect(await whoAmI()).toBe('first');
    material = materialOf('second');
    expect(await whoAmI()).toBe('second');
    await until(() => pair.proxy.open === 1);
  });

  it('does not trust a server that nobody vouches for', async () => {
    await using pair = await start();
    const config = { server: `https://127.0.0.1:${pair.proxy.port}`, token: 'x' };
    await using client = createClient(config, { transport: 'http2' });
    await expect(client.resource(ConfigMaps, 'default').list()).rejects.toMatchObject({
      name: 'TransportError',
      code: 'TLS',
    });
  });

  it('serves a server that chooses HTTP/1.1 over HTTP/1.1', async () => {
    const authority = new CertificateAuthority('test', Date.now());
    const leaf = authority.issueServer(['127.0.0.1']);
    const versions: string[] = [];
    const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
      versions.push(request.httpVersion);
      response.setHeader('content-type', 'application/json').end('{"major":"1","minor":"30"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await using client = createClient({ server: url, ca: authority.certPem }, { transport: 'http2' });
      for (let count = 0; count < 2; count++) {
        expect(await client.discovery.serverVersion()).toMatchObject({ minor: '30' });
      }
      expect(versions).toEqual(['1.1', '1.1']);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
