// What a resource is called and where it lives; the typed key of everything a client does.
import type { GroupVersionResource, KubernetesObject, ObjectMeta } from '@kube-rx/apimachinery';
import { OptionsError, parseGroupVersion } from '@kube-rx/apimachinery';

/** An object as a server returns it: name, uid and resourceVersion are there. */
export type Live<T extends KubernetesObject> = T & {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

/** A resource with the type of its objects. Made by {@link defineResource} or by discovery. */
export interface ResourceType<T extends KubernetesObject = KubernetesObject> {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Never there; carries the type. */
  readonly objectType?: T;
}

export interface ResourceDefinition<T extends KubernetesObject> {
  /** `v1`, `apps/v1`; must be the one the type declares, when it declares one. */
  readonly apiVersion: Extract<T['apiVersion'], string>;
  readonly kind: Extract<T['kind'], string>;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
}

/**
 * Defines a resource for a type. Curried, so that the type is given and the rest is checked against it.
 *
 * @example
 * const Pods = defineResource<Pod>()({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' });
 */
export function defineResource<T extends KubernetesObject>(): (definition: ResourceDefinition<T>) => ResourceType<T> {
  return (definition) => {
    const groupVersion = parseGroupVersion(definition.apiVersion);
    if (groupVersion === undefined || groupVersion.version === '') {
      throw new OptionsError('apiVersion', definition.apiVersion, 'VERSION or GROUP/VERSION');
    }
    if (definition.plural === '')
      throw new OptionsError('plural', definition.plural, 'the plural name of the resource');
    return Object.freeze({
      apiVersion: definition.apiVersion,
      group: groupVersion.group,
      version: groupVersion.version,
      kind: definition.kind,
      plural: definition.plural,
      scope: definition.scope,
    });
  };
}

/** The resource part of an API path, lower case as upstream. */
export function resourceOf(type: ResourceType): GroupVersionResource {
  return { group: type.group, version: type.version, resource: type.plural.toLowerCase() };
}

/** `pods.v1`, `deployments.v1.apps`: for logs, metrics and fault reports. */
export function describeResource(type: ResourceType): string {
  return `${type.plural}.${type.version}${type.group === '' ? '' : `.${type.group}`}`;
}
