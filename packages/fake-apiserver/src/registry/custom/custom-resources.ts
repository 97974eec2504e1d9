// Serves the resources that CRDs define: storage, stores and scales per version, put into the catalog and taken out again.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/customresource_handler.go#crdHandler
// Differs: a resource is built when its CRD is established, not on the first request; creates are not held up for two seconds after that.
import { type Clock, type ClockTimer, type Logger, silentLogger } from '@kube-rx/apimachinery';
import type { AdmissionChain } from '../../admission/admission.ts';
import { type Crd, isConditionTrue, readCrd } from '../../apiextensions/crd.ts';
import { semanticEqual } from '../../apiextensions/schema/json.ts';
import { ObjectMetaDecoder } from '../../apiextensions/schema/object-meta.ts';
import { compareKubeAwareVersions } from '../../apiextensions/versions.ts';
import { type DataProfile, loadOpenApiSchemas, loadSchemaRegistry } from '../../schema/index.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { ResourceStorage, StorageFactory } from '../../storage/storage-factory.ts';
import type { Random } from '../names.ts';
import type { ServedResources } from '../served-resources.ts';
import { CrdClient, type ManageFields, serverContext } from './crd-client.ts';
import { CrdController } from './crd-controller.ts';
import { startCrdFeed } from './crd-feed.ts';
import type { CrdStore } from './crd-store.ts';
import { deleteInstances } from './delete-instances.ts';
import { ServedCrd, type ServedCrdContext } from './served-crd.ts';

export interface CustomResourcesOptions {
  /** The store of customresourcedefinitions. */
  readonly crds: CrdStore;
  readonly catalog: ServedResources;
  readonly storageFactory: StorageFactory;
  readonly profile: DataProfile;
  readonly admission: AdmissionChain;
  readonly clock: Clock;
  readonly random: Random;
  /** How many names are tried for a generateName. */
  readonly nameAttempts: number;
  /** Gate CustomResourceFieldSelectors. */
  readonly selectableFields: boolean;
  /** False answers everything from etcd. */
  readonly watchCache: boolean;
  readonly logger?: Logger | undefined;
}

/** Old storages stay open for the requests that still use them. */
const TEAR_DOWN_MS = 1000;
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

export class CustomResources implements AsyncDisposable {
  readonly #options: CustomResourcesOptions;
  readonly #served = new Map<string, ServedCrd>();
  readonly #leaving = new Map<ResourceStorage, ClockTimer>();
  readonly #abort = new AbortController();
  readonly #controller: CrdController;
  readonly #context: ServedCrdContext;
  readonly #logger: Logger;

