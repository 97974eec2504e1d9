// Names from the path, and whether a body agrees with them.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/{namer.go,rest.go}, pkg/registry/rest/meta.go
import { newBadRequest } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { RequestInfo } from './request-info.ts';

/** Namespace and name of the path; a cluster-scoped resource has no namespace. Throws a 400 without a name. */
export function requireName(info: RequestInfo): { readonly namespace: string; readonly name: string } {
  if (info.name === '') throw newBadRequest('name must be provided');
  return { namespace: namespaceOf(info), name: info.name };
}

/** RequestInfo gives a namespace object its own name as namespace; for storage it has none. */
export function namespaceOf(info: RequestInfo): string {
  return info.resource === 'namespaces' ? '' : info.namespace;
}

/** Throws a 400 when the body names another object than the path, or none. */
export function checkName(object: ApiObject, name: string): void {
  const own = object.metadata.name ?? '';
  if (own === '') {
    throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (own !== name) {
    throw newBadRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
}

/** The object with the namespace of the path; a body that names another one is refused. */
export function ensureNamespace(object: ApiObject, namespace: string): ApiObject {
  const own = object.metadata.namespace ?? '';
  if (own === namespace) return object;
  if (own !== '' && namespace !== '') {
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const { namespace: _own, ...metadata } = object.metadata;
  return { ...object, metadata: namespace === '' ? metadata : { ...metadata, namespace } };
}

/**
 * Without what only the server sets, so that nobody comes to own it.
 *
 * Upstream: apiserver@v0.30.3:pkg/registry/rest/meta.go#WipeObjectMetaSystemFields
 */
export function withoutSystemFields(object: ApiObject): ApiObject {
  const {
    uid: _uid,
    selfLink: _selfLink,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}
