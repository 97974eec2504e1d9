// What a record becomes in a Lease and back, and what of a Lease is left alone.
// Upstream: client-go@v0.30.3:tools/leaderelection/resourcelock/leaselock.go#LeaseLock
import { VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { LeaderElectionRecord } from './election-record.ts';
import { LeaseLock } from './lease-lock.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const { signal } = new AbortController();
const record = (holderIdentity: string, renewTime: number): LeaderElectionRecord => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  acquireTime: Date.UTC(2024, 0, 1, 0, 0, 0, 7),
  renewTime,
  leaderTransitions: 3,
});

describe('LeaseLock', () => {
  let api: MemoryApi;
  const open = (): LeaseLock => {
    const rest = new RestClient({
      server: 'http://api.test',
      transport: api,
      clock: new VirtualClock(),
      maxRetries: 0,
    });
    return new LeaseLock(rest, { name: 'op', namespace: 'kube-system' });
  };
  beforeEach(() => {
    api = new MemoryApi();
  });

  it('gives back what was written, with milliseconds', async () => {
    const lock = open();
    expect(await lock.get(signal)).toBeUndefined();
    const first = record('a', Date.UTC(2024, 0, 1, 0, 0, 5, 123));
    await lock.create(first, signal);
    expect((await open().get(signal))?.record).toEqual(first);
    expect(api.read(`${LEASES}/op`)?.spec).toMatchObject({ renewTime: '2024-01-01T00:00:05.123000Z' });
    const second = record('', Date.UTC(2024, 0, 1, 0, 1));
    await lock.update(second, signal);
    expect((await lock.get(signal))?.record).toEqual(second);
  });

  it('tells an unchanged Lease from one that was renewed, whatever happens to its metadata', async () => {
    const lock = open();
    await lock.create(record('a', 1000), signal);
    const before = (await lock.get(signal))?.raw;
    const spec = api.read(`${LEASES}/op`)?.spec;
    api.put(LEASES, { metadata: { name: 'op', labels: { a: 'b' } }, spec });
    expect((await lock.get(signal))?.raw).toBe(before);
    await lock.update(record('a', 2000), signal);
    expect((await lock.get(signal))?.raw).not.toBe(before);
  });

  it('leaves labels and fields it does not know in place', async () => {
    const metadata = { name: 'op', labels: { a: 'b' } };
    api.put(LEASES, { metadata, spec: { holderIdentity: 'x', strategy: 'OldestEmulationVersion' } });
    const lock = open();
    expect((await lock.get(signal))?.record).toEqual({
      holderIdentity: 'x',
      leaseDurationSeconds: 0,
      acquireTime: 0,
      renewTime: 0,
      leaderTransitions: 0,
    });
    await lock.update(record('a', 1000), signal);
    expect(api.read(`${LEASES}/op`)).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { holderIdentity: 'a', strategy: 'OldestEmulationVersion' },
    });
  });

  it('is refused when somebody wrote since it was read, and when it was never read', async () => {
    await open().create(record('a', 1000), signal);
    await expect(open().update(record('b', 1000), signal)).rejects.toThrow(/not read/);
    await expect(open().create(record('b', 1000), signal)).rejects.toMatchObject({ code: 409 });
    const [one, two] = [open(), open()];
    await Promise.all([one.get(signal), two.get(signal)]);
    await one.update(record('a', 2000), signal);
    await expect(two.update(record('b', 2000), signal)).rejects.toMatchObject({ code: 409 });
    // What was written is what the next write is based on.
    await one.update(record('a', 3000), signal);
  });

  it('takes times that are none for none', async () => {
    api.put(LEASES, { metadata: { name: 'op' }, spec: { holderIdentity: 'x', renewTime: 'yesterday' } });
    expect((await open().get(signal))?.record.renewTime).toBe(0);
  });
});
