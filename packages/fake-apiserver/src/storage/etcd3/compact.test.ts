// Upstream test: apiserver@v0.30.3:pkg/storage/etcd3/compact_test.go
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { EmbeddedEtcd } from '../../etcd/embedded/embedded-etcd.ts';
import { Compactor, compactOnce } from './compact.ts';

const write = (etcd: EmbeddedEtcd, key: string) =>
  etcd.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from('1') }], failure: [] });

describe('compactOnce', () => {
  it('compacts to the revision of the round before', async () => {
    const etcd = new EmbeddedEtcd();
    await write(etcd, '/a');
    const first = await compactOnce(etcd, { time: 0, revision: 0 });
    expect([first, etcd.compactRevision]).toEqual([{ time: 1, revision: 3 }, undefined]);
    await write(etcd, '/a');
    const second = await compactOnce(etcd, first);
    expect([second, etcd.compactRevision]).toEqual([{ time: 2, revision: 5 }, 3]);
    await etcd.close();
  });

  it('is done by one of several servers, and the loser learns where they are', async () => {
    const etcd = new EmbeddedEtcd();
    const won = await compactOnce(etcd, { time: 0, revision: 0 });
    const lost = await compactOnce(etcd, { time: 0, revision: 0 });
    expect(lost).toEqual({ time: 1, revision: 2 });
    await write(etcd, '/a');
    await compactOnce(etcd, lost);
    expect(etcd.compactRevision).toBe(2);
    expect(await compactOnce(etcd, won)).toEqual({ time: 2, revision: 4 });
    await etcd.close();
  });
});

describe('Compactor', () => {
  it('leaves the first interval alone, then compacts once an interval, and costs one revision each', async () => {
    const clock = new VirtualClock();
    const etcd = new EmbeddedEtcd({ clock });
    const compactor = new Compactor({ etcd, clock });
    compactor.start();
    await write(etcd, '/a');
    await clock.advance(300_000);
    expect([etcd.revision, etcd.compactRevision]).toEqual([3, undefined]);
    await clock.advance(300_000);
    expect([etcd.revision, etcd.compactRevision]).toEqual([4, 3]);
    await clock.advance(3_000_000);
    expect([etcd.revision, etcd.compactRevision]).toEqual([14, 13]);
    compactor.stop();
    expect(clock.pendingTimers).toBe(0);
    await etcd.close();
  });

  it('is off with an interval of zero', () => {
    const clock = new VirtualClock();
    new Compactor({ etcd: new EmbeddedEtcd({ clock }), clock, intervalMs: 0 }).start();
    expect(clock.pendingTimers).toBe(0);
  });
});
