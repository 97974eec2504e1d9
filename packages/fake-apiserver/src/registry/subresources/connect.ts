// What needs a kubelet: logs, exec, attach, port forwarding, proxying. There is none, so each says what a cluster would say of
// a pod that runs nowhere.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/pod/rest/{log,subresources}.go, pkg/registry/core/pod/strategy.go#LogLocation
import { newBadRequest, newServiceUnavailable, type StatusError } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { type Draft, dict, dicts, str } from '../draft.ts';
import type { RequestContext, SubresourceHandler, SubresourceInfo } from '../rest.ts';
import type { Store } from '../store.ts';

type Ref = { readonly namespace: string; readonly name: string };

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

function checkContainer(pod: ApiObject, asked: string): void {
  const { name } = pod.metadata;
  const spec = dict(pod as unknown as Draft, 'spec');
  const all = CONTAINER_LISTS.flatMap((field) => dicts(spec, field).map((container) => str(container, 'name')));
  if (asked !== '') {
    if (!all.includes(asked)) throw newBadRequest(`container ${asked} is not valid for pod ${name}`);
    return;
  }
  const main = dicts(spec, 'containers').map((container) => str(container, 'name'));
  if (main.length === 1) return;
  const init = dicts(spec, 'initContainers').map((container) => str(container, 'name'));
  const choice = `a container name must be specified for pod ${name}, choose one of: [${main.join(' ')}]`;
  throw newBadRequest(init.length === 0 ? choice : `${choice} or one of the init containers: [${init.join(' ')}]`);
}

/** Nothing was ever written by a container that does not run. */
export class LogHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #pods: Store;

  constructor(pods: Store, info: SubresourceInfo) {
    this.info = info;
    this.#pods = pods;
  }

  async text(ctx: RequestContext, ref: Ref, query: { first(name: string): string | undefined }): Promise<string> {
    const { object } = await this.#pods.get(ctx, { ...ref, resourceVersion: '' });
    checkContainer(object, query.first('container') ?? '');
    return '';
  }
}

function unreachable(store: Store, object: ApiObject): StatusError {
  const { name } = object.metadata;
  const { resource } = store.info;
  if (resource === 'services') return newServiceUnavailable(`no endpoints available for service "${name}"`);
  if (resource === 'pods' && str(dict(object as unknown as Draft, 'spec'), 'nodeName') === '')
    return newBadRequest(`pod ${name} does not have a host assigned`);
  return newServiceUnavailable(`no kubelet runs for ${resource} "${name}"`);
}

export class ConnectHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #store: Store;
  readonly #nodes: Store;

  constructor(store: Store, info: SubresourceInfo, nodes: Store) {
    this.info = info;
    this.#store = store;
    this.#nodes = nodes;
  }

  async get(ctx: RequestContext, ref: Ref): Promise<ApiObject> {
    const { object } = await this.#store.get(ctx, { ...ref, resourceVersion: '' });
    const node = str(dict(object as unknown as Draft, 'spec'), 'nodeName');
    // The way to a container leads over its node; a proxy goes to the pod itself.
    if (this.#store.info.resource === 'pods' && this.info.name !== 'proxy' && node !== '')
      await this.#nodes.get(ctx, { namespace: '', name: node, resourceVersion: '' });
    throw unreachable(this.#store, object);
  }

  async create(ctx: RequestContext, ref: Ref): Promise<never> {
    await this.get(ctx, ref);
    throw newServiceUnavailable('unreachable');
  }
}
