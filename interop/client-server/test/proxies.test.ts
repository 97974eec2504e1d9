// Proxies on the way to the server of this workspace: each kind with each transport, TLS end to end.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { bearerToken, ConfigMaps, createClient, loadKubeconfig, type TransportName } from '@kube-rx/informer';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Credentials, connectProxy, socks5Proxy, type TestProxy } from './support/proxies.ts';

const KINDS: readonly [string, (credentials?: Credentials) => Promise<TestProxy>][] = [
  ['http', connectProxy],
  ['socks5', socks5Proxy],
];
const TRANSPORTS: readonly TransportName[] = ['axios', 'http2', 'websocket'];

/** A client whose kubeconfig names the proxy. */
async function connect(server: { readonly kubeconfig: string }, proxyUrl: string, transport: TransportName) {
  const folder = await mkdtemp(join(tmpdir(), 'kube-rx-proxies-'));
  try {
    const path = join(folder, 'config');
    await writeFile(
      path,
      server.kubeconfig.replace(/^( *)server: .*$/m, (line, indent) => `${line}\n${indent}proxy-url: ${proxyUrl}`),
    );
    return createClient(await loadKubeconfig({ path }), { transport, maxRetries: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe.each(KINDS)('a proxy-url of scheme %s', (scheme, start) => {
  it.each(TRANSPORTS)('carries calls and watches over %s', async (transport) => {
    await using server = await startFakeApiServer();
    await using proxy = await start();
    await using client = await connect(server, `${scheme}://127.0.0.1:${proxy.port}`, transport);
    const maps = client.resource(ConfigMaps, 'default');
    await maps.create({ metadata: { name: 'a' } });
    const { resourceVersion } = await maps.list();
    const events = maps.watch({ resourceVersion })[Symbol.asyncIterator]();
    const first = events.next();
    await maps.create({ metadata: { name: 'b' } });
    expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
    await events.return?.();
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(server.url).host]));
    expect(proxy.tunnels.length).toBeLessThanOrEqual(transport === 'http2' ? 1 : 4);
  });

  it('is given user and password, and its refusal is told from that of the server', async () => {
    await using server = await startFakeApiServer();
    await using proxy = await start({ user: 'me', password: 'p@ss word' });
    const at = (credentials: string) => `${scheme}://${credentials}127.0.0.1:${proxy.port}`;
    await using good = await connect(server, at('me:p%40ss%20word@'), 'axios');
    expect(await good.discovery.serverVersion()).toMatchObject({ major: '1' });
    for (const transport of TRANSPORTS) {
      await using bad = await connect(server, at('me:wrong@'), transport);
      const error = await bad.discovery.serverVersion().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'TransportError', code: 'PROXY' });
      expect(String(error)).not.toContain('wrong');
    }
  });

  it('that is not there is a refused connection', async () => {
    await using server = await startFakeApiServer();
    const proxy = await start();
    await proxy[Symbol.asyncDispose]();
    for (const transport of TRANSPORTS) {
      await using client = await connect(server, `${scheme}://127.0.0.1:${proxy.port}`, transport);
      await expect(client.discovery.serverVersion()).rejects.toMatchObject({ code: 'REFUSED' });
    }
  });

  it('cannot read or replace what is sent: the certificate is that of the server', async () => {
    await using server = await startFakeApiServer();
    await using proxy = await start();
    const config = { server: server.url, proxyUrl: `${scheme}://127.0.0.1:${proxy.port}` };
    for (const transport of ['axios', 'http2'] as const) {
      await using client = createClient(config, { transport });
      await expect(client.discovery.serverVersion()).rejects.toMatchObject({ code: 'TLS' });
    }
  });

  it('gets the name of the server and resolves it by itself', async () => {
    await using server = await startFakeApiServer();
    await using proxy = await start();
    const { port } = new URL(server.url);
    const material = { ca: server.ca, serverName: 'kubernetes.default' };
    for (const transport of ['axios', 'http2'] as const) {
      const config = {
        server: `https://api.test:${port}`,
        tls: () => material,
        proxyUrl: `${scheme}://127.0.0.1:${proxy.port}`,
      };
      await using client = createClient(config, { transport });
      expect(await client.discovery.serverVersion()).toMatchObject({ major: '1' });
    }
    expect(new Set(proxy.tunnels)).toEqual(new Set([`api.test:${port}`]));
  });
});

describe('the environment', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each<TransportName>(['axios', 'http2'])('names proxies for %s, and what goes past them', async (transport) => {
    await using server = await startFakeApiServer();
    await using proxy = await socks5Proxy();
    const { port } = new URL(server.url);
    vi.stubEnv('HTTPS_PROXY', `socks5://127.0.0.1:${proxy.port}`);
    vi.stubEnv('NO_PROXY', 'direct.test');
    const material = { ca: server.ca, serverName: 'kubernetes.default' };
    const versionAt = async (host: string): Promise<unknown> => {
      await using client = createClient({ server: `https://${host}:${port}`, tls: () => material }, { transport });
      return await client.discovery.serverVersion().catch((error: { code?: unknown }) => error.code);
    };
    expect(await versionAt('api.test')).toMatchObject({ major: '1' });
    expect(await versionAt('127.0.0.1')).toMatchObject({ major: '1' });
    // Nobody but the proxy knows that name.
    expect(await versionAt('direct.test')).toBe('DNS');
    expect(proxy.tunnels).toEqual([`api.test:${port}`]);
  });
});

describe('a server without TLS behind an http proxy', () => {
  it.each<TransportName>(['axios', 'http2', 'websocket'])(
    'is asked by the proxy, with the whole URL: %s',
    async (transport) => {
      await using server = await startFakeApiServer({ insecure: true });
      const asked: string[] = [];
      const forward = createServer((request, response) => {
        asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
        const { headers } = request;
        delete headers['proxy-authorization'];
        const onward = httpRequest(
          new URL(request.url ?? ''),
          { method: request.method ?? 'GET', headers },
          (answer) => {
            response.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(response);
          },
        );
        request.pipe(onward);
      });
      await new Promise<void>((resolve) => forward.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = forward.address() as AddressInfo;
        const { url, token } = server;
        const config = { server: url, auth: bearerToken(token), proxyUrl: `http://me:secret@127.0.0.1:${port}` };
        await using client = createClient(config, { transport });
        const maps = client.resource(ConfigMaps, 'default');
        await maps.create({ metadata: { name: 'a' } });
        expect((await maps.list()).items.map((each) => each.metadata.name)).toContain('a');
        const credentials = `Basic ${Buffer.from('me:secret').toString('base64')}`;
        expect(asked).toHaveLength(2);
        expect(asked[0]).toBe(`POST ${url}/api/v1/namespaces/default/configmaps ${credentials}`);
      } finally {
        forward.closeAllConnections();
        await new Promise((resolve) => forward.close(resolve));
      }
    },
  );
});

describe('proxy-url', () => {
  it('of an unknown scheme is an error when the client is made', () => {
    expect(() => createClient({ server: 'https://api.test', proxyUrl: 'ftp://proxy.test' })).toThrow(
      expect.objectContaining({ name: 'ConfigError', code: 'BAD_PROXY' }),
    );
  });
});
