// Builds everything the server serves of its own: resources from data, strategies, admission, the objects every cluster has.
// Upstream: kubernetes@v1.30.3:pkg/controlplane/instance.go
import type { Clock } from '@kube-rx/apimachinery';
import { AdmissionChain, type AdmissionPlugin } from '../admission/admission.ts';
import { LimitRanger } from '../admission/limit-ranger.ts';
import { NamespaceLifecycle, type NamespaceLookup, namespaceLookup } from '../admission/namespace-lifecycle.ts';
import {
  defaultIngressClass,
  defaultStorageClass,
  type ListAll,
  oneDefaultPriorityClass,
  storageObjectInUseProtection,
  taintNodesByCondition,
} from '../admission/objects.ts';
import { defaultTolerationSeconds, Priority } from '../admission/pods.ts';
import { equivalentsOf, showAs } from '../admission/policies/equivalents.ts';
import { ValidatingPolicies } from '../admission/policies/validating-policy.ts';
import { claimResize, runtimeClasses } from '../admission/runtime-and-resize.ts';
import type { Profile } from '../profiles/profile.ts';
import type { DataProfile } from '../schema/index.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { StorageError } from '../storage/errors.ts';
import type { StorageFactory } from '../storage/storage-factory.ts';
import { makeWellKnownObjects } from './bootstrap/well-known.ts';
import { eventStrategy } from './core/event-strategy.ts';
import type { NamespaceStore } from './core/namespace-strategy.ts';
import { ServiceAllocation } from './core/service-allocation.ts';
import { IpAllocator, PortAllocator } from './core/service-allocators.ts';
import { serviceStrategy } from './core/service-strategy.ts';
import { type CrdStore, CustomResources, crdStrategy } from './custom/index.ts';
import type { Draft } from './draft.ts';
import { type InstallContext, subresourcesOf, virtualResource } from './install.ts';
import { findKind, listStored } from './list-stored.ts';
import type { Random } from './names.ts';
import { NamespaceController } from './namespace-controller.ts';
import type { AccessAuthorizer } from './rbac/attributes.ts';
import { EscalationCheck } from './rbac/escalation.ts';
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { storedPolicy } from './rbac/stored-policy.ts';
import { BuiltInResources } from './resources.ts';
import type { RequestContext, UserInfo } from './rest.ts';
import { ServedResources } from './served-resources.ts';
import type { Store } from './store.ts';
import { ServiceAccountTokens } from './subresources/service-account-tokens.ts';
import type { TokenReader } from './virtual/identity-reviews.ts';

const DEFAULT_EVENT_TTL_SECONDS = 3600;
/** With the gate RetryGenerateName: of a million names under one base, one in a thousand still meets a taken one. */
const GENERATED_NAME_ATTEMPTS = 8;
const DEFAULT_SERVICE_RANGE = '10.0.0.0/20';

const OWN_USER: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

export interface CatalogOptions {
  /** Empties namespaces that are being deleted. Default true. */
  readonly namespaceController?: boolean | undefined;
  /** Life of an Event. Default 3600. */
  readonly eventTtlSeconds?: number | undefined;
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
  readonly customResources: CustomResources;
  /** Decides by the roles and bindings that are stored. */
  readonly rbac: RbacAuthorizer = new RbacAuthorizer(storedPolicy((path) => this.store(path)));
  readonly #builtIn: BuiltInResources;
  readonly #services: ServiceAllocation;
  readonly #serviceAddress: string;
  readonly #tokens: ServiceAccountTokens;
  readonly #namespaces: NamespaceController | undefined;
  readonly #stores = new Map<string, Store>();
  readonly #abort = new AbortController();
  #authorizer: AccessAuthorizer = this.rbac;
  #readToken: TokenReader | undefined;