  #manageFields: ManageFields | undefined;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    const { crds, clock, profile, logger = silentLogger } = options;
    this.#logger = logger;
    const objectMeta = loadSchemaRegistry(profile).byName(OBJECT_META);
    if (objectMeta === undefined) throw new Error(`type ${OBJECT_META} is not in the schema registry`);
    this.#context = {
      storageFactory: options.storageFactory,
      admission: options.admission,
      clock,
      random: options.random,
      nameAttempts: options.nameAttempts,
      cached: options.watchCache,
      selectableFields: options.selectableFields,
      objectMeta,
      decoder: new ObjectMetaDecoder(objectMeta),
      describeMetadata: (field) => describe(loadOpenApiSchemas(profile)[OBJECT_META]?.properties?.[field]),
    };
    const manageFields: ManageFields = (existing, updated, ...rest) =>
      this.#manageFields?.(existing, updated, ...rest) ?? updated;
    this.#controller = new CrdController({
      client: new CrdClient(crds, this.#abort.signal, manageFields),
      clock,
      logger,
      signal: this.#abort.signal,
      deleteInstances: (crd) => this.#deleteInstances(crd),
    });
  }

  /** The store of the CRDs themselves. */
  get crds(): CrdStore {
    return this.#options.crds;
  }

  /** The CRD behind a served custom resource. */
  definitionOf(group: string, resource: string): ApiObject | undefined {
    return this.#served.get(`${resource}.${group}`)?.object;
  }

  /** Lets the writes of the controllers show in managedFields, as those of any client do. Call it before `start`. */
  useFieldManagement(manageFields: ManageFields): void {
    this.#manageFields = manageFields;
  }

  /** Resolves when everything that is stored already is served again. */
  async start(): Promise<void> {
    const { crds, clock } = this.#options;
    await startCrdFeed(
      crds.core.storage,
      {
        replaced: (objects) => this.#replace(objects),
        changed: (object) => this.#observe(object),
        removed: (object) => this.#forget(object),
      },
      { signal: this.#abort.signal, clock, logger: this.#logger },
    );
    await this.#controller.settled();
  }

  /** Ends all watches of custom resources and frees everything. */
  async close(): Promise<void> {
    this.#abort.abort();
    const storages = [...this.#leaving.keys()];
    for (const timer of this.#leaving.values()) timer.cancel();
    this.#leaving.clear();
    for (const served of this.#served.values()) storages.push(...served.storages);
    this.#served.clear();
    await Promise.all(storages.map((storage) => storage.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #replace(objects: readonly ApiObject[]): void {
    const names = new Set(objects.map((object) => object.metadata.name));
    for (const [name, served] of this.#served) if (!names.has(name)) this.#forget(served.object);
    for (const object of objects) this.#observe(object);
  }

  #observe(object: ApiObject): void {
    this.#serve(object);
    this.#controller.observe(object);
  }

  #forget(object: ApiObject): void {
    const { name = '', uid } = object.metadata;
    const served = this.#served.get(name);
    if (served !== undefined && served.object.metadata.uid === uid) this.#withdraw(name, served);
    this.#controller.forget(object);
  }

  #withdraw(name: string, served: ServedCrd): void {
    this.#served.delete(name);
    for (const { group, version, resource } of served.infos) this.#options.catalog.remove(group, version, resource);
    this.#tearDown(served);
  }

  #tearDown(served: ServedCrd): void {
    for (const storage of served.storages) {
      const leave = (): void => {
        this.#leaving.delete(storage);
        storage
          .close()
          .catch((error: unknown) => this.#logger.warn('storage of a custom resource not closed', { error }));
      };
      this.#leaving.set(storage, this.#options.clock.setTimer(leave, TEAR_DOWN_MS, { unref: true }));
    }
  }

  #serve(object: ApiObject): void {
    const crd = readCrd(object);
    const old = this.#served.get(crd.name);
    if (!isConditionTrue(crd, 'Established')) {
      if (old !== undefined) this.#withdraw(crd.name, old);
      return;
    }
    const sameStorage = old !== undefined && old.crd.uid === crd.uid && sameResource(old, object);
    if (sameStorage && isTerminating(old.crd) === isTerminating(crd)) return void old.renew(object);
    let next: ServedCrd;
    try {
      next = sameStorage ? old.as(object, crd) : new ServedCrd(object, crd, this.#context);
    } catch (error) {
      this.#logger.error('custom resource definition cannot be served', { name: crd.name, error });
      return;
    }
    this.#served.set(crd.name, next);
    this.#install(old, next);
    if (old !== undefined && !sameStorage) this.#tearDown(old);
  }

  #install(old: ServedCrd | undefined, next: ServedCrd): void {
    const { catalog } = this.#options;
    const kept = new Set(next.infos.map((info) => info.version));
    for (const { group, version, resource } of old?.infos ?? [])
      if (!kept.has(version)) catalog.remove(group, version, resource);
    const best = [...next.versions].sort((a, b) =>
      compareKubeAwareVersions(b.store.info.version, a.store.info.version),
    );
    for (const { store, subresources } of best) catalog.add(store, subresources);
  }

  async #deleteInstances(crd: Crd): Promise<void> {
    const served = this.#served.get(crd.name);
    if (served === undefined || served.crd.uid !== crd.uid) return;
    await deleteInstances(served.storageVersionStore, serverContext(this.#abort.signal));
  }
}

function describe(property: object | undefined): string {
  const text: unknown = property !== undefined && 'description' in property ? property.description : '';
  return typeof text === 'string' ? text : '';
}

const isTerminating = (crd: Crd): boolean => isConditionTrue(crd, 'Terminating');

/** Only the spec and the accepted names decide about storage; conditions come and go without a rebuild. */
function sameResource(old: ServedCrd, object: ApiObject): boolean {
  const { crd } = old;
  return (
    semanticEqual(old.object['spec'], object['spec']) && semanticEqual(crd.acceptedNames, readCrd(object).acceptedNames)
  );
}
