// Objects with a TTL share leases: one lease for all that are written within a short time.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/lease_manager.go
import type { Clock } from '@kube-rx/apimachinery';
import type { EtcdClient, LeaseId } from '../../etcd/client.ts';
import { type Histogram, type Metrics, noMetrics } from '../metrics.ts';

export interface LeaseManagerOptions {
  readonly etcd: EtcdClient;
  readonly clock: Clock;
  /** `--lease-reuse-duration-seconds`. Default 60. */
  readonly reuseDurationSeconds?: number | undefined;
  /** Default 1000. */
  readonly maxObjectCount?: number | undefined;
  readonly metrics?: Metrics | undefined;
}

const REUSE_SHARE_OF_TTL = 0.05;

export class LeaseManager {
  readonly #options: LeaseManagerOptions;
  readonly #objectCounts: Histogram;
  #lease: { readonly id: LeaseId; readonly expiresAtMs: number; attached: number } | undefined;
  // One grant at a time, so that a burst of writes does not get a lease each.
  #granting: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseManagerOptions) {
    this.#options = options;
    this.#objectCounts = (options.metrics ?? noMetrics).histogram('etcd_lease_object_counts');
  }

  /** A lease that outlives `ttlSeconds` by no more than the reuse window. */
  getLease(ttlSeconds: number): Promise<LeaseId> {
    const turn = this.#granting.then(() => this.#next(ttlSeconds));
    this.#granting = turn.catch(() => undefined);
    return turn;
  }

  /** How much longer than asked a lease may live: a share of the TTL, with a bound. */
  reuseSeconds(ttlSeconds: number): number {
    return Math.min(this.#options.reuseDurationSeconds ?? 60, Math.floor(REUSE_SHARE_OF_TTL * ttlSeconds));
  }

  async #next(ttlSeconds: number): Promise<LeaseId> {
    const { clock, etcd, maxObjectCount = 1000 } = this.#options;
    const now = clock.now();
    const reuse = this.reuseSeconds(ttlSeconds);
    const last = this.#lease;
    if (last !== undefined) {
      const longEnough = now + ttlSeconds * 1000 < last.expiresAtMs;
      const notTooLong = now + (ttlSeconds + reuse) * 1000 >= last.expiresAtMs;
      last.attached++;
      if (longEnough && notTooLong && last.attached <= maxObjectCount) return last.id;
      this.#objectCounts.observe(last.attached - 1);
    }
    const granted = ttlSeconds + reuse;
    const id = await etcd.grantLease(granted);
    this.#lease = { id, expiresAtMs: now + granted * 1000, attached: 1 };
    return id;
  }
}
