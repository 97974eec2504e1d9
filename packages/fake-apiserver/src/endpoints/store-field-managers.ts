// FieldManagers on the field manager of each resource and subresource, made on first use.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/fieldmanager
import { type Clock, parseGroupVersion } from '@kube-rx/apimachinery';
import { FieldManager, ignoreManagedFieldsTimestamps, VersionError } from '../fieldmanager/index.ts';
import type { Draft } from '../registry/draft.ts';
import type { ResourceCatalog, ResourceInfo, ResourceStore } from '../registry/rest.ts';
import { Store } from '../registry/store.ts';
import { formatTime } from '../registry/time-form.ts';
import type { Schema } from '../schema/schema.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { ApplyCall, FieldManagers } from './field-managers.ts';

/** Everything of a store that a field manager needs; virtual resources have only the facts. */
type Managed = { readonly info: ResourceInfo } & Pick<Partial<ResourceStore>, 'resetFields'>;

export class StoreFieldManagers implements FieldManagers {
  readonly #clock: Clock;
  readonly #catalog: ResourceCatalog;
  // Keyed by the facts, not by names: a CRD that changes its schema gets new managers.
  readonly #managers = new WeakMap<ResourceInfo, Map<string, FieldManager>>();
  #second = Number.NaN;
  #secondText = '';

  constructor(clock: Clock, catalog: ResourceCatalog) {
    this.#clock = clock;
    this.#catalog = catalog;
  }

  create(store: { readonly info: ResourceInfo }, object: ApiObject, manager: string): ApiObject {
    return this.#for(store, '').update(undefined, object, manager, this.#now());
  }

  update(
    store: ResourceStore,
    existing: ApiObject | undefined,
    object: ApiObject,
    manager: string,
    subresource: string,
  ): ApiObject {
    const updated = this.#for(store, subresource).update(existing, object, manager, this.#now());
    return existing === undefined ? updated : settle(updated, existing);
  }

  apply(store: ResourceStore, existing: ApiObject | undefined, config: ApiObject, call: ApplyCall): ApiObject {
    const { manager, force, subresource } = call;
    const applied = this.#for(store, subresource).apply(existing, config, manager, force, this.#now());
    if (existing === undefined) return applied;
    const defaulted = store.applyDefaults(applied);
    return settle(defaulted, existing);
  }

  #for(store: Managed, subresource: string): FieldManager {
    const { info } = store;
    const known = this.#managers.get(info) ?? new Map<string, FieldManager>();
    this.#managers.set(info, known);
    let manager = known.get(subresource);
    if (manager === undefined) {
      const { schema, group, version, kind } = info;
      const resetFields = store.resetFields?.[subresource];
      manager = new FieldManager({
        schema,
        group,
        version,
        kind,
        subresource,
        resetFields,
        convert: (object, apiVersion) => this.#convert(info, object, apiVersion),
      });
      known.set(subresource, manager);
    }
    return manager;
  }

  /** Managers that wrote in another version are compared in it. Undefined when it is not served any more. */
  #convert(
    info: ResourceInfo,
    object: ApiObject,
    apiVersion: string,
  ): { readonly object: ApiObject; readonly schema: Schema | undefined } | undefined {
    const gv = parseGroupVersion(apiVersion);
    if (gv === undefined) return undefined;
    const from = this.#catalog.find(info.group, info.version, info.resource);
    if (info.custom && from?.versionSchema !== undefined) {
      const schema = from.versionSchema(apiVersion);
      if (schema === undefined)
        throw new VersionError(`request to convert CR to an invalid group/version: ${apiVersion}`);
      return { object: { ...object, apiVersion }, schema };
    }
    const to = this.#catalog.find(gv.group, gv.version, info.resource);
    if (from === undefined || to === undefined) return undefined;
    const converted = from instanceof Store && to instanceof Store ? convertBetween(from, to, object) : object;
    return { object: { ...converted, apiVersion }, schema: to.info.schema };
  }

  /** RFC 3339, whole seconds; thousands of writes share one. */
  #now(): string {
    const second = Math.floor(this.#clock.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = formatTime(second * 1000);
    }
    return this.#secondText;
  }
}

function convertBetween(from: Store, to: Store, object: ApiObject): ApiObject {
  const stored = from.view.toStorage(structuredClone(object) as unknown as Draft) as unknown as ApiObject;
  return to.show(new StoredObject('', stored, 0)).object;
}

/**
 * Keeps the old times of managers when nothing else changes. What the server fills in on every update is filled in first, so
 * that an object without a resourceVersion compares like one with it.
 */
function settle(next: ApiObject, existing: ApiObject): ApiObject {
  const { uid, resourceVersion, creationTimestamp, generation } = existing.metadata;
  const { metadata } = next;
  const filled: ApiObject = {
    ...next,
    metadata: {
      ...metadata,
      ...(metadata.uid ? {} : { uid }),
      ...(metadata.resourceVersion && metadata.resourceVersion !== '0' ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(generation === undefined ? {} : { generation }),
    } as ApiObject['metadata'],
  };
  const settled = ignoreManagedFieldsTimestamps(filled, existing);
  return settled === filled ? next : settled;
}