  constructor({ storageFactory, clock, random, profile, options = {} }: CatalogDependencies) {
    const ips = new IpAllocator(options.serviceClusterIpRange ?? DEFAULT_SERVICE_RANGE, random);
    this.#serviceAddress = ips.serverAddress;
    this.#services = new ServiceAllocation(ips, new PortAllocator(random));
    this.#tokens = new ServiceAccountTokens(clock);
    const admission = new AdmissionChain(this.#plugins(options));
    const { CustomResourceFieldSelectors: selectableFields, RetryGenerateName } = profile.gates;
    const shared = {
      profile: dataProfileOf(profile),
      storageFactory,
      clock,
      random,
      admission,
      nameAttempts: RetryGenerateName ? GENERATED_NAME_ATTEMPTS : 1,
      watchCache: options.watchCache ?? true,
    };
    this.#builtIn = new BuiltInResources({
      ...shared,
      strategies: new Map([
        ['/services', serviceStrategy(this.#services)],
        ['apiextensions.k8s.io/customresourcedefinitions', crdStrategy({ selectableFields })],
        ['/events', eventStrategy(options.eventTtlSeconds ?? DEFAULT_EVENT_TTL_SECONDS)],
      ]),
    });
    for (const store of this.#builtIn.stores) {
      const { group, version, resource } = store.info;
      this.#stores.set(`${group}/${version}/${resource}`, store);
    }
    this.#install(clock);
    const crds = this.store('apiextensions.k8s.io/v1/customresourcedefinitions') as CrdStore;
    this.customResources = new CustomResources({ ...shared, crds, catalog: this.catalog, selectableFields });
    this.#namespaces = options.namespaceController === false ? undefined : this.#namespaceController(clock);
  }

  #install(clock: Clock): void {
    const context: InstallContext = {
      store: (path) => this.store(path),
      tokens: this.#tokens,
      clock,
      authorizer: () => this.#authorizer,
      readToken: () => this.#readToken ?? ((token) => this.#readOwnToken(token)),
      rulesFor: () => (user, namespace) => this.rbac.rulesFor(user, namespace),
      list: (ctx, store, namespace) => listStored(store, namespace, ctx.signal),
      shape: (group, version, kind) => this.#builtIn.shape(group, version, kind),
    };
    for (const store of this.#builtIn.stores) this.catalog.add(store, subresourcesOf(context, store));
    for (const served of this.#builtIn.unstored) {
      if (served.data.kind === 'ComponentStatus') this.catalog.add(this.#builtIn.componentStatuses(served));
      const virtual = virtualResource(context, served, this.#builtIn.infoOf(served));
      if (virtual !== undefined) this.catalog.addVirtual(virtual);
    }
  }

  #namespaceController(clock: Clock): NamespaceController {
    const namespaces = this.store('/v1/namespaces') as NamespaceStore;
    const controller = new NamespaceController({ namespaces, catalog: this.catalog, clock, ctx: this.#ownContext() });
    namespaces.onTerminating = (name) => controller.enqueue(name);
    return controller;
  }

  #plugins(options: CatalogOptions): readonly AdmissionPlugin[] {
    const listAll =
      (path: string): ListAll =>
      (signal) =>
        listStored(this.store(path), '', signal);
    const lookUpNamespace: NamespaceLookup = (name, signal) =>
      namespaceLookup(this.store('/v1/namespaces').core.storage)(name, signal);
    const storageClasses = listAll('storage.k8s.io/v1/storageclasses');
    const priorityClasses = listAll('scheduling.k8s.io/v1/priorityclasses');
    return [
      new NamespaceLifecycle(lookUpNamespace),
      new LimitRanger((namespace, signal) => listStored(this.store('/v1/limitranges'), namespace, signal)),
      taintNodesByCondition,
      new Priority(priorityClasses),
      defaultTolerationSeconds,
      defaultStorageClass(storageClasses),
      storageObjectInUseProtection,
      claimResize(storageClasses),
      runtimeClasses(listAll('node.k8s.io/v1/runtimeclasses')),
      defaultIngressClass(listAll('networking.k8s.io/v1/ingressclasses')),
      oneDefaultPriorityClass(priorityClasses),
      new EscalationCheck({
        authorizer: () => this.#authorizer,
        rulesFor: (user, namespace) => this.rbac.rulesFor(user, namespace),
        rulesOfRole: (kind, namespace, name) => this.rbac.rulesOfRole(kind, namespace, name),
      }),
      new ValidatingPolicies({
        policies: listAll('admissionregistration.k8s.io/v1/validatingadmissionpolicies'),
        bindings: listAll('admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'),
        namespace: lookUpNamespace,
        params: (apiVersion, kind, signal) => findKind(this.catalog, apiVersion, kind, signal),
        equivalents: (resource, subresource) => equivalentsOf(this.catalog, resource, subresource),
        show: (object, seen) => showAs(this.catalog, object, seen),
        authorizer: () => this.#authorizer,
      }),
      ...(options.admission ?? []),
    ];
  }

  /** The store of a built-in resource by `GROUP/VERSION/RESOURCE`. */
  store(path: string): Store {
    const store = this.#stores.get(path);
    if (store === undefined) throw new RangeError(`no built-in resource ${path}`);
    return store;
  }

  /** Lets access reviews answer what the server itself would decide. Default: by RBAC alone. */
  useAuthorizer(authorizer: AccessAuthorizer): void {
    this.#authorizer = authorizer;
  }

  /** Lets TokenReview know the tokens the server knows. Default: those of service accounts. */
  useTokenReader(read: TokenReader): void {
    this.#readToken = read;
  }

  /** The user of a service account token; undefined when it is none, has expired, or its account is gone. */
  async authenticateToken(token: string): Promise<UserInfo | undefined> {
    const known = this.#tokens.read(token);
    if (known === undefined) return undefined;
    const { namespace, name, uid } = known.subject;
    const accounts = this.store('/v1/serviceaccounts');
    try {
      const { object } = await accounts.core.storage.get(accounts.keyOf(namespace, name), { resourceVersion: '0' });
      return object.metadata.uid === uid ? known.user : undefined;
    } catch (error) {
      if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
      throw error;
    }
  }

  async #readOwnToken(token: string): ReturnType<TokenReader> {
    const user = await this.authenticateToken(token);
    return user === undefined ? undefined : { user };
  }

  #ownContext(): RequestContext {
    return { signal: this.#abort.signal, user: OWN_USER, warn: () => undefined };
  }

  /** Makes the objects every cluster has. Idempotent: what is there stays as it is. `own` notes the server as their owner. */
  async start(own?: (store: Store, object: ApiObject) => ApiObject): Promise<void> {
    for (const service of await listStored(this.store('/v1/services'), ''))
      this.#services.adopt(service as unknown as Draft);
    await makeWellKnownObjects((path) => this.store(path), this.#ownContext(), this.#serviceAddress, own);
    await this.customResources.start();
    await this.#namespaces?.start();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#namespaces?.close();
    await this.customResources.close();
    await Promise.all(this.#builtIn.storages.map((storage) => storage.close()));
  }
}

/** The single way in: builds the registry of a server over a storage factory. */
export function createCatalog(dependencies: CatalogDependencies): Registry {
  return new Registry(dependencies);
}
