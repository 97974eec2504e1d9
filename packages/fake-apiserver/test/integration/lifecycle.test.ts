import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isListenFailed, isServerClosed, startFakeApiServer } from '../../src/index.ts';
import { main } from '../../src/server/cli.ts';
import { configMap, makeNamespace, open, send } from '../support/client.ts';

const MAPS = '/api/v1/namespaces/test/configmaps';
const directory = mkdtempSync(join(tmpdir(), 'fake-apiserver-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('FakeApiServer', () => {
  it('keeps data, port and token over a restart, and cuts watches', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    await makeNamespace(server);
    await send(server, MAPS, { method: 'POST', body: configMap('kept') });
    const { url } = server;
    const watch = await open(server, `${MAPS}?watch=1`);
    const cut = new Promise((resolve) => watch.body.once('close', resolve));
    watch.body.on('error', () => {}).resume();
    await server.restart();
    await cut;
    expect(server.url).toBe(url);
    expect((await send(server, `${MAPS}/kept`)).status).toBe(200);
  });

  it('ends watches cleanly when it closes', async () => {
    const server = await startFakeApiServer({ insecure: true });
    const watch = await open(server, '/api/v1/configmaps?watch=1');
    const ended = new Promise((resolve) => watch.body.once('end', resolve));
    watch.body.resume();
    await server.close();
    await ended;
    await expect(server.fetch('/version')).rejects.toSatisfy(isServerClosed);
    await server.close();
  });

  it('names the port that is taken', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    const port = Number(new URL(server.url).port);
    await expect(startFakeApiServer({ port })).rejects.toSatisfy(isListenFailed);
  });

  it('refuses options by name', async () => {
    await expect(startFakeApiServer({ port: -1 })).rejects.toThrow('option port must be');
    await expect(startFakeApiServer({ profile: 'v9' as 'v1.30' })).rejects.toThrow('option profile must be one of');
  });

  it('starts and stops two hundred times and leaves nothing behind', async () => {
    const cycle = async (): Promise<void> => {
      const server = await startFakeApiServer({ insecure: true });
      const watch = await open(server, '/api/v1/configmaps?watch=1');
      watch.body.on('error', () => {}).resume();
      await server.destroy();
    };
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    for (let n = 0; n < 20; n++) await cycle();
    await settle();
    const handles = process.getActiveResourcesInfo().length;
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    for (let n = 0; n < 200; n++) await cycle();
    await settle();
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles + 2);
    globalThis.gc?.();
    if (globalThis.gc !== undefined) expect(process.memoryUsage().heapUsed - heap).toBeLessThan(20_000_000);
  }, 60_000);
});

/** Runs the command until it has printed its first line, then ends it with a signal. */
async function runCommand(argv: readonly string[]) {
  let out = '';
  let err = '';
  let stop: () => void = () => {};
  let started: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });
  const exit = main(argv, {
    stdout: {
      write: (text) => {
        out += text;
        started();
      },
    },
    stderr: {
      write: (text) => {
        err += text;
      },
    },
    once: (_signal, listener) => {
      stop = listener;
    },
  });
  return { ready: Promise.race([ready, exit]), stop: () => stop(), exit, out: () => out, err: () => err };
}

describe('the command', () => {
  it('prints one JSON line, writes a private kubeconfig and ends with 0 on a signal', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    const command = await runCommand(['--json', '--token', 'secret', '--kubeconfig', kubeconfig]);
    await command.ready;
    const first = JSON.parse(command.out());
    expect(first).toMatchObject({ token: 'secret', kubeconfig });
    expect(first.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    expect(readFileSync(kubeconfig, 'utf8')).toContain('certificate-authority-data:');
    command.stop();
    expect(await command.exit).toBe(0);
  });

  it('writes a kubeconfig of its own when none was named, and takes it away at the end', async () => {
    const command = await runCommand(['--json', '--insecure']);
    await command.ready;
    const { kubeconfig } = JSON.parse(command.out());
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    command.stop();
    expect(await command.exit).toBe(0);
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it('loads manifests and names the bad ones with file, document and line', async () => {
    const file = join(directory, 'objects.yaml');
    writeFileSync(
      file,
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: loaded}\n---\nkind: Nothing\napiVersion: v1\n---\n' +
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "bad name", namespace: loaded}\n---\n' +
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: loaded}\n---\na: [\n',
    );
    const command = await runCommand(['--insecure', '--json', '--load', file]);
    await command.ready;
    const lines = command.err().trim().split('\n').sort();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain(`${file}: document 2, line 5: no kind "Nothing" is served in version "v1"`);
    expect(lines[1]).toContain(`${file}: document 3, line 8: ConfigMap "bad name" is invalid`);
    expect(lines[2]).toContain(`${file}: document 5, line `);
    const { url, token } = JSON.parse(command.out());
    const answer = await fetch(`${url}/api/v1/namespaces/loaded/configmaps/good`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    await answer.text();
    command.stop();
    expect(await command.exit).toBe(0);
  });

  it.each([
    [['--port', 'x'], /^fake-apiserver: option --port must be a number/],
    [['--nonsense'], /^fake-apiserver: option --nonsense must be an option of this command/],
    [['--load', '/nowhere/at-all.yaml'], /^fake-apiserver: ENOENT.*at-all\.yaml/],
    [['--watch-cache=maybe'], /^fake-apiserver: option --watch-cache must be true or false/],
    [['--kubeconfig', '/nowhere/kubeconfig'], /^fake-apiserver: ENOENT/],
    [['--etcd-servers', 'http://127.0.0.1:1'], /^fake-apiserver: option --etcd-servers must be .* that answers/],
    [['--etcd-servers', 'x', '--data-dir', 'd'], /^fake-apiserver: option --data-dir must be left out/],
    [['--profile', 'v0.1'], /^fake-apiserver: option profile must be one of v1\.30/],
  ])('says in one line what is wrong with %j and ends with 1', async (argv, line) => {
    const command = await runCommand(argv);
    expect(await command.exit).toBe(1);
    expect(command.err()).toMatch(line);
    expect(command.err().trim().split('\n')).toHaveLength(1);
    expect(existsSync('/nowhere')).toBe(false);
  });

  it('explains itself', async () => {
    const command = await runCommand(['--help']);
    expect(await command.exit).toBe(0);
    expect(command.out()).toContain('--watch-cache=false');
  });
});
