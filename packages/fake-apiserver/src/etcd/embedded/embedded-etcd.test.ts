import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describeEtcdClient, type EtcdUnderTest } from '@kube-rx/contract/suites/etcd-client.suite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KeyValue, prefixEnd } from '../client.ts';
import { EmbeddedEtcd, type EmbeddedEtcdOptions } from './embedded-etcd.ts';

function underTest(options: EmbeddedEtcdOptions, cleanUp: () => void = () => {}): EtcdUnderTest {
  const clock = new VirtualClock();
  const client = new EmbeddedEtcd({ ...options, clock });
  return {
    client,
    tick: settle,
    advance: (ms) => clock.advance(ms),
    close: async () => {
      await client.close();
      cleanUp();
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

const newDir = (): string => mkdtempSync(join(tmpdir(), 'kube-rx-etcd-'));

describeEtcdClient({ name: 'embedded', create: async () => underTest({}) });
describeEtcdClient({
  name: 'embedded with a data directory',
  create: async () => {
    const dataDir = newDir();
    return underTest({ dataDir }, () => rmSync(dataDir, { recursive: true }));
  },
});

const everything = { key: '/', rangeEnd: prefixEnd('/') };
const put = (etcd: EmbeddedEtcd, key: string, value: string, lease?: string) =>
  etcd.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from(value), lease }], failure: [] });
const remove = (etcd: EmbeddedEtcd, key: string) =>
  etcd.txn({ compare: [], success: [{ op: 'delete', key }], failure: [] });

/** Comparing megabytes byte by byte takes seconds. */
const brief = (kv: KeyValue) => ({ ...kv, value: `${kv.value.length} ${kv.value.toString('latin1').slice(-3)}` });

async function stateOf(etcd: EmbeddedEtcd) {
  const { revision, compactRevision } = await etcd.status();
  const states = [];
  for (let at = Math.max(1, compactRevision ?? 1); at <= revision; at++) {
    states.push((await etcd.range({ ...everything, revision: at })).kvs.map(brief));
  }
  const events: unknown[] = [];
  const watch = etcd.watch(
    { ...everything, startRevision: Math.max(1, compactRevision ?? 1), prevKv: true },
    {
      events: (batch) => {
        for (const { type, kv, prevKv } of batch) events.push({ type, kv: brief(kv), prevKv: prevKv && brief(prevKv) });
      },
      ended: () => undefined,
    },
  );
  await settle();
  watch.cancel();
  return { revision, compactRevision, states, events };
}

