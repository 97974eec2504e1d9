// The storage suite on the store alone and on the cache before it.
import { VirtualClock } from '@kube-rx/apimachinery';
import { describeStorage } from '@kube-rx/contract/suites/storage.suite';
import { podConfig, type StorageUnderTest } from '@kube-rx/contract/suites/storage-fixture';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { createStorageFactory } from '../server/build-storage.ts';

async function underTest(cached: boolean): Promise<StorageUnderTest> {
  const clock = new VirtualClock();
  const etcd = new EmbeddedEtcd({ clock });
  const backend = createStorageFactory({ etcd, clock, random: () => 0.5 });
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

describeStorage({ name: 'etcd3 store', create: () => underTest(false) });
describeStorage({ name: 'Cacher over the etcd3 store', create: () => underTest(true) });
