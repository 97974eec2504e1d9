// Nothing is created in a namespace that is missing or on its way out, and some namespaces stay for good.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/namespace/lifecycle/admission.go
import { newForbidden, newNotFound, newStatusError } from '@kube-rx/apimachinery';
import { type Draft, dict, str } from '../registry/draft.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { isKeyNotFound } from '../storage/errors.ts';
import type { StorageInterface } from '../storage/interfaces.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
const REVIEWS: ReadonlySet<string> = new Set(['localsubjectaccessreviews']);

/** How the plugin looks namespaces up; undefined when there is none. */
export type NamespaceLookup = (name: string, signal: AbortSignal) => Promise<ApiObject | undefined>;

/** From the cache first, from storage when the cache does not know it. */
export function namespaceLookup(storage: Pick<StorageInterface, 'get'>): NamespaceLookup {
  const read = async (name: string, resourceVersion: string, signal: AbortSignal): Promise<ApiObject | undefined> => {
    try {
      return (await storage.get(`/registry/namespaces/${name}`, { resourceVersion, signal })).object;
    } catch (error) {
      if (isKeyNotFound(error)) return undefined;
      throw error;
    }
  };
  return async (name, signal) => (await read(name, '0', signal)) ?? read(name, '', signal);
}

export function isTerminating(namespace: ApiObject): boolean {
  return str(dict(namespace as unknown as Draft, 'status'), 'phase') === 'Terminating';
}

export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  readonly #lookup: NamespaceLookup;

  constructor(lookup: NamespaceLookup) {
    this.#lookup = lookup;
  }

  admit(attributes: AdmissionAttributes): undefined | Promise<void> {
    const { operation, resource, namespace, name } = attributes;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (operation === 'DELETE') {
      if (isNamespace && IMMORTAL.has(name)) throw newForbidden(resource, name, 'this namespace may not be deleted');
      return undefined;
    }
    if (namespace === '' || isNamespace || REVIEWS.has(resource.resource)) return undefined;
    return this.#check(attributes);
  }

  async #check(attributes: AdmissionAttributes): Promise<void> {
    const { namespace, operation, request, resource, name } = attributes;
    const found = await this.#lookup(namespace, request.signal);
    if (found === undefined) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
    if (operation !== 'CREATE' || attributes.subresource !== '' || !isTerminating(found)) return;
    const refusal = newForbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    const { message = '', details } = refusal.status;
    throw newStatusError(403, 'Forbidden', message, {
      ...details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    });
  }
}
