import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TlsMaterial } from '../rest/tls-material.ts';
import { createClient } from './create-client.ts';
import { execCredentials } from './exec-credentials.ts';
import { tlsFromFiles, tokenFileAuth } from './file-credentials.ts';
import { inClusterConfig } from './in-cluster.ts';
import { loadKubeconfig } from './load-kubeconfig.ts';

const EXEC = {
  args: [],
  env: {},
  apiVersion: 'client.authentication.k8s.io/v1',
  provideClusterInfo: false,
  directory: '/',
} as const;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('loadKubeconfig', () => {
  let directory: string;
  let clock: VirtualClock;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    clock = new VirtualClock();
  });
  afterEach(() => rm(directory, { recursive: true }));

  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  const config = (user: string, cluster = ''): string => `
apiVersion: v1
kind: Config
current-context: main
clusters: [{ name: c, cluster: { server: "https://api.test:6443/base"${cluster} } }]
users: [{ name: u, user: {${user}} }]
contexts: [{ name: main, context: { cluster: c, user: u, namespace: shop } }, { name: other, context: { cluster: c, user: "" } }]
`;
  const load = async (user: string, cluster?: string) =>
    loadKubeconfig({ path: await file('config', config(user, cluster)), clock });

  it('resolves the current context, or the one that is named', async () => {
    const path = await file('config', config('token: abc'));
    const main = await loadKubeconfig({ path });
    expect(main).toMatchObject({ server: 'https://api.test:6443/base', namespace: 'shop', context: 'main' });
    expect(await main.auth?.headers()).toEqual({ authorization: 'Bearer abc' });
    expect(await loadKubeconfig({ path, context: 'other' })).toMatchObject({ namespace: 'default', auth: undefined });
    await expect(loadKubeconfig({ path, context: 'none' })).rejects.toMatchObject({ code: 'NO_SUCH_CONTEXT' });
  });

  it('takes certificates from the file and from other files, by paths relative to it', async () => {
    await file('ca.pem', 'CA');
    await file('key.pem', 'KEY');
    const loaded = await load(
      `client-certificate-data: ${base64('CERT')}, client-key: key.pem`,
      ', certificate-authority: ca.pem, tls-server-name: inner',
    );
    expect(await loaded.tls?.()).toEqual({
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      serverName: 'inner',
      insecureSkipTlsVerify: false,
    });
  });

  it('reads user and password, impersonation, the proxy and whether answers may be packed', async () => {
    const loaded = await load(
      'username: me, password: secret, as: eve, as-groups: [a, b], as-user-extra: { k: [v] }',
      ', proxy-url: "http://proxy:3128", disable-compression: true',
    );
    expect(await loaded.auth?.headers()).toEqual({ authorization: `Basic ${base64('me:secret')}` });
    expect(loaded).toMatchObject({
      impersonate: { user: 'eve', groups: ['a', 'b'], extra: { k: ['v'] } },
      proxyUrl: 'http://proxy:3128',
      disableCompression: true,
    });
  });

  it('merges the files of KUBECONFIG: the first wins, missing ones count as empty', async () => {
    const one = await file('one', 'current-context: main\nusers: [{ name: u, user: { token: first } }]');
    const two = await file('two', config('token: second'));
    const env = { KUBECONFIG: [one, join(directory, 'missing'), two].join(':') };
    const loaded = await loadKubeconfig({ env });
    expect(await loaded.auth?.headers()).toEqual({ authorization: 'Bearer first' });
    expect(loaded.namespace).toBe('shop');
  });

  it.each<[string, string, RegExp]>([
    ['YAML that is none', 'a: [', /config: /],
    ['a list', '- a', /the document must be a mapping/],
    [
      'a cluster without a server',
      config('').replace('server: "https://api.test:6443/base"', ''),
      /clusters\[0\].cluster.server is missing/,
    ],
    ['a server that is no URL', config('').replace('https://api.test:6443/base', 'nope'), /is no URL/],
    ['two kinds of credentials', config('token: a, username: b'), /token and username/],
    ['a token that is a list', config('token: [1]'), /users\[0\].user.token must be text/],
    ['data that is not base64', config('client-certificate-data: "%%%"'), /not base64/],
    [
      'insecure together with a CA',
      config('', ', insecure-skip-tls-verify: true, certificate-authority-data: YQ=='),
      /together with a certificate/,
    ],
    [
      'an exec plugin of an old version',
      config('exec: { command: x, apiVersion: client.authentication.k8s.io/v1alpha1 }'),
      /exec.apiVersion must be one of/,
    ],
    ['a context of an unknown cluster', config('').replace('cluster: c,', 'cluster: d,'), /names cluster "d"/],
    ['a context of an unknown user', config('').replace('user: u,', 'user: w,'), /names user "w"/],
    ['no current context', config('').replace('current-context: main', ''), /no current-context/],
  ])('refuses %s and says where', async (_, text, message) => {
    await expect(loadKubeconfig({ path: await file('config', text) })).rejects.toThrow(message);
  });

  it('names a file that is not there', async () => {
    await expect(loadKubeconfig({ path: join(directory, 'nope') })).rejects.toMatchObject({
      code: 'NO_SUCH_FILE',
      message: expect.stringContaining('nope'),
    });
    await expect(loadKubeconfig({ env: { HOME: directory } })).rejects.toThrow(
      /no kubeconfig was found, and this is no pod/,
    );
  });

  it('takes keys of any name as data', async () => {
    const loaded = await load('token: abc, __proto__: { token: evil }, constructor: 1');
    expect(await loaded.auth?.headers()).toEqual({ authorization: 'Bearer abc' });
  });

  describe('exec plugins', () => {
    const plugin = async (body: string): Promise<string> => {
      const path = await file('plugin.sh', `#!/bin/sh\n${body}`);
      await chmod(path, 0o755);
      return path;
    };
    const credential = (status: string): string =>
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":${status}}'`;
    const exec = (command: string, more = ''): string =>
      `exec: { command: "${command}", apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never${more} }`;

    it('give a token, which is kept until it expires or is refused', async () => {
      const until = new Date(clock.now() + 60_000).toISOString();
      const path = await plugin(
        `n=$(cat ${directory}/count 2>/dev/null || echo 0); n=$((n+1)); echo $n > ${directory}/count\n${credential(`{"token":"'$n'","expirationTimestamp":"${until}"}`)}`,
      );
      const { auth } = await load(exec(path));
      const token = async () => (await auth?.headers())?.['authorization'];
      expect(await Promise.all([token(), token()])).toEqual(['Bearer 1', 'Bearer 1']);
      expect(auth?.rejected?.()).toBe(true);
      expect(await token()).toBe('Bearer 2');
      clock.advanceSync(60_000);
      expect(await token()).toBe('Bearer 3');
    });

    it('compare the time of expiry with the time of day, not with the clock of durations', async () => {
      const until = new Date(clock.now() + 60_000).toISOString();
      const path = await plugin(
        `echo x >> ${directory}/runs\n${credential(`{"token":"a","expirationTimestamp":"${until}"}`)}`,
      );
      const setAhead = { now: () => clock.now(), wall: () => clock.now() + 90_000, setTimer: () => ({ cancel() {} }) };
      const { auth } = await loadKubeconfig({ path: await file('config', config(exec(path))), clock: setAhead });
      await auth?.headers();
      await auth?.headers();
      expect((await readFile(join(directory, 'runs'), 'utf8')).split('\n')).toHaveLength(3);
    });

    it('give a certificate, the same material until it changes', async () => {
      const path = await plugin(credential('{"clientCertificateData":"CERT","clientKeyData":"KEY"}'));
      const { tls } = await load(exec(path), `, certificate-authority-data: ${base64('CA')}`);
      const first = await tls?.();
      expect(first).toMatchObject({ ca: 'CA', cert: 'CERT', key: 'KEY' });
      expect(await tls?.()).toBe(first);
    });

    it('get arguments, environment and the cluster', async () => {
      const path = await plugin(
        `test "$1" = one -a "$EXTRA" = two || exit 9\n${credential('{"token":"\'"$(echo "$KUBERNETES_EXEC_INFO" | grep -o api.test)"\'"}')}`,
      );
      const { auth } = await load(
        exec(path, ', args: [one], env: [{ name: EXTRA, value: two }], provideClusterInfo: true'),
      );
      expect(await auth?.headers()).toEqual({ authorization: 'Bearer api.test' });
    });

    it('are told what the cluster has for them', async () => {
      const extensions = `, extensions: [{ name: other, extension: 1 }, { name: client.authentication.k8s.io/exec, extension: { audience: me } }]`;
      const path = await plugin(
        `case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*'"config":{"audience":"me"}'*) ${credential('{"token":"t"}')};; *) exit 4;; esac`,
      );
      const { auth } = await load(exec(path, ', provideClusterInfo: true'), extensions);
      expect(await auth?.headers()).toEqual({ authorization: 'Bearer t' });
    });

    it('talk to somebody at a terminal, unless they never do', async () => {
      const path = await plugin(
        `case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) ${credential('{"token":"asked"}')};; *) ${credential('{"token":"alone"}')};; esac`,
      );
      const token = (interactiveMode: 'Always' | 'IfAvailable' | 'Never', terminal: boolean) =>
        execCredentials(
          { ...EXEC, command: path, interactiveMode },
          { server: 'https://api.test', insecureSkipTlsVerify: false, disableCompression: false },
          clock,
          terminal,
        ).auth.headers();
      expect(await token('IfAvailable', true)).toEqual({ authorization: 'Bearer asked' });
      expect(await token('Always', true)).toEqual({ authorization: 'Bearer asked' });
      expect(await token('Never', true)).toEqual({ authorization: 'Bearer alone' });
      expect(await token('IfAvailable', false)).toEqual({ authorization: 'Bearer alone' });
      await expect(token('Always', false)).rejects.toThrow(/needs a terminal/);
    });

    it('that do not end are ended', async () => {
      const { auth } = await load(exec(await plugin('echo started >&2; exec sleep 600')));
      const failed = expect(auth?.headers()).rejects.toThrow(/ended by SIGKILL/);
      clock.advanceSync(60_000);
      await failed;
      expect(clock.pendingTimers).toBe(0);
    });

    it('that print without end are ended', async () => {
      const { auth } = await load(exec(await plugin('yes')));
      await expect(auth?.headers()).rejects.toThrow(/ended by SIGKILL/);
    });

    it.each<[string, string, RegExp]>([
      ['fails', 'echo broken >&2; exit 3', /broken; install it/],
      ['prints no JSON', 'echo hello', /not JSON/],
      ['prints another version', 'echo \'{"kind":"ExecCredential","apiVersion":"x"}\'', /"x", but/],
      ['gives nothing', credential('{}'), /neither a token/],
      ['gives a certificate without its key', credential('{"clientCertificateData":"C"}'), /only one of/],
    ])('that %s are reported', async (_, body, message) => {
      const { auth } = await load(exec(await plugin(body), ', installHint: install it'));
      await expect(auth?.headers()).rejects.toThrow(message);
    });
  });
});

