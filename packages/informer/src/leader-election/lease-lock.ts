// The lock of an election: a Lease object, changed only from the version that was read.
// Upstream: client-go@v0.30.3:tools/leaderelection/resourcelock/leaselock.go#LeaseLock
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { isNotFound } from '@kube-rx/apimachinery';
import type { ObjectRef } from '../client/client-options.ts';
import { ResourceClient } from '../client/resource-client.ts';
import type { Live, ResourceType } from '../rest/resource-type.ts';
import { defineResource } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { LeaderElectionRecord } from './election-record.ts';

/** What was read from a lock. */
export interface LockState {
  readonly record: LeaderElectionRecord;
  /** The record as it is stored: a change that `record` cannot show, such as a time in another form, is a change too. */
  readonly raw: string;
}

/** Where the record of an election is kept. Writes fail with a conflict when somebody else wrote since the last read or write. */
export interface ElectionLock {
  /** For logs. */
  readonly description: string;
  /** undefined when there is none yet. */
  get(signal: AbortSignal): Promise<LockState | undefined>;
  create(record: LeaderElectionRecord, signal: AbortSignal): Promise<void>;
  update(record: LeaderElectionRecord, signal: AbortSignal): Promise<void>;
}

/** `coordination.k8s.io/v1`, the fields an election uses. */
export interface Lease extends KubernetesObject {
  readonly apiVersion?: 'coordination.k8s.io/v1';
  readonly kind?: 'Lease';
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const Leases: ResourceType<Lease> = defineResource<Lease>()({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
});

/** @example new LeaseLock(rest, { name: 'shop-operator', namespace: 'kube-system' }) */
export class LeaseLock implements ElectionLock {
  readonly description: string;
  readonly #name: string;
  readonly #client: ResourceClient<Lease>;
  // The Lease as last read or written; its version is what the next update is based on.
  #lease: Live<Lease> | undefined;

  constructor(rest: RestClient, ref: Required<ObjectRef>) {
    this.#name = ref.name;
    this.#client = new ResourceClient(rest, Leases, { namespace: ref.namespace });
    this.description = `${ref.namespace}/${ref.name}`;
  }

  async get(signal: AbortSignal): Promise<LockState | undefined> {
    try {
      this.#lease = await this.#client.get(this.#name, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#lease = undefined;
      return undefined;
    }
    return { record: recordOf(this.#lease), raw: JSON.stringify(this.#lease.spec ?? {}) };
  }

  async create(record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    this.#lease = await this.#client.create({ metadata: { name: this.#name }, spec: specOf(record) }, { signal });
  }

  async update(record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    if (this.#lease === undefined) throw new Error(`lease ${this.description} was not read before it is written`);
    // Labels, annotations and fields of later versions stay.
    this.#lease = await this.#client.update(
      { ...this.#lease, spec: { ...this.#lease.spec, ...specOf(record) } },
      { signal },
    );
  }
}

function recordOf({ spec = {} }: Lease): LeaderElectionRecord {
  return {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: timeOf(spec.acquireTime),
    renewTime: timeOf(spec.renewTime),
    leaderTransitions: spec.leaseTransitions ?? 0,
  };
}

function specOf(record: LeaderElectionRecord): NonNullable<Lease['spec']> {
  return {
    holderIdentity: record.holderIdentity,
    leaseDurationSeconds: record.leaseDurationSeconds,
    acquireTime: microTime(record.acquireTime),
    renewTime: microTime(record.renewTime),
    leaseTransitions: record.leaderTransitions,
  };
}

/** The API wants six digits behind the point. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const timeOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text) || 0);
