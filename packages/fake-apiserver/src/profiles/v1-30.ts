// Kubernetes 1.30.3 with its default gates.
// Upstream: apiserver@v0.30.3:pkg/features/kube_features.go, pkg/storage/cacher/{cacher,watch_cache}.go
import type { Profile } from './profile.ts';

const bookmarkFrequencyMs = 60_000;

export const v1_30: Profile = {
  version: '1.30.3',
  gates: {
    WatchList: false,
    ConsistentListFromCache: false,
    WatchFromStorageWithoutResourceVersion: false,
    ResilientWatchCacheInitialization: false,
    StorageNamespaceIndex: true,
    RetryGenerateName: false,
    CustomResourceFieldSelectors: false,
  },
  watchCache: {
    lowerBoundCapacity: 100,
    upperBoundCapacity: 102_400,
    eventFreshDurationMs: bookmarkFrequencyMs + 15_000,
    blockTimeoutMs: 3_000,
    incomingBuffer: 100,
    bookmarkFrequencyMs,
    dispatchTickMs: 1_000,
    timeBudgetRefreshMs: 50,
    timeBudgetMaxMs: 100,
    intervalBuffer: 100,
    progressRequestPeriodMs: 100,
    relistDelayMs: 1_000,
    listPageSize: 10_000,
  },
  behaviours: {
    bookmarkNeedsEvent: true,
    initialEventsEndTiming: 'tick',
    limitFromCache: false,
    nullCreationTimestamp: true,
    badVersionOnListIsBadRequest: false,
    futureExactIsTooLarge: false,
    emptyResourceVersionWatch: 'initial-state',
  },
};
