// Leases: keys that go away together when their time is up.
// Upstream: etcd@v3.5.15:server/lease/lessor.go
// Differs: expiry is exact instead of looked for every 500 ms.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { EtcdEvent, LeaseId } from '../client.ts';
import { EtcdError } from '../errors.ts';

export interface Lease {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  readonly expiresAtMs: number;
  readonly keys: Set<string>;
}

export interface LessorOptions {
  readonly clock: Clock;
  /** Called with leases whose time is up, oldest first; they are forgotten already. */
  readonly expired: (leases: readonly Lease[]) => void;
  /** etcd cannot promise less than one and a half election timeouts. Default 2. */
  readonly minTtlSeconds?: number | undefined;
}

export class Lessor {
  readonly #options: LessorOptions;
  readonly #leases = new Map<LeaseId, Lease>();
  #nextId = 1;
  #timer: ClockTimer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(options: LessorOptions) {
    this.#options = options;
  }

  grant(ttlSeconds: number): Lease {
    const ttl = Math.max(ttlSeconds, this.#options.minTtlSeconds ?? 2);
    return this.restore(String(this.#nextId), ttl, this.#options.clock.now() + ttl * 1000);
  }

  /** Takes a lease over from disk. */
  restore(id: LeaseId, ttlSeconds: number, expiresAtMs: number): Lease {
    const lease: Lease = { id, ttlSeconds, expiresAtMs, keys: new Set() };
    this.#leases.set(id, lease);
    this.#nextId = Math.max(this.#nextId, Number(id) + 1);
    this.#arm(expiresAtMs);
    return lease;
  }

  get(id: LeaseId): Lease {
    const lease = this.#leases.get(id);
    if (lease === undefined) throw new EtcdError('LeaseNotFound');
    return lease;
  }

  revoke(id: LeaseId): Lease {
    const lease = this.get(id);
    this.#leases.delete(id);
    return lease;
  }

  /** Moves keys to the leases their new states name. */
  observe(events: readonly EtcdEvent[]): void {
    for (const { kv, prevKv } of events) {
      if (prevKv !== undefined && prevKv.lease !== '') this.#leases.get(prevKv.lease)?.keys.delete(kv.key);
      if (kv.lease !== '') this.#leases.get(kv.lease)?.keys.add(kv.key);
    }
  }

  all(): IterableIterator<Lease> {
    return this.#leases.values();
  }

  close(): void {
    this.#timer?.cancel();
    this.#leases.clear();
  }

  #arm(atMs: number): void {
    if (atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(() => this.#expire(), atMs - clock.now(), { unref: true });
  }

  #expire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const now = this.#options.clock.now();
    const due = [...this.#leases.values()].filter((lease) => lease.expiresAtMs <= now);
    for (const lease of due) this.#leases.delete(lease.id);
    due.sort((a, b) => a.expiresAtMs - b.expiresAtMs);
    if (due.length > 0) this.#options.expired(due);
    let next = Number.POSITIVE_INFINITY;
    for (const lease of this.#leases.values()) next = Math.min(next, lease.expiresAtMs);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }
}
