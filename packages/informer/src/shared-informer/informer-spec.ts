// What an informer of a factory is about, and when two specs mean the same informer.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { parseFieldSelector, parseLabelSelector } from '@kube-rx/apimachinery';
import type { ResourceType } from '../rest/resource-type.ts';
import type { Indexers } from '../store/indexed-store.ts';
import type { Transform } from './informer-options.ts';

export interface InformerSpec<T extends KubernetesObject, I extends string = never> {
  /** Only these namespaces, one list and watch for each. @defaultValue the factory's, else all in one */
  readonly namespaces?: readonly string[] | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Metadata of the objects alone. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** Two specs with different functions are different informers. */
  readonly transform?: Transform<T> | undefined;
  /** Indices beside `namespace`. Added to the shared informer; the same name must mean the same function. */
  readonly indexers?: Indexers<T, I> | undefined;
}

const transformIds = new WeakMap<object, number>();
let lastTransformId = 0;

function transformId(transform: object | undefined): number {
  if (transform === undefined) return 0;
  let id = transformIds.get(transform);
  if (id === undefined) {
    id = ++lastTransformId;
    transformIds.set(transform, id);
  }
  return id;
}

/** Equal for specs that one informer can serve. Selectors are compared in their canonical form; a bad one throws. */
export function canonicalSpec<T extends KubernetesObject>(
  type: ResourceType<T>,
  spec: InformerSpec<T, string>,
): string {
  return JSON.stringify([
    type.group,
    type.version,
    type.plural,
    [...new Set(spec.namespaces ?? [])].sort(),
    spec.labelSelector === undefined ? '' : parseLabelSelector(spec.labelSelector).toString(),
    spec.fieldSelector === undefined ? '' : parseFieldSelector(spec.fieldSelector).toString(),
    spec.metadataOnly ?? false,
    transformId(spec.transform),
  ]);
}