describe('credentials in files', () => {
  let directory: string;
  let clock: VirtualClock;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'credentials-'));
    clock = new VirtualClock();
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('reads a token again after a minute, or after a refusal, and keeps the old one when it cannot', async () => {
    const path = join(directory, 'token');
    await writeFile(path, 'one\n');
    const auth = tokenFileAuth(path, clock);
    const token = async () => (await auth.headers())['authorization'];
    expect(await token()).toBe('Bearer one');
    await writeFile(path, 'two');
    expect(await token()).toBe('Bearer one');
    expect(auth.rejected?.()).toBe(false);
    clock.advanceSync(10_001);
    expect(auth.rejected?.()).toBe(true);
    expect(await token()).toBe('Bearer two');
    await rm(path);
    clock.advanceSync(60_000);
    expect(await token()).toBe('Bearer two');
    await expect(tokenFileAuth(path, clock).headers()).rejects.toMatchObject({ code: 'NO_SUCH_FILE' });
  });

  it('gives the same TLS material until a file changes, looked at every five minutes', async () => {
    const certFile = join(directory, 'cert');
    await writeFile(certFile, 'one');
    const tls = tlsFromFiles({ ca: 'CA' }, { certFile }, clock);
    const first = await tls();
    expect(first).toEqual({ ca: 'CA', cert: 'one' } satisfies TlsMaterial);
    clock.advanceSync(300_000);
    expect(await tls()).toBe(first);
    await writeFile(certFile, 'two');
    expect(await tls()).toBe(first);
    clock.advanceSync(300_000);
    expect((await tls()).cert).toBe('two');
    await rm(certFile);
    clock.advanceSync(300_000);
    expect((await tls()).cert).toBe('two');
  });

  it('finds a pod and its account', async () => {
    for (const [name, text] of [
      ['token', 't'],
      ['ca.crt', 'CA'],
      ['namespace', 'shop\n'],
    ] as const)
      await writeFile(join(directory, name), text);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const config = await inClusterConfig({ env, serviceAccountDirectory: directory, clock });
    expect(config).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'shop' });
    expect(await config.auth?.headers()).toEqual({ authorization: 'Bearer t' });
    expect(await config.tls?.()).toMatchObject({ ca: 'CA' });
    await expect(inClusterConfig({ env: {} })).rejects.toMatchObject({ code: 'NOT_IN_CLUSTER' });
  });
});

describe('createClient', () => {
  it('refuses a server that is no URL', () => {
    expect(() => createClient({ server: 'nope' })).toThrow(/option server must be a URL/);
  });
  it('takes a plain server with a token and closes with await using', async () => {
    await using client = createClient({ server: 'http://127.0.0.1:1', token: 'x' });
    expect(client.namespace).toBe('default');
    await expect(client.rest.json({ path: '/version', maxRetries: 0 })).rejects.toMatchObject({ code: 'REFUSED' });
  });
});
