// Keys of objects: `namespace/name`, or the name alone.
// Upstream: client-go@v0.30.3:tools/cache/store.go#MetaNamespaceKeyFunc, tools/cache/object-names.go#ObjectName
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { KeyError } from '../errors.ts';

export type KeyFunc<T> = (object: T) => string;

export interface ObjectName {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** Missing metadata counts as empty, as in an unstructured object of upstream. */
export function metaNamespaceKeyFunc(object: KubernetesObject): string {
  if (typeof object !== 'object' || object === null) throw new KeyError(`no key can be made of ${typeof object}`);
  const { metadata } = object;
  const name = metadata?.name ?? '';
  const namespace = metadata?.namespace;
  return keyOf(name, namespace);
}

export function keyOf(name: string, namespace = ''): string {
  // A template would make a string of parts, which a Map has to join again for each look-up.
  return namespace === '' ? name : [namespace, name].join('/');
}

/** The parts of a key; throws a KeyError for more than one slash. */
export function splitMetaNamespaceKey(key: string): ObjectName {
  const parts = key.split('/');
  if (parts.length === 1) return { namespace: '', name: parts[0]! };
  if (parts.length === 2) return { namespace: parts[0]!, name: parts[1]! };
  throw new KeyError(`unexpected key format: ${JSON.stringify(key)}`);
}
