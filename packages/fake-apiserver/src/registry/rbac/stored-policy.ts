// Roles and bindings from the stores that serve them.
import type { ApiObject } from '../../storage/api-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Draft } from '../draft.ts';
import { listStored } from '../list-stored.ts';
import type { Store } from '../store.ts';
import type { PolicySource } from './rbac-authorizer.ts';

const asDraft = (object: ApiObject): Draft => object as unknown as Draft;

/** `store` finds a built-in resource by `GROUP/VERSION/RESOURCE`. */
export function storedPolicy(store: (path: string) => Store): PolicySource {
  const at = (resource: string): Store => store(`rbac.authorization.k8s.io/v1/${resource}`);
  return {
    list: async (resource, namespace) => (await listStored(at(resource), namespace)).map(asDraft),
    async get(resource, namespace, name) {
      const roles = at(resource);
      try {
        return asDraft((await roles.core.storage.get(roles.keyOf(namespace, name), { resourceVersion: '0' })).object);
      } catch (error) {
        if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
        throw error;
      }
    },
  };
}
