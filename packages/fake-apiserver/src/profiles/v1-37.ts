// Kubernetes 1.37.2 with its default gates, as far as the watch path shows them.
// Upstream: apiserver@v0.37.2:pkg/features/kube_features.go
// Differs: ListFromCacheSnapshot has no part here. It changes who answers an exact list, and snapshots end with a compaction as
// etcd's history does.
import { overrideProfile, type Profile } from './profile.ts';
import { v1_30 } from './v1-30.ts';

export const v1_37: Profile = {
  ...overrideProfile(v1_30, {
    gates: {
      WatchList: true,
      ConsistentListFromCache: true,
      ResilientWatchCacheInitialization: true,
      RetryGenerateName: true,
      CustomResourceFieldSelectors: true,
    },
    behaviours: {
      bookmarkNeedsEvent: false,
      initialEventsEndTiming: 'immediate',
      limitFromCache: true,
      nullCreationTimestamp: false,
      badVersionOnListIsBadRequest: true,
      futureExactIsTooLarge: true,
    },
  }),
  version: '1.37.2',
};
