// The door to one API server: typed clients for its resources, and what it serves.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { ResourceType } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { CallOptions } from './client-options.ts';
import type { DiscoveryClientOptions } from './discovery-client.ts';
import { DiscoveryClient } from './discovery-client.ts';
import type { ResourceClientOptions } from './resource-client.ts';
import { ResourceClient } from './resource-client.ts';

export interface KubeClientOptions {
  /** For each resource client that is made without one. */
  readonly fieldManager?: string;
  readonly discovery?: DiscoveryClientOptions;
}

/**
 * @example
 * const client = new KubeClient(rest, { fieldManager: 'shop-operator' });
 * await client.resource(Deployments, 'shop').scale('web', 3);
 * const widgets = await client.discover('widgets.example.com', { namespace: 'shop' });
 */
export class KubeClient {
  readonly rest: RestClient;
  readonly discovery: DiscoveryClient;
  readonly #options: KubeClientOptions;

  constructor(rest: RestClient, options: KubeClientOptions = {}) {
    this.rest = rest;
    this.discovery = new DiscoveryClient(rest, options.discovery);
    this.#options = options;
  }

  /** A client for a resource, bound to a namespace when one is given. Makes no request. */
  resource<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: string | ResourceClientOptions = {},
  ): ResourceClient<T> {
    const given = typeof options === 'string' ? { namespace: options } : options;
    return new ResourceClient(this.rest, type, { fieldManager: this.#options.fieldManager, ...given });
  }

  /** As {@link KubeClient.resource}, for any name that discovery knows: plural, short name, kind, with or without the group. */
  async discover<T extends KubernetesObject = KubernetesObject>(
    name: string,
    options: ResourceClientOptions & CallOptions = {},
  ): Promise<ResourceClient<T>> {
    const { signal, ...resourceOptions } = options;
    return this.resource(await this.discovery.find<T>(name, { signal }), resourceOptions);
  }

  /** A client for the kind of an object that is at hand, in its namespace. */
  async resourceOf<T extends KubernetesObject>(object: T, options: CallOptions = {}): Promise<ResourceClient<T>> {
    const found = await this.discovery.findKind<T>(object.apiVersion ?? 'v1', object.kind ?? '', options);
    return this.resource(found, { namespace: object.metadata?.namespace });
  }
}
