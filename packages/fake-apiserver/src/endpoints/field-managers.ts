// What handlers need of field management: who set which field, and server-side apply.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/fieldmanager.go
import type { ResourceInfo, ResourceStore } from '../registry/rest.ts';
import type { ApiObject } from '../storage/api-object.ts';

export interface ApplyCall {
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string;
}

export interface FieldManagers {
  /** Of an object to be created. */
  create(store: { readonly info: ResourceInfo }, object: ApiObject, manager: string): ApiObject;
  /** `existing` is undefined when an update creates. */
  update(
    store: ResourceStore,
    existing: ApiObject | undefined,
    object: ApiObject,
    manager: string,
    subresource: string,
  ): ApiObject;
  /** Merges an applied configuration into the existing object; throws the 409 of a conflict. */
  apply(store: ResourceStore, existing: ApiObject | undefined, config: ApiObject, call: ApplyCall): ApiObject;
}
