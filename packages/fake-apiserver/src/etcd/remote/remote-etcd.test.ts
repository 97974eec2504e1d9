// The suite of all etcd backends on a real etcd, where one is installed.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEtcdClient } from '@kube-rx/contract/suites/etcd-client.suite';
import { drain, keyOf, listOptions, PREFIX, pod, podConfig } from '@kube-rx/contract/suites/storage-fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStorageFactory } from '../../server/build-storage.ts';
import { RemoteEtcd } from './remote-etcd.ts';

const BINARY = process.env['ETCD_BINARY'] ?? '/usr/bin/etcd';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class EtcdProcess {
  readonly #dir = mkdtempSync(join(tmpdir(), 'kube-rx-real-etcd-'));
  #child: ChildProcess | undefined;
  #peer = 0;
  endpoint = '';

  /** Again on the same data and ports after `kill`. */
  async start(): Promise<void> {
    if (this.endpoint === '') {
      this.endpoint = `http://127.0.0.1:${await freePort()}`;
      this.#peer = await freePort();
    }
    const peer = this.#peer;
    const urls = [`--listen-client-urls=${this.endpoint}`, `--advertise-client-urls=${this.endpoint}`];
    const peerUrl = `http://127.0.0.1:${peer}`;
    const peers = [
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
    ];
    this.#child = spawn(BINARY, [`--data-dir=${this.#dir}`, ...urls, ...peers], { stdio: 'ignore' });
    await using etcd = new RemoteEtcd({ endpoint: this.endpoint });
    for (let i = 0; i < 200; i++) {
      if ((await etcd.status().catch(() => undefined))?.version !== undefined) return;
      await pause(50);
    }
    throw new Error('etcd did not start');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    await new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGKILL');
    });
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

// No etcd, nothing to hold against: the embedded backend passes the same suite.
describe.skipIf(!existsSync(BINARY))('RemoteEtcd', () => {
  const server = new EtcdProcess();
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  describeEtcdClient({
    name: 'real etcd',
    create: async () => {
      const client = new RemoteEtcd({ endpoint: server.endpoint });
      const { kvs } = await client.range({ key: '/', rangeEnd: '0', keysOnly: true });
      for (const { key } of kvs) {
        await client.txn({ compare: [], success: [{ op: 'delete', key }], failure: [] });
      }
      return { client, tick: () => pause(10), close: () => client.close() };
    },
  });

  it('lets two API servers work on the same data', async () => {
    await using one = new RemoteEtcd({ endpoint: server.endpoint });
    await using two = new RemoteEtcd({ endpoint: server.endpoint });
    const options = { random: () => 0.5 };
    await using first = createStorageFactory({ ...options, etcd: one });
    await using second = createStorageFactory({ ...options, etcd: two });
    const writer = first.create(podConfig);
    const reader = second.create(podConfig);
    await Promise.all([first.whenReady(), second.whenReady()]);
    const created = await writer.create(keyOf('x/a'), pod('x/a'));
    const version = created.object.metadata.resourceVersion ?? '';
    const watch = await reader.watch(PREFIX, listOptions({ resourceVersion: version }));
    const lines: string[] = [];
    const seen = new Promise<void>((resolve) => {
      watch.onReadable(() => {
        lines.push(...drain(watch));
        if (lines.length >= 2) resolve();
      });
    });
    // Each server starts from what it has in its cache, and the loser of the race starts over.
    const change = (storage: typeof writer, image: string) =>
      storage.guaranteedUpdate(keyOf('x/a'), (existing) => {
        const before = existing!.object['spec'] as { image: string };
        return { object: { ...existing!.object, spec: { image: `${before.image}${image}` } } };
      });
    await Promise.all([change(writer, '+w'), change(reader, '+r')]);
    await seen;
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['MODIFIED', 'MODIFIED']);
    const list = await reader.getList(PREFIX, listOptions({ resourceVersion: lines.at(-1)!.split(' ')[2]! }));
    expect((list.items[0]!.object['spec'] as { image: string }).image).toMatch(/^one(\+w\+r|\+r\+w)$/);
    watch.stop();
  });

  it('fails with a code when nobody is there, and tries again with the next call', async () => {
    await using etcd = new RemoteEtcd({ endpoint: `http://127.0.0.1:${await freePort()}` });
    for (let i = 0; i < 2; i++) await expect(etcd.status()).rejects.toMatchObject({ code: 'Unavailable' });
  });

  it('takes watches up again after a restart of etcd, without a gap', async () => {
    await using etcd = new RemoteEtcd({ endpoint: server.endpoint });
    const put = async (value: string): Promise<number> => {
      const op = { op: 'put' as const, key: '/restart/a', value: Buffer.from(value) };
      return (await etcd.txn({ compare: [], success: [op], failure: [] })).revision;
    };
    const values: string[] = [];
    let ended = false;
    const from = await put('before');
    const watch = etcd.watch(
      { key: '/restart/', rangeEnd: '/restart0', startRevision: from },
      {
        events: (events) => {
          for (const { kv } of events) values.push(kv.value.toString());
        },
        ended: () => {
          ended = true;
        },
      },
    );
    const until = async (count: number): Promise<void> => {
      for (let i = 0; i < 500 && values.length < count; i++) await pause(20);
    };
    await until(1);
    await server.kill();
    await expect(put('lost')).rejects.toMatchObject({ code: 'Unavailable' });
    await server.start();
    await put('while it was away');
    await until(2);
    await put('after');
    await until(3);
    expect([values, ended]).toEqual([['before', 'while it was away', 'after'], false]);
    watch.cancel();
  });

  it('reads lists of many megabytes', async () => {
    await using etcd = new RemoteEtcd({ endpoint: server.endpoint });
    const value = Buffer.alloc(400_000, 'x');
    for (let i = 0; i < 30; i++) {
      await etcd.txn({ compare: [], success: [{ op: 'put', key: `/large/${i}`, value }], failure: [] });
    }
    const { kvs } = await etcd.range({ key: '/large/', rangeEnd: '/large0' });
    expect(kvs).toHaveLength(30);
    expect(kvs.every((kv) => kv.value.equals(value))).toBe(true);
  });
});
