// What the verbs of one etcd3 store share.
import type { EtcdClient } from '../../etcd/client.ts';
import type { Profile } from '../../profiles/profile.ts';
import { type Counter, type Metrics, noMetrics } from '../metrics.ts';
import type { ResourceStorageConfig } from '../storage-factory.ts';
import { Decoder } from './decode.ts';
import type { LeaseManager } from './lease-manager.ts';

export interface Etcd3StoreOptions {
  readonly etcd: EtcdClient;
  readonly config: ResourceStorageConfig;
  readonly profile: Profile;
  /** Shared by all stores of one etcd. */
  readonly leases: LeaseManager;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly metrics?: Metrics | undefined;
}

export interface ListCounters {
  readonly total: Counter;
  readonly fetched: Counter;
  readonly evaluated: Counter;
  readonly returned: Counter;
}

export interface StoreContext {
  readonly etcd: EtcdClient;
  readonly config: ResourceStorageConfig;
  readonly profile: Profile;
  readonly leases: LeaseManager;
  readonly random: () => number;
  readonly decoder: Decoder;
  readonly listCounters: ListCounters;
  readonly eventsReceived: Counter;
}

export function makeStoreContext(options: Etcd3StoreOptions): StoreContext {
  const { config } = options;
  const metrics = options.metrics ?? noMetrics;
  const { group, resource } = config.groupResource;
  const labels = { resource: group === '' ? resource : `${resource}.${group}` };
  return {
    etcd: options.etcd,
    config,
    profile: options.profile,
    leases: options.leases,
    random: options.random,
    decoder: new Decoder(config.codec, metrics.counter('apiserver_storage_decode_errors_total', labels)),
    listCounters: {
      total: metrics.counter('apiserver_storage_list_total', labels),
      fetched: metrics.counter('apiserver_storage_list_fetched_objects_total', labels),
      evaluated: metrics.counter('apiserver_storage_list_evaluated_objects_total', labels),
      returned: metrics.counter('apiserver_storage_list_returned_objects_total', labels),
    },
    eventsReceived: metrics.counter('apiserver_storage_events_received_total', labels),
  };
}
