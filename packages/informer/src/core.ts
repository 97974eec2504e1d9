// What runs everywhere: no Node module is imported below here.

export * from './client/index.ts';
export type { ClientConfig } from './config/client-config.ts';
export * from './controller/index.ts';
export * from './errors.ts';
export * from './leader-election/index.ts';
export { PrometheusRegistry, reflectorMetricsOn, workQueueMetricsOn } from './metrics/prometheus.ts';
export { type Delta, type Deltas, type DeltaType, dedupDeltas } from './queue/delta.ts';
export { DeltaFIFO, type DeltaFIFOOptions } from './queue/delta-fifo.ts';
export type { KnownObjects, Popped, Queue } from './queue/queue.ts';
export { RealFIFO, type RealFIFOOptions } from './queue/the-real-fifo.ts';
export { BackoffManager, type BackoffOptions } from './reflector/backoff-manager.ts';
export { type AuditSource, auditCache, type Inconsistency } from './reflector/data-consistency-detector.ts';
export type { Fault, FaultKind, FaultVerb, InformerStatus } from './reflector/informer-status.ts';
export { Reflector } from './reflector/reflector.ts';
export type { ReflectorMetrics, ReflectorMetricsProvider } from './reflector/reflector-metrics.ts';
export type { ReflectorOptions } from './reflector/reflector-options.ts';
export type { InitialMode, ReflectorPolicy, ReflectorProfile, RelistFrom } from './reflector/reflector-policy.ts';
export type { ReflectorStore } from './reflector/reflector-store.ts';
export type { ExpectedType } from './reflector/watch-handler.ts';
export * from './resources/builtin.ts';
export { type AuthProvider, basicAuth, bearerToken, type Impersonation } from './rest/auth.ts';
export { createFetchTransport, type FetchFunction, type FetchTransportOptions } from './rest/fetch-transport.ts';
export { FrameDecoder, type FrameDecoderOptions } from './rest/frame-decoder.ts';
export { ListWatch, type ListWatchOptions } from './rest/list-watch.ts';
export type {
  ListContext,
  ListerWatcher,
  ListResult,
  WatchContext,
  WatchSink,
  WatchStream,
} from './rest/lister-watcher.ts';
export { eachPage, listPages, type PagedList, type PageFunction, type PagerOptions } from './rest/pager.ts';
export { type RateLimiter, type TokenBucketOptions, tokenBucket } from './rest/rate-limiter.ts';
export {
  defineResource,
  describeResource,
  type Live,
  type ResourceDefinition,
  type ResourceType,
} from './rest/resource-type.ts';
export { type RequestSpec, RestClient, type RestClientOptions } from './rest/rest-client.ts';
export type {
  BodySink,
  Transport,
  TransportBody,
  TransportPurpose,
  TransportRequest,
  TransportResponse,
} from './rest/transport.ts';
export type { Warning } from './rest/warnings.ts';
export type { Decoding } from './rest/watch-decoder.ts';
export type { WatchListSupport } from './rest/watch-list-support.ts';
export { type IndexQuery, type StoreQuery, select$ } from './rx/select.ts';
export type { BufferPolicy } from './shared-informer/buffer-policy.ts';
export {
  filteringHandler,
  type Handler,
  type HandlerErrorPolicy,
  type HandlerOptions,
  type HandlerRegistration,
  type ResourceEventHandler,
} from './shared-informer/event-handler.ts';
export type { ChangesOptions, Informer, WhenSyncedOptions } from './shared-informer/informer.ts';
export { type InformerHealth, type InformerHealthOptions, informerHealth } from './shared-informer/informer-health.ts';
export type { InformerSourceSpec, SharedIndexInformerOptions, Transform } from './shared-informer/informer-options.ts';
export type { InformerSpec } from './shared-informer/informer-spec.ts';
export { SharedIndexInformer } from './shared-informer/shared-index-informer.ts';
export { SharedInformerFactory, type SharedInformerFactoryOptions } from './shared-informer/shared-informer-factory.ts';
export type { StoreEvent } from './shared-informer/store-event.ts';
export { CompactObjectTable, type CompactObjectTableOptions } from './store/compact-object-table.ts';
export type { FreezeMode } from './store/deep-freeze.ts';
export { ExpirationCache, type ExpirationCacheOptions } from './store/expiration-cache.ts';
export { IndexedStore, type IndexedStoreOptions, type Indexers } from './store/indexed-store.ts';
export { keyOf, metaNamespaceKeyFunc, splitMetaNamespaceKey } from './store/key-func.ts';
export { type CacheChange, MutationCache, type MutationCacheOptions } from './store/mutation-cache.ts';
export { MapObjectTable, type ObjectTable } from './store/object-table.ts';
export type { ReadonlyStore, SelectOptions } from './store/store.ts';
export type { IndexFunc } from './store/store-index.ts';
export * from './tools/index.ts';
export * from './workqueue/index.ts';