describe('EmbeddedEtcd', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = newDir();
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  it('has the same data, history and compaction after a restart', async () => {
    const first = new EmbeddedEtcd({ dataDir });
    for (const value of ['1', '2', '3']) await put(first, '/a', value);
    await put(first, '/gone', '1');
    await put(first, '/b', '1');
    await remove(first, '/gone');
    await first.compact(6);
    await put(first, '/c', '1');
    await remove(first, '/a');
    const before = await stateOf(first);
    await first.close();

    const second = new EmbeddedEtcd({ dataDir });
    expect(await stateOf(second)).toEqual(before);
    await put(second, '/d', '1');
    expect((await second.status()).revision).toBe(before.revision + 1);
    await second.close();
  });

  it('has the same data when it was not closed and the last record is torn', async () => {
    const first = new EmbeddedEtcd({ dataDir });
    for (const value of ['1', '2', '3']) await put(first, '/a', value);
    const path = join(dataDir, 'etcd.log');
    truncateSync(path, statSync(path).size - 3);
    const second = new EmbeddedEtcd({ dataDir });
    expect((await second.status()).revision).toBe(3);
    await put(second, '/a', 'again');
    await second.close();
    const third = new EmbeddedEtcd({ dataDir });
    expect((await third.range({ key: '/a' })).kvs[0]?.value.toString()).toBe('again');
    await third.close();
    await first.close();
  });

  it('refuses data that is damaged in the middle instead of losing what follows', async () => {
    const first = new EmbeddedEtcd({ dataDir });
    for (const value of ['1', '2', '3']) await put(first, '/a', value);
    await first.close();
    const path = join(dataDir, 'etcd.log');
    const bytes = readFileSync(path);
    bytes[20] = bytes[20]! ^ 0xff;
    writeFileSync(path, bytes);
    expect(() => new EmbeddedEtcd({ dataDir })).toThrow('damaged record at byte 0');
  });

  it('keeps leases over a restart, also those that ran out meanwhile', async () => {
    const clock = new VirtualClock();
    const first = new EmbeddedEtcd({ dataDir, clock });
    await put(first, '/long', '1', await first.grantLease(100));
    await put(first, '/short', '1', await first.grantLease(10));
    await first.close();
    await clock.advance(20_000);
    const second = new EmbeddedEtcd({ dataDir, clock });
    await clock.advance(0);
    expect((await second.range(everything)).kvs.map(({ key }) => key)).toEqual(['/long']);
    await clock.advance(81_000);
    expect((await second.range(everything)).count).toBe(0);
    await second.close();
  });

  it('shrinks its file when most of it is history that was compacted away', async () => {
    const first = new EmbeddedEtcd({ dataDir });
    const big = 'x'.repeat(1 << 20);
    const lease = await first.grantLease(1000);
    for (let i = 0; i < 20; i++) await put(first, '/big', big + i, lease);
    await put(first, '/gone', '1');
    await put(first, '/other', '1');
    await remove(first, '/gone');
    await first.compact((await first.status()).revision);
    await put(first, '/more', '1');
    expect(statSync(join(dataDir, 'etcd.log')).size).toBeLessThan(2 << 20);
    const before = await stateOf(first);
    await first.close();
    const second = new EmbeddedEtcd({ dataDir });
    expect(await stateOf(second)).toEqual(before);
    await second.revokeLease(lease);
    expect((await second.range(everything)).kvs.map(({ key }) => key)).toEqual(['/more', '/other']);
    await second.close();
  });

  it('can give each key of a lease a revision of its own', async () => {
    const clock = new VirtualClock();
    const etcd = new EmbeddedEtcd({ clock, leaseExpiry: 'per-key' });
    const lease = await etcd.grantLease(10);
    for (const key of ['/a', '/b']) await put(etcd, key, '1', lease);
    const lines: string[] = [];
    etcd.watch(everything, {
      events: (events) => {
        for (const { type, kv } of events) lines.push(`${type} ${kv.key} ${kv.modRevision}`);
      },
      ended: () => undefined,
    });
    await clock.advance(11_000);
    expect(lines).toEqual(['delete /a 4', 'delete /b 5']);
    await etcd.close();
  });

  it('tells idle watches the revision every ten minutes, and busy ones not', async () => {
    const clock = new VirtualClock();
    const etcd = new EmbeddedEtcd({ clock });
    const told: string[] = [];
    const listen = (name: string, key: string) =>
      etcd.watch(
        { key, rangeEnd: prefixEnd(key), progressNotify: true },
        { events: () => undefined, progress: (revision) => told.push(`${name} ${revision}`), ended: () => undefined },
      );
    listen('idle', '/idle/');
    listen('busy', '/busy/');
    await clock.advance(600_000);
    await put(etcd, '/busy/a', '1');
    await clock.advance(600_000);
    expect(told).toEqual(['idle 1', 'busy 1', 'idle 2']);
    await etcd.close();
  });

  it('keeps one order for all when an observer writes while it is told', async () => {
    const etcd = new EmbeddedEtcd();
    const seen: string[][] = [[], []];
    for (const lines of seen) {
      etcd.watch(everything, {
        events: (events) => {
          for (const { kv } of events) {
            lines.push(`${kv.key} ${kv.modRevision}`);
            if (kv.key === '/a' && lines === seen[0]) void put(etcd, '/from-observer', '1');
          }
        },
        ended: () => undefined,
      });
    }
    await settle();
    await put(etcd, '/a', '1');
    await settle();
    expect(seen[0]).toEqual(['/a 2', '/from-observer 3']);
    expect(seen[1]).toEqual(seen[0]);
    await etcd.close();
  });

  it('fails every call after it was closed', async () => {
    const etcd = new EmbeddedEtcd();
    await etcd.close();
    await expect(etcd.range(everything)).rejects.toMatchObject({ code: 'Closed' });
    let ended: unknown;
    etcd.watch(everything, { events: () => undefined, ended: (error) => (ended = error) });
    await settle();
    expect(ended).toMatchObject({ code: 'Closed' });
  });
});
