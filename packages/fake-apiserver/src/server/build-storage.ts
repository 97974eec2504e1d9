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
import { Cacher } from '../storage/cacher/cacher.ts';
import type { CacherInspection } from '../storage/cacher/inspect.ts';
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

/** The state of all storage as plain data. */
export interface StorageInspection {
  readonly etcd: {
    readonly revision: string;
    /** '' before the first compaction. */
    readonly compactRevision: string;
    readonly version: string;
    readonly dbSizeBytes: number;
  };
  readonly compaction: { readonly rounds: number; readonly nextRevision: string };
  readonly caches: readonly CacherInspection[];
  /** Resources that are answered by etcd directly. */
  readonly uncached: readonly string[];
}

/**
 * The factory with what a test or an operator may do to everything it made. Resources are named as in kubectl:
 * `configmaps`, `deployments.apps`; a custom resource has a cache per served version, all are meant.
 */
export interface StorageBackend extends StorageFactory, AsyncDisposable {
  /** Runs once `start` was called. */
  readonly compactor: Compactor;
  /**
   * Makes the caches of a resource forget their rings, so that a watch from before this moment is 410.
   *
   * @throws OptionsError when the resource has no cache
   */
  slideWindow(resource: string): void;
  /**
   * Breaks the watch of a resource's caches: they list again after a second, and end all watches.
   *
   * @throws OptionsError when the resource has no cache
   */
  reinitialize(resource: string): void;
  /** Resolves when all caches made so far can serve. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Compacts etcd to a revision, by default the present one, and returns it. */
  compact(revision?: number): Promise<number>;
  inspect(): Promise<StorageInspection>;
  /** Ends all watches. etcd belongs to the caller. */
  close(): Promise<void>;
}

export function createStorageFactory(options: StorageBackendOptions): StorageBackend {
  return new Backend(options);
}

class Backend implements StorageBackend {
  readonly compactor: Compactor;
  readonly #options: StorageBackendOptions;
  readonly #leases: LeaseManager;
  readonly #caches = new Set<Cacher>();
  readonly #uncached = new Set<ResourceStorage>();

  constructor(options: StorageBackendOptions) {
    this.#options = options;
    const { etcd, clock = realClock, metrics, logger } = options;
    const { leaseReuseDurationSeconds: reuseDurationSeconds, compactionIntervalMs: intervalMs } = options;
    this.#leases = new LeaseManager({ etcd, clock, reuseDurationSeconds, metrics });
    this.compactor = new Compactor({ etcd, clock, intervalMs, logger });
    metrics?.onCollect?.(() => this.#collect(metrics));
  }

  create(config: ResourceStorageConfig): ResourceStorage {
    if (config.resourcePrefix.endsWith('/')) {
      throw new OptionsError('resourcePrefix', config.resourcePrefix, 'a path without a slash at its end');
    }
    const {
      etcd,
      clock = realClock,
      random,
      profile = v1_30,
      metrics = noMetrics,
      logger = silentLogger,
    } = this.#options;
    const store = new Etcd3Store({ etcd, config, profile, leases: this.#leases, clock, random, metrics, logger });
    if (!isCached(config, this.#options)) return tracked(this.#uncached, store);
    return tracked(this.#caches, new Cacher({ config, store, profile, clock, random, metrics, logger }));
  }

  slideWindow(resource: string): void {
    for (const cache of this.#cachesOf(resource)) cache.slideWindow();
  }

  reinitialize(resource: string): void {
    for (const cache of this.#cachesOf(resource)) cache.reinitialize();
  }

  async whenReady(signal?: AbortSignal): Promise<void> {
    for (const cache of this.#caches) if (!cache.ready) await cache.whenReady(signal);
  }

  async compact(revision?: number): Promise<number> {
    const { etcd } = this.#options;
    const target = revision ?? (await etcd.status()).revision;
    await etcd.compact(target);
    return target;
  }

  async inspect(): Promise<StorageInspection> {
    const { revision, compactRevision, version, dbSizeBytes } = await this.#options.etcd.status();
    const { time, revision: next } = this.compactor.state;
    return {
      etcd: {
        revision: String(revision),
        compactRevision: compactRevision === undefined ? '' : String(compactRevision),
        version,
        dbSizeBytes,
      },
      compaction: { rounds: time, nextRevision: String(next) },
      caches: [...this.#caches].map((cache) => cache.inspect()),
      uncached: [...this.#uncached].map((store) => formatGroupResource(store.config.groupResource)),
    };
  }

  async close(): Promise<void> {
    this.compactor.stop();
    await Promise.all([...this.#caches, ...this.#uncached].map((storage) => storage.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Upstream polls these once a minute, and says -1 when it cannot tell. */
  async #collect(metrics: Metrics): Promise<void> {
    const { etcd } = this.#options;
    for (const storage of [...this.#caches, ...this.#uncached]) {
      const { groupResource, resourcePrefix } = storage.config;
      const objects = metrics.gauge('apiserver_storage_objects', { resource: formatGroupResource(groupResource) });
      objects.set(await storage.count(resourcePrefix).catch(() => -1));
    }
    const status = await etcd.status().catch(() => undefined);
    if (status === undefined) return;
    metrics.gauge('apiserver_storage_size_bytes', { storage_cluster_id: 'etcd-0' }).set(status.dbSizeBytes);
    metrics.gauge('etcd_debugging_mvcc_current_revision').set(status.revision);
    metrics.gauge('etcd_debugging_mvcc_compact_revision').set(status.compactRevision ?? 0);
  }

  #cachesOf(resource: string): readonly Cacher[] {
    const found = [...this.#caches].filter((cache) => formatGroupResource(cache.config.groupResource) === resource);
    if (found.length === 0) throw new OptionsError('resource', resource, 'a resource with a watch cache');
    return found;
  }
}

/** Storage of a CRD that goes away must not be listed for ever. */
function tracked<S extends ResourceStorage>(open: Set<S>, storage: S): S {
  open.add(storage);
  const close = storage.close.bind(storage);
  storage.close = async () => {
    open.delete(storage);
    await close();
  };
  return storage;
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
