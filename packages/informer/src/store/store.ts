// Stores as their users see them.
// Upstream: client-go@v0.30.3:tools/cache/store.go#Store, tools/cache/index.go#Indexer
import type { KubernetesObject, LabelSelector } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';

export interface SelectOptions {
  /** Only this namespace; absent means all. */
  readonly namespace?: string | undefined;
  /** Label selector, parsed or as text. */
  readonly labels?: LabelSelector | string | undefined;
}

/**
 * The cache of an informer. Each call is consistent in itself; between two calls the store may move on. Objects are shared: do not
 * change them. Deleted objects are gone before their handlers run.
 */
export interface ReadonlyStore<T extends KubernetesObject, I extends string = never> {
  readonly size: number;
  /** By name and namespace; undefined when absent. */
  get(name: string, namespace?: string): Live<T> | undefined;
  /** By `namespace/name`, or the name of a cluster-scoped object. */
  getByKey(key: string): Live<T> | undefined;
  /** A new array in the order in which the objects came into the store. */
  list(options?: SelectOptions): Live<T>[];
  keys(): string[];
  /** Objects under a value of an index. */
  by(index: I | 'namespace', value: string): Live<T>[];
  /** Keys under a value of an index. */
  indexKeys(index: I | 'namespace', value: string): string[];
  /** All values of an index that some object has. */
  indexValues(index: I | 'namespace'): string[];
  /** An immutable view of this moment, for a run of calls that must agree. */
  snapshot(): ReadonlyStore<T, I>;
}
