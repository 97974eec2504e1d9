// What the verbs of one etcd3 store share.
import { type Clock, formatGroupResource, type Logger, silentLogger } from '@kube-rx/apimachinery';
import type { EtcdClient } from '../../etcd/client.ts';
import type { Profile } from '../../profiles/profile.ts';
import { type Counter, type Gauge, type Histogram, type Metrics, noMetrics } from '../metrics.ts';
import type { ResourceStorageConfig } from '../storage-factory.ts';
import { Decoder } from './decode.ts';
import type { LeaseManager } from './lease-manager.ts';

export interface Etcd3StoreOptions {
  readonly etcd: EtcdClient;
  readonly config: ResourceStorageConfig;
  readonly profile: Profile;
  /** Shared by all stores of one etcd. */
  readonly leases: LeaseManager;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly metrics?: Metrics | undefined;
  readonly logger?: Logger | undefined;
}

export interface ListCounters {
  readonly total: Counter;
  readonly fetched: Counter;
  readonly evaluated: Counter;
  readonly returned: Counter;
}

/** What a request to etcd is for, as upstream names it in its metrics. */
export type EtcdOperation = 'get' | 'list' | 'listWithCount' | 'create' | 'update' | 'delete';

export interface StoreContext {
  readonly etcd: EtcdClient;
  readonly config: ResourceStorageConfig;
  readonly profile: Profile;
  readonly leases: LeaseManager;
  readonly random: () => number;
  readonly logger: Logger;
  readonly decoder: Decoder;
  readonly listCounters: ListCounters;
  readonly eventsReceived: Counter;
  readonly progressReceived: Gauge;
  /** Counts a request to etcd, its time and its failure. */
  measure<T>(operation: EtcdOperation, call: Promise<T>): Promise<T>;
}

export function makeStoreContext(options: Etcd3StoreOptions): StoreContext {
  const { config } = options;
  const metrics = options.metrics ?? noMetrics;
  const labels = { resource: formatGroupResource(config.groupResource) };
  return {
    etcd: options.etcd,
    config,
    profile: options.profile,
    leases: options.leases,
    random: options.random,
    logger: options.logger ?? silentLogger,
    decoder: new Decoder(config.codec, metrics.counter('apiserver_storage_decode_errors_total', labels)),
    listCounters: {
      total: metrics.counter('apiserver_storage_list_total', labels),
      fetched: metrics.counter('apiserver_storage_list_fetched_objects_total', labels),
      evaluated: metrics.counter('apiserver_storage_list_evaluated_objects_total', labels),
      returned: metrics.counter('apiserver_storage_list_returned_objects_total', labels),
    },
    eventsReceived: metrics.counter('apiserver_storage_events_received_total', labels),
    progressReceived: metrics.gauge('etcd_bookmark_counts', labels),
    measure: meter(metrics, options.clock, labels.resource),
  };
}

function meter(metrics: Metrics, clock: Clock, type: string): StoreContext['measure'] {
  const series = new Map<EtcdOperation, { requests: Counter; errors: Counter; seconds: Histogram }>();
  return async (operation, call) => {
    let found = series.get(operation);
    if (found === undefined) {
      const labels = { operation, type };
      found = {
        requests: metrics.counter('etcd_requests_total', labels),
        errors: metrics.counter('etcd_request_errors_total', labels),
        seconds: metrics.histogram('etcd_request_duration_seconds', labels),
      };
      series.set(operation, found);
    }
    const { requests, errors, seconds } = found;
    const startMs = clock.now();
    requests.inc();
    try {
      return await call;
    } catch (error) {
      errors.inc();
      throw error;
    } finally {
      seconds.observe((clock.now() - startMs) / 1000);
    }
  };
}
