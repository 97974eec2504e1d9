// Upstream test: apiserver@v0.30.3:pkg/storage/etcd3/lease_manager_test.go
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { EmbeddedEtcd } from '../../etcd/embedded/embedded-etcd.ts';
import { LeaseManager } from './lease-manager.ts';

const setUp = (options: { maxObjectCount?: number } = {}) => {
  const clock = new VirtualClock();
  const etcd = new EmbeddedEtcd({ clock });
  return { clock, etcd, leases: new LeaseManager({ etcd, clock, ...options }) };
};

describe('LeaseManager', () => {
  it('shares a lease within a part of the TTL that is bounded', () => {
    const { leases } = setUp();
    expect([10, 100, 1000, 2000, 86_400].map((ttl) => leases.reuseSeconds(ttl))).toEqual([0, 5, 50, 60, 60]);
  });

  it('takes a new lease when the last one would end too soon', async () => {
    const { clock, leases } = setUp();
    const first = await leases.getLease(1000);
    await clock.advance(49_000);
    expect(await leases.getLease(1000)).toBe(first);
    await clock.advance(2000);
    expect(await leases.getLease(1000)).not.toBe(first);
  });

  it('takes a new lease for a much shorter TTL, and when a lease has too many objects', async () => {
    const { leases } = setUp({ maxObjectCount: 2 });
    const first = await leases.getLease(1000);
    expect(await leases.getLease(100)).not.toBe(first);
    const third = await leases.getLease(1000);
    expect(await leases.getLease(1000)).toBe(third);
    expect(await leases.getLease(1000)).not.toBe(third);
  });

  it('gives a burst of writers one lease', async () => {
    const { leases } = setUp();
    const ids = await Promise.all(Array.from({ length: 50 }, () => leases.getLease(3600)));
    expect(new Set(ids).size).toBe(1);
  });
});
