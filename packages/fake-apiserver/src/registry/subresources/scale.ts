// The scale of the built-in workloads: replicas and selector under one common type.
// Upstream: kubernetes@v1.30.3:pkg/registry/apps/deployment/storage/storage.go#ScaleREST and its siblings
import { isNotFound, newConflict, newInvalid, newNotFound } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { clone, type Draft, dict, ensure, num, put } from '../draft.ts';
import type { RequestContext, SubresourceHandler, SubresourceInfo, WriteCall } from '../rest.ts';
import type { Store } from '../store.ts';
import { FieldErrors, path } from '../validation/field-errors.ts';
import { metadata, nameIsDnsSubdomain, validateBuiltInObjectMeta } from '../validation/object-meta.ts';
import { parentEntries, scaleEntries } from './replicas-owners.ts';
import { labelMapText, labelSelectorText } from './selector-text.ts';

type Ref = { readonly namespace: string; readonly name: string };

const asDraft = (object: ApiObject): Draft => object as unknown as Draft;

function validateScale(scale: Draft, name: string): void {
  const errors = new FieldErrors();
  validateBuiltInObjectMeta(metadata(scale), { namespaced: true, name: nameIsDnsSubdomain }, errors);
  const replicas = num(dict(scale, 'spec'), 'replicas') ?? 0;
  if (replicas < 0) errors.invalid(path('spec', 'replicas'), replicas, 'must be greater than or equal to 0');
  if (!errors.empty) throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, name, errors.causes);
}

export class ScaleHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #store: Store;

  constructor(store: Store, info: SubresourceInfo) {
    this.info = info;
    this.#store = store;
  }

  get #resource(): { readonly group: string; readonly resource: string } {
    const { group, resource } = this.#store.qualified;
    return { group, resource: `${resource}/scale` };
  }

  async get(ctx: RequestContext, ref: Ref): Promise<ApiObject> {
    try {
      const { object } = await this.#store.get(ctx, { ...ref, resourceVersion: '' });
      return this.#scaleOf(object);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Upstream lets this one through as it is.
      if (this.#store.info.resource === 'statefulsets') throw error;
      const { group, resource } = this.#resource;
      // Upstream names the group of the Scale here for replication controllers.
      throw newNotFound({ group: group === '' ? 'autoscaling' : group, resource }, ref.name);
    }
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
      admittedAs: { subresource: this.info, show: (object) => this.#scaleOf(object) },
      transform: async (existing) => {
        const before = this.#scaleOf(existing!);
        const owners = scaleEntries(existing!.metadata.managedFields ?? []);
        if (owners.length > 0) put(metadata(asDraft(before)), 'managedFields', owners);
        return this.#scaled(existing!, await transform(before));
      },
    });
    return this.#scaleOf(stored.object);
  }

  #scaled(parent: ApiObject, scale: ApiObject): ApiObject {
    const { name = '', uid } = parent.metadata;
    validateScale(asDraft(scale), name);
    const asked = scale.metadata.uid;
    if (asked && asked !== uid) {
      const why = `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${uid}`;
      throw newConflict(this.#resource, name, why);
    }
    const draft = clone(asDraft(parent));
    put(ensure(draft, 'spec'), 'replicas', num(dict(asDraft(scale), 'spec'), 'replicas') ?? 0);
    const meta = metadata(draft);
    put(meta, 'resourceVersion', scale.metadata.resourceVersion ?? '');
    const { managedFields } = scale.metadata;
    if (managedFields !== undefined) {
      const { group, version } = this.#store.info;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      put(meta, 'managedFields', parentEntries(parent.metadata.managedFields ?? [], managedFields, apiVersion));
    }
    return draft as unknown as ApiObject;
  }

  #scaleOf(object: ApiObject): ApiObject {
    const spec = dict(asDraft(object), 'spec');
    const replicas = num(spec, 'replicas') ?? 0;
    const selector = this.#store.info.kind === 'ReplicationController' ? labelMapText(spec) : labelSelectorText(spec);
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    const scale: Draft = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp: creationTimestamp ?? null },
      spec: replicas === 0 ? {} : { replicas },
      status: {
        replicas: num(dict(asDraft(object), 'status'), 'replicas') ?? 0,
        ...(selector === '' ? {} : { selector }),
      },
    };
    return scale as unknown as ApiObject;
  }
}
