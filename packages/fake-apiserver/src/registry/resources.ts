// Built-in resources from the recorded discovery data: each gets its storage once and a Store per served version.
import type { Clock, GroupVersionKind } from '@kube-rx/apimachinery';
import type { AdmissionChain } from '../admission/admission.ts';
import {
  type DataProfile,
  type DiscoveryResource,
  type DiscoverySubresource,
  loadDiscovery,
  loadSchemaRegistry,
  loadTableColumns,
  type Schema,
  tableColumnsKey,
} from '../schema/index.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { ResourceStorage, StorageFactory } from '../storage/storage-factory.ts';
import { builtInStrategy } from './built-in-strategies.ts';
import { ComponentStatuses } from './component-statuses.ts';
import { conversionOf, storageVersionOf } from './conversions.ts';
import { newEventLabels } from './core/event-strategy.ts';
import { NamespaceStore } from './core/namespace-strategy.ts';
import { CrdStore } from './custom/crd-store.ts';
import { builtInDefaults, Defaulter } from './defaults/index.ts';
import { clone, type Draft, dict, ensure, put } from './draft.ts';
import { jsonCodec } from './json-codec.ts';
import type { Random } from './names.ts';
import { printerFor } from './printers/index.ts';
import { attributesOf, type ResourceCore, type VersionView } from './resource-core.ts';
import type { ResourceInfo, SubresourceInfo } from './rest.ts';
import { storagePrefix } from './storage-paths.ts';
import { Store } from './store.ts';
import type { Strategy } from './strategy.ts';
import { WireForms } from './wire-form.ts';

export interface BuiltInOptions {
  readonly profile: DataProfile;
  readonly storageFactory: StorageFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  /** How many names are tried for a generateName. */
  readonly nameAttempts: number;
  /** Replaces strategies that need something from outside, by `GROUP/RESOURCE`. */
  readonly strategies: ReadonlyMap<string, Strategy>;
  /** False answers everything from etcd. */
  readonly watchCache: boolean;
}

/** One resource in one version, as discovery lists it. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly data: DiscoveryResource;
}

const subresourceInfo = (sub: DiscoverySubresource): SubresourceInfo => ({
  name: sub.name,
  group: sub.kindGroup,
  version: sub.kindVersion,
  kind: sub.kind,
  verbs: sub.verbs,
});

export function resourceInfo({ group, version, data }: ServedResource, schema: Schema | undefined): ResourceInfo {
  return {
    group,
    version,
    resource: data.name,
    singular: data.singular,
    kind: data.kind,
    listKind: `${data.kind}List`,
    namespaced: data.namespaced,
    verbs: data.verbs,
    shortNames: data.shortNames,
    categories: data.categories,
    subresources: data.subresources.map(subresourceInfo),
    schema,
    custom: false,
  };
}

const templateLabels = (object: Draft): Draft | undefined => dict(object, 'spec', 'template', 'metadata', 'labels');

/** Whether defaulting made one map of the labels of an object and its template; a copy of the object keeps that so. */
function sharesTemplateLabels(object: ApiObject): boolean {
  const labels = templateLabels(object as unknown as Draft);
  return labels !== undefined && object.metadata.labels === (labels as unknown);
}

/** Resources without a storage of their own are left to the caller. */
const isStored = (data: DiscoveryResource): boolean => data.verbs.includes('watch');

export class BuiltInResources {
  readonly stores: Store[] = [];
  /** What discovery lists but storage does not hold: reviews, bindings, component statuses. */
  readonly unstored: ServedResource[] = [];
  readonly storages: ResourceStorage[] = [];
  readonly #options: BuiltInOptions;
  readonly #wire: WireForms;
  readonly #decoded: WireForms;
  readonly #defaulter = new Defaulter(builtInDefaults);
  readonly #cores = new Map<string, ResourceCore>();

