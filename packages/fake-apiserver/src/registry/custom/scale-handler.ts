// The scale of a custom resource: three of its fields under the common type.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresource/etcd.go#ScaleREST
import { newBadRequest, newInternalError, newUnknownError } from '@kube-rx/apimachinery';
import type { ScaleSubresource } from '../../apiextensions/crd.ts';
import { isObject, type JsonObject } from '../../apiextensions/schema/json.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import { clone, type Draft, ensure, put } from '../draft.ts';
import type { RequestContext, SubresourceHandler, SubresourceInfo, WriteCall } from '../rest.ts';
import type { Store } from '../store.ts';
import { parentEntries, type ReplicasPath, scaleEntries } from '../subresources/replicas-owners.ts';
import { nestedInteger, nestedText, splitPath } from './scale-paths.ts';

type Ref = { readonly namespace: string; readonly name: string };

export const SCALE_INFO: SubresourceInfo = {
  name: 'scale',
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  verbs: ['get', 'patch', 'update'],
};

// Says that the replicas were not set; upstream hides it in the number itself.
const UNSET_REPLICAS = -(2 ** 31);

export class CustomScaleHandler implements SubresourceHandler {
  readonly info: SubresourceInfo = SCALE_INFO;
  readonly #store: Store;
  readonly #paths: ScaleSubresource;
  readonly #replicas: ReplicasPath;

  constructor(store: Store, paths: ScaleSubresource, replicas: ReplicasPath) {
    this.#store = store;
    this.#paths = paths;
    this.#replicas = replicas;
  }

  async get(ctx: RequestContext, ref: Ref): Promise<ApiObject> {
    const { object } = await this.#store.get(ctx, { ...ref, resourceVersion: '' });
    const { scale, replicasFound } = this.#scaleOf(object);
    if (!replicasFound) {
      throw newInternalError(`the spec replicas field "${this.#paths.specReplicasPath}" does not exist`);
    }
    return scale;
  }

  async update(
    ctx: RequestContext,
    ref: Ref,
    transform: (existing: ApiObject) => ApiObject | Promise<ApiObject>,
    call: WriteCall,
  ): Promise<ApiObject> {
    const { stored } = await this.#store.update(ctx, {
      ...call,
      ...ref,
      forceAllowCreate: false,
      subresource: '',
      admittedAs: { subresource: this.info, show: (object) => this.#scaleOf(object).scale },
      transform: async (existing) => this.#parentWith(existing!, await transform(this.#before(existing!))),
    });
    return this.#scaleOf(stored.object).scale;
  }

  #before(parent: ApiObject): ApiObject {
    const { scale, replicasFound } = this.#scaleOf(parent);
    const managedFields = scaleEntries(parent.metadata.managedFields ?? [], this.#replicas);
    const metadata = managedFields.length === 0 ? scale.metadata : { ...scale.metadata, managedFields };
    return { ...scale, metadata, ...(replicasFound ? {} : { spec: { replicas: UNSET_REPLICAS } }) };
  }

  #parentWith(parent: ApiObject, scale: ApiObject): ApiObject {
    const { specReplicasPath } = this.#paths;
    const spec = isObject(scale['spec']) ? scale['spec'] : {};
    const replicas = typeof spec['replicas'] === 'number' ? spec['replicas'] : 0;
    if (replicas === UNSET_REPLICAS)
      throw newBadRequest(`the spec replicas field "${specReplicasPath}" cannot be empty`);
    const draft = clone(parent) as unknown as Draft;
    const steps = splitPath(specReplicasPath);
    put(ensure(draft, ...steps.slice(0, -1)), steps.at(-1)!, replicas);
    const { resourceVersion } = scale.metadata;
    const metadata = ensure(draft, 'metadata');
    if (resourceVersion) put(metadata, 'resourceVersion', resourceVersion);
    const { managedFields } = scale.metadata;
    if (managedFields !== undefined) {
      const owners = parent.metadata.managedFields ?? [];
      put(metadata, 'managedFields', parentEntries(owners, managedFields, parent.apiVersion, this.#replicas));
    }
    return draft as unknown as ApiObject;
  }

  #scaleOf(object: ApiObject): { readonly scale: ApiObject; readonly replicasFound: boolean } {
    const { specReplicasPath, statusReplicasPath, labelSelectorPath } = this.#paths;
    const content = object as JsonObject;
    const spec = nestedInteger(content, specReplicasPath);
    const status = nestedInteger(content, statusReplicasPath);
    const selector = labelSelectorPath ? nestedText(content, labelSelectorPath) : { value: undefined };
    const problem = spec.error ?? status.error ?? ('error' in selector ? selector.error : undefined);
    if (problem !== undefined) throw newUnknownError(problem);
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    return {
      replicasFound: spec.value !== undefined,
      scale: {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          uid,
          resourceVersion,
          creationTimestamp: creationTimestamp ?? null,
        },
        spec: { ...(spec.value ? { replicas: spec.value } : {}) },
        status: { replicas: status.value ?? 0, ...(selector.value ? { selector: selector.value } : {}) },
      },
    };
  }
}
