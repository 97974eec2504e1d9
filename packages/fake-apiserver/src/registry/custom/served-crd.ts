// Everything that serves one CRD in one state of its spec: a storage and a store per version.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/customresource_handler.go#crdInfo
import { type Clock, formatGroupVersion } from '@kube-rx/apimachinery';
import type { AdmissionChain } from '../../admission/admission.ts';
import { type Crd, isConditionTrue } from '../../apiextensions/crd.ts';
import type { FieldError } from '../../apiextensions/field-error.ts';
import type { EmbeddedRules } from '../../apiextensions/schema/coercion.ts';
import type { ObjectMetaDecoder } from '../../apiextensions/schema/object-meta.ts';
import { newStructural } from '../../apiextensions/schema/structural.ts';
import type { Schema } from '../../schema/schema.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { ResourceStorage, StorageFactory } from '../../storage/storage-factory.ts';
import { type Draft, put, str } from '../draft.ts';
import type { Random } from '../names.ts';
import { asDraft, attributesOf, type ResourceCore, type VersionView } from '../resource-core.ts';
import type { ResourceInfo, SubresourceHandler, SubresourceInfo } from '../rest.ts';
import { customStoragePrefix } from '../storage-paths.ts';
import { FieldErrors, path } from '../validation/field-errors.ts';
import { nameIsPathSegment, validateObjectMeta } from '../validation/object-meta.ts';
import { customCodec } from './custom-codec.ts';
import { CustomStore, deprecationWarnings } from './custom-store.ts';
import { customStrategy } from './custom-strategy.ts';
import { asApiObject, CustomVersion, sortKeys } from './custom-version.ts';
import { columnPrinter, type DescribeMetadata } from './printer-columns.ts';
import { componentName, resourceSchema } from './resource-schema.ts';
import { CustomScaleHandler, SCALE_INFO } from './scale-handler.ts';
import { replicasPath } from './scale-paths.ts';
import { selectableLabels, selectableValues } from './selectable-fields.ts';

export interface ServedCrdContext {
  readonly storageFactory: StorageFactory;
  readonly admission: AdmissionChain;
  readonly clock: Clock;
  readonly random: Random;
  readonly nameAttempts: number;
  readonly cached: boolean;
  readonly selectableFields: boolean;
  readonly objectMeta: Schema;
  readonly decoder: ObjectMetaDecoder;
  readonly describeMetadata: DescribeMetadata;
}

export interface ServedVersion {
  readonly store: CustomStore;
  readonly subresources: readonly SubresourceHandler[];
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];

interface Built {
  readonly version: CustomVersion;
  readonly core: ResourceCore;
  readonly schema: Schema;
}

export class ServedCrd {
  readonly crd: Crd;
  readonly versions: readonly ServedVersion[];
  /** Of the storage version, also when that is not served. */
  readonly storageVersionStore: CustomStore;
  readonly #context: ServedCrdContext;
  readonly #built: readonly Built[];
  #object: ApiObject;

