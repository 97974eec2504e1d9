// How the controllers write the status of a CRD: through the registry, as the server's own user.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/client, called with the loopback configuration
import { isConflict, isNotFound, newConflict, newNotFound } from '@kube-rx/apimachinery';
import { CLEANUP_FINALIZER, type CrdCondition, type CrdNames } from '../../apiextensions/crd.ts';
import { namesJson } from '../../apiextensions/names.ts';
import { isObject, type JsonObject } from '../../apiextensions/schema/json.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { RequestContext } from '../rest.ts';
import type { CrdStore } from './crd-store.ts';

export interface StatusChange {
  readonly conditions?: readonly CrdCondition[];
  readonly acceptedNames?: CrdNames;
  readonly removeFinalizer?: boolean;
}

/** Notes in managedFields what the server's own user changed. */
export type ManageFields = (existing: ApiObject, updated: ApiObject, manager: string, subresource: string) => ApiObject;

const MANAGER = 'kube-apiserver';

export function serverContext(signal: AbortSignal): RequestContext {
  return { signal, user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, warn() {} };
}

export class CrdClient {
  readonly #store: CrdStore;
  readonly #ctx: RequestContext;
  readonly #manageFields: ManageFields;

  constructor(store: CrdStore, signal: AbortSignal, manageFields: ManageFields = (_existing, updated) => updated) {
    this.#store = store;
    this.#ctx = serverContext(signal);
    this.#manageFields = manageFields;
  }

  /** The new object; undefined when `seen` is no longer the current state, so that another event is on its way. */
  async updateStatus(seen: ApiObject, change: StatusChange): Promise<ApiObject | undefined> {
    const { name = '', uid, resourceVersion } = seen.metadata;
    const resource = this.#store.qualified;
    try {
      const { stored } = await this.#store.update(this.#ctx, {
        namespace: '',
        name,
        dryRun: false,
        forceAllowCreate: false,
        subresource: 'status',
        transform: (existing) => {
          if (existing === undefined || existing.metadata.uid !== uid) throw newNotFound(resource, name);
          if (existing.metadata.resourceVersion !== resourceVersion)
            throw newConflict(resource, name, 'the object has been modified');
          return this.#manageFields(existing, applyChange(existing, change), MANAGER, 'status');
        },
      });
      return stored.object;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined;
      throw error;
    }
  }
}

function applyChange(object: ApiObject, change: StatusChange): ApiObject {
  const status: JsonObject = isObject(object['status']) ? object['status'] : {};
  const { finalizers = [], ...metadata } = object.metadata;
  const kept = change.removeFinalizer ? finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER) : finalizers;
  return {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { finalizers: kept }) },
    status: {
      ...status,
      ...(change.conditions === undefined ? {} : { conditions: change.conditions }),
      ...(change.acceptedNames === undefined ? {} : { acceptedNames: namesJson(change.acceptedNames) }),
    },
  };
}
