// Builds everything the server serves of its own: resources from data, strategies, admission, the objects every cluster has.
// Upstream: kubernetes@v1.30.3:pkg/controlplane/instance.go
import { type Clock, everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import { AdmissionChain, type AdmissionPlugin } from '../admission/admission.ts';
import { NamespaceLifecycle, namespaceLookup } from '../admission/namespace-lifecycle.ts';
import {
  defaultIngressClass,
  defaultStorageClass,
  type ListAll,
  oneDefaultPriorityClass,
  storageObjectInUseProtection,
  taintNodesByCondition,
} from '../admission/objects.ts';
import { defaultTolerationSeconds, Priority } from '../admission/pods.ts';
import type { Profile } from '../profiles/profile.ts';
import type { DataProfile } from '../schema/index.ts';
import type { StorageFactory } from '../storage/storage-factory.ts';
import { ServiceAllocation } from './core/service-allocation.ts';
import { IpAllocator, PortAllocator } from './core/service-allocators.ts';
import { serviceStrategy } from './core/service-strategy.ts';
import { type CrdStore, CustomResources } from './custom/index.ts';
import type { Random } from './names.ts';
import { BuiltInResources } from './resources.ts';
import { ServedResources } from './served-resources.ts';
import type { Store } from './store.ts';

const DEFAULT_SERVICE_RANGE = '10.0.0.0/20';

export interface CatalogOptions {
  /** Empties namespaces that are being deleted. Default true. */
  readonly namespaceController?: boolean | undefined;
  /** `--service-cluster-ip-range`. Default `10.0.0.0/20`. */
  readonly serviceClusterIpRange?: string | undefined;
  /** False answers everything from etcd. Default true. */
  readonly watchCache?: boolean | undefined;
  /** Run after the built-in plugins. */
  readonly admission?: readonly AdmissionPlugin[] | undefined;
}

export interface CatalogDependencies {
  readonly storageFactory: StorageFactory;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: Random;
  readonly profile: Profile;
  readonly options?: CatalogOptions | undefined;
}

/** `1.30.3` reads the data recorded of `v1.30`. */
export function dataProfileOf(profile: Profile): DataProfile {
  const [major, minor] = profile.version.split('.');
  return `v${major}.${minor}` as DataProfile;
}

/** The registry of one server. It belongs to the server that made it; closing ends all watches. */
export class Registry {
  readonly catalog: ServedResources = new ServedResources();
  readonly #builtIn: BuiltInResources;
  readonly #services: ServiceAllocation;
  readonly customResources: CustomResources;
  readonly #stores = new Map<string, Store>();

  constructor({ storageFactory, clock, random, profile, options = {} }: CatalogDependencies) {
    const range = options.serviceClusterIpRange ?? DEFAULT_SERVICE_RANGE;
    this.#services = new ServiceAllocation(new IpAllocator(range, random), new PortAllocator(random));
    const admission = new AdmissionChain(this.#plugins(options));
    this.#builtIn = new BuiltInResources({
      profile: dataProfileOf(profile),
      storageFactory,
      clock,
      random,
      admission,
      strategies: new Map([['/services', serviceStrategy(this.#services)]]),
      watchCache: options.watchCache ?? true,
    });
    for (const store of this.#builtIn.stores) {
      const { group, version, resource } = store.info;
      this.#stores.set(`${group}/${version}/${resource}`, store);
      this.catalog.add(store);
    }
    this.customResources = new CustomResources({
      crds: this.store('apiextensions.k8s.io/v1/customresourcedefinitions') as CrdStore,
      catalog: this.catalog,
      storageFactory,
      profile: dataProfileOf(profile),
      admission,
      clock,
      random,
      watchCache: options.watchCache ?? true,
    });
  }

  #plugins(options: CatalogOptions): readonly AdmissionPlugin[] {
    const listAll =
      (path: string): ListAll =>
      async (signal) => {
        const { core } = this.store(path);
        const predicate = {
          label: everythingLabels,
          field: everythingFields,
          getAttributes: () => ({ labels: undefined, fields: {} }),
          limit: 0,
          continue: '',
          allowWatchBookmarks: false,
        };
        const list = await core.storage.getList(`${core.prefix}/`, { resourceVersion: '0', predicate, signal });
        return list.items.map((item) => item.object);
      };
    const priorityClasses = listAll('scheduling.k8s.io/v1/priorityclasses');
    return [
      new NamespaceLifecycle((name, signal) =>
        namespaceLookup(this.store('/v1/namespaces').core.storage)(name, signal),
      ),
      taintNodesByCondition,
      new Priority(priorityClasses),
      defaultTolerationSeconds,
      defaultStorageClass(listAll('storage.k8s.io/v1/storageclasses')),
      storageObjectInUseProtection,
      defaultIngressClass(listAll('networking.k8s.io/v1/ingressclasses')),
      oneDefaultPriorityClass(priorityClasses),
      ...(options.admission ?? []),
    ];
  }

  /** The store of a built-in resource by `GROUP/VERSION/RESOURCE`. */
  store(path: string): Store {
    const store = this.#stores.get(path);
    if (store === undefined) throw new RangeError(`no built-in resource ${path}`);
    return store;
  }

  /** Makes the objects every cluster has. Idempotent: what is there stays as it is. */
  async start(_signal?: AbortSignal): Promise<void> {
    await this.customResources.start();
  }

  async close(): Promise<void> {
    await this.customResources.close();
    await Promise.all(this.#builtIn.storages.map((storage) => storage.close()));
  }
}

/** The single way in: builds the registry of a server over a storage factory. */
export function createCatalog(dependencies: CatalogDependencies): Registry {
  return new Registry(dependencies);
}
