// Custom resources over the registry fixture: CRDs, their stores, and objects in them.
import { everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import type { Profile } from '../../src/profiles/profile.ts';
import type { ListCall, ResourceStore } from '../../src/registry/rest.ts';
import type { ApiObject } from '../../src/storage/api-object.ts';
import { openRegistry, type RegistryFixture } from './registry-fixture.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A schema that allows everything. */
export const FREE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

export const crdOf = (spec: object = {}, names: object = {}): ApiObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...names },
    versions: [versionOf('v1')],
    ...spec,
  },
});

/** One version; v1 is the stored one unless `more` says otherwise. */
export const versionOf = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: FREE },
  ...more,
});

/** Everything in the namespace. */
export const LIST: ListCall = {
  namespace: 'ns',
  labelSelector: everythingLabels,
  fieldSelector: everythingFields,
  resourceVersion: '',
  resourceVersionMatch: undefined,
  limit: 0,
  continue: '',
};

export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < 500; round++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('it did not come about');
}

/** What a write is given to keep the old object but for the change. */
const changing =
  (change: (existing: ApiObject) => object) =>
  (existing: ApiObject | undefined): ApiObject =>
    ({ ...existing!, ...change(existing!) }) as ApiObject;

export class CustomFixture implements AsyncDisposable {
  readonly registry: RegistryFixture;
  readonly crds: ResourceStore;

  private constructor(registry: RegistryFixture) {
    this.registry = registry;
    this.crds = registry.storeAt(CRDS);
  }

  static async open(profile?: Profile): Promise<CustomFixture> {
    const registry = await openRegistry({}, { start: true, profile });
    await registry.createNamespace('ns');
    return new CustomFixture(registry);
  }

  close(): Promise<void> {
    return this.registry.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  createCrd(crd: ApiObject): Promise<unknown> {
    const { crds, registry } = this;
    return registry.answer(() => crds.create(registry.ctx, crds.applyDefaults(crd), { namespace: '', dryRun: false }));
  }

  async getCrd(name = 'widgets.example.test'): Promise<ApiObject | undefined> {
    try {
      return (await this.crds.get(this.registry.ctx, { namespace: '', name, resourceVersion: '' })).object;
    } catch {
      return undefined;
    }
  }

  async patchCrd(change: (crd: ApiObject) => object): Promise<void> {
    await this.crds.update(this.registry.ctx, {
      namespace: '',
      name: 'widgets.example.test',
      dryRun: false,
      forceAllowCreate: false,
      subresource: '',
      transform: changing(change),
    });
  }

  served(version = 'v1', group = 'example.test', resource = 'widgets'): Promise<ResourceStore> {
    return eventually(() => this.registry.registry.catalog.find(group, version, resource));
  }

  /** The stored widget, or the Status of a refusal. */
  async create(store: ResourceStore, content: object, name = 'a'): Promise<ApiObject> {
    const { group, version } = store.info;
    const raw = { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name, namespace: 'ns' }, ...content };
    const { object } = store.decodeCustom!(raw);
    const { registry } = this;
    return (await registry.answer(() =>
      store.create(registry.ctx, object, { namespace: 'ns', dryRun: false }),
    )) as ApiObject;
  }

  /** As `create`, for a change of a widget. */
  async update(store: ResourceStore, change: object, subresource = '', name = 'a'): Promise<ApiObject> {
    const { registry } = this;
    return (await registry.answer(() =>
      store.update(registry.ctx, {
        namespace: 'ns',
        name,
        dryRun: false,
        forceAllowCreate: false,
        subresource,
        transform: changing(() => change),
      }),
    )) as ApiObject;
  }
}
