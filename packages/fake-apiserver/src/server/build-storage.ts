// Puts storage together: an etcd3 store per resource, a watch cache in front of it where one is wanted, and what they share.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/storage_factory.go#StorageWithCacher
import {
  type Clock,
  formatGroupResource,
  type Logger,
  OptionsError,
  realClock,
  silentLogger,
} from '@kube-rx/apimachinery';
import type { EtcdClient } from '../etcd/client.ts';
import type { Profile } from '../profiles/profile.ts';
import { v1_30 } from '../profiles/v1-30.ts';
import { Compactor } from '../storage/etcd3/compact.ts';
import { LeaseManager } from '../storage/etcd3/lease-manager.ts';
import { Etcd3Store } from '../storage/etcd3/store.ts';
import { type Metrics, noMetrics } from '../storage/metrics.ts';
import type { ResourceStorage, ResourceStorageConfig, StorageFactory } from '../storage/storage-factory.ts';

export interface StorageBackendOptions {
  readonly etcd: EtcdClient;
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default Kubernetes 1.30.3. */
  readonly profile?: Profile | undefined;
  /** `--watch-cache`. Default true. */
  readonly watchCache?: boolean | undefined;
  /** `--watch-cache-sizes`: by `resource` or `resource.group`; 0 turns a cache off, any other number turns it on. */
  readonly watchCacheSizes?: ReadonlyMap<string, number> | undefined;
  /** `--etcd-compaction-interval`; 0 turns it off. Default 5 minutes. */
  readonly compactionIntervalMs?: number | undefined;
  /** `--lease-reuse-duration-seconds`. Default 60. */
  readonly leaseReuseDurationSeconds?: number | undefined;
  readonly metrics?: Metrics | undefined;
  readonly logger?: Logger | undefined;
}

/** The factory with what a test or an operator may do to everything it made. */
export interface StorageBackend extends StorageFactory, AsyncDisposable {
  readonly compactor: Compactor;
  close(): Promise<void>;
}

/**
 * Resources are named `configmaps`, `deployments.apps` in the controls. The compactor runs once `compactor.start()` was
 * called. Closing ends all watches; etcd belongs to the caller.
 */
export function createStorageFactory(options: StorageBackendOptions): StorageBackend {
  const { etcd, clock = realClock, random, profile = v1_30, metrics = noMetrics, logger = silentLogger } = options;
  const leases = new LeaseManager({
    etcd,
    clock,
    reuseDurationSeconds: options.leaseReuseDurationSeconds,
    metrics,
  });
  const compactor = new Compactor({ etcd, clock, intervalMs: options.compactionIntervalMs, logger });
  const open = new Set<ResourceStorage>();

  function create(config: ResourceStorageConfig): ResourceStorage {
    if (config.resourcePrefix.endsWith('/')) {
      throw new OptionsError('resourcePrefix', config.resourcePrefix, 'a path without a slash at its end');
    }
    const store = new Etcd3Store({ etcd, config, profile, leases, random, metrics });
    open.add(store);
    return store;
  }

  async function close(): Promise<void> {
    compactor.stop();
    await Promise.all([...open].map((storage) => storage.close()));
    open.clear();
  }

  return { compactor, create, close, [Symbol.asyncDispose]: close };
}

/** Whether a resource gets a watch cache: the switches of the command line over what its kind says. */
export function isCached(
  config: ResourceStorageConfig,
  options: Pick<StorageBackendOptions, 'watchCache' | 'watchCacheSizes'>,
): boolean {
  if (options.watchCache === false) return false;
  const size = options.watchCacheSizes?.get(formatGroupResource(config.groupResource));
  return size === undefined ? config.cached : size > 0;
}