  constructor(object: ApiObject, crd: Crd, context: ServedCrdContext, built?: readonly Built[]) {
    this.#object = object;
    this.crd = crd;
    this.#context = context;
    this.#built = built ?? this.#build();
    const stores = this.#built.map((each) => this.#serve(each));
    this.versions = stores.filter((_, position) => this.#built[position]!.version.version.served);
    this.storageVersionStore = stores[this.#built.findIndex((each) => each.version.version.storage)]!.store;
  }

  /** The CRD as it was last seen. */
  get object(): ApiObject {
    return this.#object;
  }

  get storages(): readonly ResourceStorage[] {
    return this.#built.map((each) => each.core.storage);
  }

  get infos(): readonly ResourceInfo[] {
    return this.versions.map((each) => each.store.info);
  }

  renew(object: ApiObject): void {
    this.#object = object;
  }

  /** The same storages under another state of the CRD. */
  as(object: ApiObject, crd: Crd): ServedCrd {
    return new ServedCrd(object, crd, this.#context, this.#built);
  }

  #build(): readonly Built[] {
    const { crd } = this;
    const { decoder } = this.#context;
    const versions = crd.versions
      .filter((version) => version.served || version.storage)
      .map((version) => new CustomVersion(crd, version, decoder));
    const storageVersion = versions.find((each) => each.version.storage);
    if (storageVersion === undefined) throw new Error('no storage version');
    return versions.map((version) => {
      const name = componentName(crd.group, version.name, crd.acceptedNames.kind);
      const schema = resourceSchema(version.schema, name, this.#context.objectMeta);
      return { version, core: this.#coreOf(version, storageVersion), schema };
    });
  }

  #coreOf(version: CustomVersion, storageVersion: CustomVersion): ResourceCore {
    const { crd } = this;
    const { admission, clock, nameAttempts, random, storageFactory } = this.#context;
    const namespaced = crd.scope === 'Namespaced';
    const { kind, plural } = crd.acceptedNames;
    const fields = this.#context.selectableFields ? selectableValues(version.version) : undefined;
    const strategy = customStrategy(version, namespaced, this.#embeddedRules(), fields);
    const prefix = customStoragePrefix(crd.group, plural);
    const storage = storageFactory.create({
      groupResource: { group: crd.group, resource: plural },
      apiVersion: version.apiVersion,
      kind,
      namespaced,
      resourcePrefix: prefix,
      getAttributes: (object) => attributesOf(strategy, object),
      codec: customCodec(version, storageVersion),
      cached: this.#context.cached,
    });
    return {
      storage,
      strategy,
      kind: { group: crd.group, version: version.name, kind },
      prefix,
      clock,
      random,
      admission,
      nameAttempts,
      canonical: (object) => asApiObject(sortKeys(version.coerce(object).object)),
    };
  }

  /** Managers that wrote in a version that is not served any more are still compared in it. */
  #schemaOf(apiVersion: string): Schema | undefined {
    const { crd } = this;
    const version = crd.versions.find(
      ({ name }) => formatGroupVersion({ group: crd.group, version: name }) === apiVersion,
    );
    if (version === undefined) return undefined;
    const built = this.#built.find((each) => each.version.name === version.name);
    if (built !== undefined) return built.schema;
    const structural = newStructural(version.schema ?? { 'x-kubernetes-preserve-unknown-fields': true });
    return resourceSchema(
      structural,
      componentName(crd.group, version.name, crd.acceptedNames.kind),
      this.#context.objectMeta,
    );
  }

  #embeddedRules(): EmbeddedRules {
    return {
      decoder: this.#context.decoder,
      validateMetadata(metadata, at) {
        const errors = new FieldErrors();
        const meta: Draft = { ...metadata };
        if (str(meta, 'name') === '') put(meta, 'name', 'fakename');
        const namespaced = str(meta, 'namespace') !== '';
        validateObjectMeta(meta, { namespaced, name: nameIsPathSegment }, errors, path(at));
        return errors.causes as FieldError[];
      },
    };
  }

  #serve({ version, core, schema }: Built): ServedVersion {
    const { crd } = this;
    const info = this.#infoOf(version, schema);
    const view: VersionView = {
      info,
      fieldLabels: selectableLabels(this.#context.selectableFields ? version.version : undefined, info.namespaced),
      withDefaults: (object) => asDraft(version.withDefaults(object)),
      toStorage: (object) => object,
      fromStorage: undefined,
    };
    const printer = columnPrinter(version.version.columns, this.#context.describeMetadata);
    const store = new CustomStore(core, view, printer, {
      version,
      warnings: deprecationWarnings(crd, version.version),
      terminating: isConditionTrue(crd, 'Terminating'),
      versionSchema: (apiVersion) => this.#schemaOf(apiVersion),
    });
    const { scale } = version.subresources;
    return {
      store,
      subresources: scale === undefined ? [] : [new CustomScaleHandler(store, scale, replicasPath(crd))],
    };
  }

  #infoOf(version: CustomVersion, schema: Schema): ResourceInfo {
    const { crd } = this;
    const names = crd.acceptedNames;
    const subresources: SubresourceInfo[] = [];
    if (version.subresources.status) {
      const { group } = crd;
      subresources.push({
        name: 'status',
        group,
        version: version.name,
        kind: names.kind,
        verbs: ['get', 'patch', 'update'],
      });
    }
    if (version.subresources.scale !== undefined) subresources.push(SCALE_INFO);
    return {
      group: crd.group,
      version: version.name,
      resource: names.plural,
      singular: names.singular,
      kind: names.kind,
      listKind: names.listKind,
      namespaced: crd.scope === 'Namespaced',
      verbs: VERBS,
      listedVerbs: isConditionTrue(crd, 'Terminating') ? TERMINATING_VERBS : VERBS,
      storageVersion: crd.versions.find((each) => each.storage)?.name,
      shortNames: names.shortNames,
      categories: names.categories,
      subresources,
      schema,
      custom: true,
    };
  }
}
