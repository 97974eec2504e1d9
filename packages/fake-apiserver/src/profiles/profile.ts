// What differs between Kubernetes versions, as data: feature gates under upstream's names, and the constants of the watch path.
// Upstream: apiserver@v0.30.3:pkg/features/kube_features.go

/** Gates that change what this server does. Others are known to the command line but have no effect. */
export interface FeatureGates {
  readonly WatchList: boolean;
  readonly ConsistentListFromCache: boolean;
  readonly WatchFromStorageWithoutResourceVersion: boolean;
  readonly ResilientWatchCacheInitialization: boolean;
  readonly StorageNamespaceIndex: boolean;
  readonly RetryGenerateName: boolean;
  readonly CustomResourceFieldSelectors: boolean;
}
export type FeatureGate = keyof FeatureGates;

/** Sizes and times of a watch cache. Not settable on a real server; here tests may want them smaller. */
export interface WatchCacheConstants {
  readonly lowerBoundCapacity: number;
  readonly upperBoundCapacity: number;
  /** Events younger than this are not evicted while the ring can grow. */
  readonly eventFreshDurationMs: number;
  /** How long a read waits for the cache to reach its resource version. */
  readonly blockTimeoutMs: number;
  /** Events between the cache and its dispatcher. */
  readonly incomingBuffer: number;
  readonly bookmarkFrequencyMs: number;
  /** Ticks of the bookmark round lie between one and one and a quarter of it. */
  readonly dispatchTickMs: number;
  readonly timeBudgetRefreshMs: number;
  readonly timeBudgetMaxMs: number;
  readonly intervalBuffer: number;
  readonly progressRequestPeriodMs: number;
  readonly relistDelayMs: number;
  readonly listPageSize: number;
}

/** Small behaviours that changed between minors without a gate. */
export interface Behaviours {
  /** No bookmark before the dispatcher has seen something since the start of the process. */
  readonly bookmarkNeedsEvent: boolean;
  /** The bookmark that ends the initial events waits for the next tick, or follows at once. */
  readonly initialEventsEndTiming: 'tick' | 'immediate';
  /** A limit on a cached list is honoured instead of sending the list to etcd. */
  readonly limitFromCache: boolean;
  /** Bookmark objects print `creationTimestamp: null`. */
  readonly nullCreationTimestamp: boolean;
  /** A bad resourceVersion on any list is a 400. */
  readonly badVersionOnListIsBadRequest: boolean;
  /** An exact list in the future is 504 instead of etcd's raw text. */
  readonly futureExactIsTooLarge: boolean;
  /**
   * What a watch without a resource version starts with. Every real server sends the initial state; `from-now` is what
   * folklore says, for those who want to try their client against it.
   */
  readonly emptyResourceVersionWatch: 'initial-state' | 'from-now';
}

export interface Profile {
  /** Kubernetes version, e.g. `1.30.3`. */
  readonly version: string;
  readonly gates: FeatureGates;
  readonly watchCache: WatchCacheConstants;
  readonly behaviours: Behaviours;
}

/** A profile with parts of it replaced. */
export interface ProfileOverrides {
  readonly gates?: Partial<FeatureGates> | undefined;
  readonly watchCache?: Partial<WatchCacheConstants> | undefined;
  readonly behaviours?: Partial<Behaviours> | undefined;
}

export function overrideProfile(profile: Profile, overrides: ProfileOverrides): Profile {
  return {
    version: profile.version,
    gates: { ...profile.gates, ...overrides.gates },
    watchCache: { ...profile.watchCache, ...overrides.watchCache },
    behaviours: { ...profile.behaviours, ...overrides.behaviours },
  };
}
