// FieldManagers on the field manager of each resource and subresource, made on first use.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/fieldmanager
import type { Clock } from '@kube-rx/apimachinery';
import { FieldManager, ignoreManagedFieldsTimestamps } from '../fieldmanager/index.ts';
import type { ResourceInfo, ResourceStore } from '../registry/rest.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { ApplyCall, FieldManagers } from './field-managers.ts';

/** Everything of a store that a field manager needs; virtual resources have only the facts. */
type Managed = { readonly info: ResourceInfo } & Pick<Partial<ResourceStore>, 'resetFields'>;

export class StoreFieldManagers implements FieldManagers {
  readonly #clock: Clock;
  // Keyed by the facts, not by names: a CRD that changes its schema gets new managers.
  readonly #managers = new WeakMap<ResourceInfo, Map<string, FieldManager>>();

  constructor(clock: Clock) {
    this.#clock = clock;
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
      manager = new FieldManager({ schema, group, version, kind, subresource, resetFields });
      known.set(subresource, manager);
    }
    return manager;
  }

  /** RFC 3339, whole seconds. */
  #now(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
  }
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
