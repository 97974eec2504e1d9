// The storage and watch suites on the store alone and on the cache before it.
import { VirtualClock } from '@kube-rx/apimachinery';
import { describeStorage } from '@kube-rx/contract/suites/storage.suite';
import { podConfig, type StorageUnderTest } from '@kube-rx/contract/suites/storage-fixture';
import { describeWatchSemantics } from '@kube-rx/contract/suites/watch-semantics.suite';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { type FeatureGate, overrideProfile } from '../profiles/profile.ts';
import { v1_30 } from '../profiles/v1-30.ts';
import { createStorageFactory } from '../server/build-storage.ts';

async function underTest(cached: boolean, gates: readonly FeatureGate[] = []): Promise<StorageUnderTest> {
  const clock = new VirtualClock();
  const etcd = new EmbeddedEtcd({ clock });
  const profile = overrideProfile(v1_30, { gates: Object.fromEntries(gates.map((gate) => [gate, true])) });
  const backend = createStorageFactory({ etcd, clock, random: () => 0.5, profile });
  const storage = backend.create({ ...podConfig, cached });
  await backend.whenReady();
  return {
    storage,
    etcd,
    clock,
    cached,
    close: async () => {
      await backend.close();
      await etcd.close();
    },
  };
}

for (const cached of [false, true]) {
  const options = {
    name: cached ? 'Cacher over the etcd3 store' : 'etcd3 store',
    create: (gates?: readonly FeatureGate[]) => underTest(cached, gates),
  };
  describeStorage(options);
  describeWatchSemantics(options);
}