  constructor(options: BuiltInOptions) {
    this.#options = options;
    this.#wire = new WireForms(options.profile);
    this.#decoded = new WireForms(options.profile, { keepEmptyLists: true });
    for (const group of loadDiscovery(options.profile)) {
      for (const version of group.versions) {
        for (const data of version.resources) {
          const served = { group: group.name, version: version.name, data };
          if (isStored(data)) this.stores.push(this.#store(served));
          else this.unstored.push(served);
        }
      }
    }
  }

  #schema(group: string, version: string, kind: string): Schema {
    const schema = loadSchemaRegistry(this.#options.profile).byKind(group, version, kind);
    if (schema === undefined) throw new RangeError(`no schema for ${group}/${version} ${kind}`);
    return schema;
  }

  /** Facts of a resource that is served without a storage. */
  infoOf(served: ServedResource): ResourceInfo {
    const { group, version, data } = served;
    return resourceInfo(served, loadSchemaRegistry(this.#options.profile).byKind(group, version, data.kind));
  }

  componentStatuses(served: ServedResource): ComponentStatuses {
    const { group, version, data } = served;
    const columns = loadTableColumns(this.#options.profile).get(tableColumnsKey(group, version, data.name));
    const printer = printerFor({ group, resource: data.name }, columns);
    return new ComponentStatuses(this.infoOf(served), printer, this.shape(group, version, data.kind));
  }

  /** Brings an object of a kind into the form its type prints. */
  shape(group: string, version: string, kind: string): (object: Draft) => ApiObject {
    const schema = this.#schema(group, version, kind);
    return (object) => {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      return this.#wire.apply(schema, { ...object, kind, apiVersion }) as unknown as ApiObject;
    };
  }

  #store(served: ServedResource): Store {
    const { group, version, data } = served;
    const stored = storageVersionOf(group, version, data.name);
    const core = this.#core(stored.group, stored.version, data);
    const schema = this.#schema(group, version, data.kind);
    const view = this.#view(served, schema, stored);
    const columns = loadTableColumns(this.#options.profile).get(tableColumnsKey(group, version, data.name));
    const table = printerFor({ group, resource: data.name }, columns);
    if (group === '' && data.name === 'namespaces') return new NamespaceStore(core, view, table);
    if (data.name === 'customresourcedefinitions') return new CrdStore(core, view, table);
    return new Store(core, view, table);
  }

  #view(
    served: ServedResource,
    schema: Schema,
    stored: { readonly group: string; readonly version: string },
  ): VersionView {
    const { group, version, data } = served;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const conversion = conversionOf(group, version, data.name);
    const finish = (object: ApiObject, forms = this.#wire): Draft => {
      const draft = forms.apply(schema, object) as unknown as Draft;
      put(draft, 'apiVersion', apiVersion);
      put(draft, 'kind', data.kind);
      return draft;
    };
    const same = stored.group === group && stored.version === version;
    return {
      info: resourceInfo(served, schema),
      fieldLabels: group === 'events.k8s.io' ? newEventLabels : undefined,
      withDefaults: (object) => {
        const draft = finish(object, this.#decoded);
        if (sharesTemplateLabels(object)) put(ensure(draft, 'metadata'), 'labels', templateLabels(draft));
        this.#defaulter.apply(schema, draft);
        return draft;
      },
      toStorage: conversion === undefined ? (object) => object : conversion.toStorage,
      fromStorage:
        same || conversion === undefined
          ? undefined
          : (object) => {
              const draft = conversion.fromStorage(clone(object) as unknown as Draft);
              const shown = finish(draft as unknown as ApiObject);
              return shown as unknown as ApiObject;
            },
    };
  }

  #core(group: string, version: string, data: DiscoveryResource): ResourceCore {
    const id = `${group}/${data.name}`;
    const known = this.#cores.get(id);
    if (known !== undefined) return known;
    const { storageFactory, clock, random, admission, nameAttempts, strategies, watchCache } = this.#options;
    const strategy = strategies.get(id) ??
      builtInStrategy({ group, resource: data.name }) ?? { namespaced: data.namespaced };
    const kind: GroupVersionKind = { group, version, kind: data.kind };
    const schema = this.#schema(group, version, data.kind);
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const prefix = storagePrefix(group, data.name);
    const emptyFields = (): Readonly<Record<string, unknown>> => this.#emptyFields(schema);
    let extra: Readonly<Record<string, unknown>> | undefined;
    const storage = storageFactory.create({
      groupResource: { group, resource: data.name },
      apiVersion,
      kind: data.kind,
      namespaced: data.namespaced,
      resourcePrefix: prefix,
      getAttributes: (object) => attributesOf(strategy, object),
      codec: jsonCodec,
      // Events live short and are many: upstream keeps no cache of them.
      cached: watchCache && data.name !== 'events',
      ...(id === '/pods' ? { triggerField: 'spec.nodeName' } : {}),
      // Of most kinds no bookmark is ever sent, and the first look at a type costs more than all the rest of its start.
      get bookmarkExtra() {
        extra ??= emptyFields();
        return extra;
      },
    });
    this.storages.push(storage);
    const canonical = (object: Draft): ApiObject => this.#wire.apply(schema, object) as unknown as ApiObject;
    const core: ResourceCore = { storage, strategy, kind, prefix, clock, random, admission, nameAttempts, canonical };
    this.#cores.set(id, core);
    return core;
  }

  /** What an object of the kind shows besides its type and metadata when it holds nothing. */
  #emptyFields(schema: Schema): Readonly<Record<string, unknown>> {
    const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = this.#wire.apply<Draft>(schema, {});
    return rest;
  }
}
