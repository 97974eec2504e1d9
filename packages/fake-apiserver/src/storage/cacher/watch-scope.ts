// Which part of a resource a request is about: everything, one namespace, one name, one object.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#namespacedName
import type { SelectionPredicate } from '../selection-predicate.ts';
import type { ResourceStorageConfig } from '../storage-factory.ts';

export interface WatchScope {
  /** '' for all. */
  readonly namespace: string;
  readonly name: string;
}

/** The path comes first, exact field selectors fill what it leaves open. */
export function scopeOf(
  config: Pick<ResourceStorageConfig, 'resourcePrefix' | 'namespaced'>,
  key: string,
  predicate: SelectionPredicate,
): WatchScope {
  const parts = key
    .slice(config.resourcePrefix.length)
    .split('/')
    .filter((part) => part !== '');
  const [namespace = '', name = ''] = config.namespaced ? parts : ['', ...parts];
  return {
    namespace: namespace || (predicate.field.requiresExactMatch('metadata.namespace') ?? ''),
    name: name || (predicate.field.requiresExactMatch('metadata.name') ?? ''),
  };
}

/** Names hold no control characters, so this cannot be the key of two scopes. */
export function scopeKey(namespace: string, name: string): string {
  return `${namespace}\u0000${name}`;
}
