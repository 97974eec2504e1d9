// The composition root: the only file that knows every layer. Builds one life of the server on an etcd that outlives it.
import { Lifecycle } from '@kube-rx/apimachinery';
import type { EndpointsContext } from '../endpoints/exchange.ts';
import { ObjectDecoder } from '../endpoints/object-decoder.ts';
import { writeBytes } from '../endpoints/response-writers.ts';
import { Shutdown } from '../endpoints/shutdown.ts';
import { StoreFieldManagers } from '../endpoints/store-field-managers.ts';
import type { EtcdClient } from '../etcd/client.ts';
import type { ResolvedOptions } from '../options.ts';
import { createCatalog } from '../registry/catalog.ts';
import type { ResourceCatalog } from '../registry/rest.ts';
import { loadDiscovery, loadSchemaRegistry } from '../schema/index.ts';
import { ApiGroups } from './api-groups.ts';
import { Authenticator, PRIVILEGED_GROUP, staticTokens } from './authentication.ts';
import { alwaysAllow, systemMasters, union } from './authorization.ts';
import { createStorageFactory, type StorageBackend, type StorageInspection } from './build-storage.ts';
import { installControl, type ServerControls } from './control.ts';
import { Discovery } from './discovery.ts';
import { HandlerChain } from './handler-chain.ts';
import { installHealth } from './health.ts';
import { METRICS_CONTENT_TYPE, MetricsRegistry } from './metrics.ts';
import { customSchemaOf, installOpenApi } from './openapi-paths.ts';
import { PathRegistry } from './path-registry.ts';
import { RequestMetrics } from './request-metrics.ts';
import { installRootPaths } from './root-paths.ts';
import { installVersion } from './version.ts';

/** What the server is doing, as plain data. */
export interface ServerState extends StorageInspection {
  readonly runningRequests: number;
}

/** One run of everything between the sockets and etcd. */
export interface ServerCore extends AsyncDisposable {
  readonly chain: HandlerChain;
  readonly catalog: ResourceCatalog;
  readonly storage: StorageBackend;
  readonly paths: PathRegistry;
  /** Ends running watches cleanly; new ones are refused. */
  endWatches(): void;
  /** Throws an OptionsError for a resource without a cache. */
  slideWindow(resource: string): void;
  /** Throws an OptionsError for a resource without a cache. */
  reinitialize(resource: string): void;
  state(): Promise<ServerState>;
  compact(revision?: number): Promise<number>;
  close(): Promise<void>;
}

export interface BuildContext {
  readonly options: ResolvedOptions;
  readonly etcd: EtcdClient;
  readonly controls: ServerControls;
  /** host:port, once it is known. */
  readonly address: () => string;
}

export async function buildServer({ options, etcd, controls, address }: BuildContext): Promise<ServerCore> {
  const { clock, random, logger, profile, profileName } = options;
  const lifecycle = new Lifecycle();
  const metrics = new MetricsRegistry();
  const requests = new RequestMetrics(metrics, clock);
  const storage = createStorageFactory({
    etcd,
    clock,
    random,
    profile,
    watchCache: options.watchCache,
    watchCacheSizes: options.watchCacheSizes,
    compactionIntervalMs: options.etcdCompactionIntervalMs,
    metrics,
    logger,
  });
  lifecycle.defer(() => storage.close());
  const registry = createCatalog({
    storageFactory: storage,
    clock,
    random,
    profile,
    options: {
      watchCache: options.watchCache,
      namespaceController: options.namespaceController,
      eventTtlSeconds: options.eventTtlSeconds,
    },
  });
  lifecycle.defer(() => registry.close());
  const { catalog } = registry;

  const fieldManagers = new StoreFieldManagers(clock, catalog);
  registry.customResources.useFieldManagement((existing, updated, manager, subresource) =>
    fieldManagers.update(registry.customResources.crds, existing, updated, manager, subresource),
  );
  const shutdown = new Shutdown();
  const endpoints: EndpointsContext = {
    catalog,
    clock,
    random,
    logger,
    decoder: new ObjectDecoder(loadSchemaRegistry(profileName)),
    fieldManagers,
    watchListEnabled: profile.gates.WatchList,
    minRequestTimeoutMs: options.minRequestTimeoutMs,
    emptyResourceVersionWatch: profile.behaviours.emptyResourceVersionWatch,
    shutdown,
    watchMetrics: (info) => requests.watch(info),
  };
  const groups = new ApiGroups(catalog, loadDiscovery(profileName));
  const discovery = new Discovery(groups, address);
  const paths = new PathRegistry();
  installVersion(paths, profile.version);
  installHealth(
    paths,
    { name: 'etcd', check: async () => (await etcd.status()).revision > 0 },
    { name: 'ready', check: () => !lifecycle.closed },
  );
  installOpenApi(paths, {
    catalog,
    profile: profileName,
    version: `v${profile.version}`,
    customSchema: ({ group, version, resource }) =>
      customSchemaOf(registry.customResources.definitionOf(group, resource), version),
  });
  installRootPaths(paths, groups);
  installControl(paths, controls);
  paths.handle('/metrics', async (request, response) =>
    writeBytes(request, response, 200, METRICS_CONTENT_TYPE, [Buffer.from(await metrics.collect())]),
  );
  const admin = { name: 'kubernetes-admin', groups: [PRIVILEGED_GROUP] };
  const staticToken = staticTokens(new Map([[options.token, admin], ...options.tokens]));
  const authenticator = new Authenticator({
    tokens: [staticToken, (token) => registry.authenticateToken(token)],
    anonymous: options.anonymousAuth,
  });
  const authorizer = options.authorization === 'AlwaysAllow' ? alwaysAllow : union(systemMasters, registry.rbac);
  registry.useAuthorizer(authorizer);
  registry.useTokenReader(async (token) => {
    const user = await authenticator.readToken(token);
    return user === undefined ? undefined : { user };
  });
  const chain = new HandlerChain({
    clock,
    logger,
    authenticator,
    authorizer,
    paths,
    discovery,
    endpoints,
    servesGroup: (name) => {
      const group = groups.get(name);
      return group === undefined ? undefined : group.custom ? 'custom' : 'built-in';
    },
    metrics: requests,
    requestTimeoutMs: options.requestTimeoutMs,
    goawayChance: options.goawayChance,
  });
  await registry.start((store, object) => fieldManagers.create(store, object, 'kube-apiserver'));
  storage.compactor.start();
  return {
    chain,
    catalog,
    storage,
    paths,
    endWatches: () => shutdown.begin(),
    slideWindow: (resource) => storage.slideWindow(resource),
    reinitialize: (resource) => storage.reinitialize(resource),
    state: async () => ({ ...(await storage.inspect()), runningRequests: chain.running }),
    compact: (revision) => storage.compact(revision),
    close: () => lifecycle.close(),
    [Symbol.asyncDispose]: () => lifecycle.close(),
  };
}
