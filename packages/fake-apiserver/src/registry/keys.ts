// Storage paths of objects.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#NamespaceKeyFunc
import { goQuote, newBadRequest } from '@kube-rx/apimachinery';
import { nameIsPathSegment } from './validation/object-meta.ts';

/** Where all objects of a resource lie, or those of one namespace; ends in `/`. */
export function listKey(prefix: string, namespaced: boolean, namespace: string): string {
  return namespaced && namespace !== '' ? `${prefix}/${namespace}/` : `${prefix}/`;
}

/** @throws StatusError 400 for names that cannot be part of a path. */
export function objectKey(prefix: string, namespaced: boolean, namespace: string, name: string): string {
  if (namespaced && namespace === '') throw newBadRequest('Namespace parameter required.');
  if (name === '') throw newBadRequest('Name parameter required.');
  const wrong = nameIsPathSegment(name, false);
  if (wrong.length > 0) throw newBadRequest(`Name parameter invalid: ${goQuote(name)}: ${wrong.join(';')}`);
  return listKey(prefix, namespaced, namespace) + name;
}
