// The life of CRDs and of what they define, over real storage.
import { everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegistry, type RegistryFixture } from '../../../test/support/registry-fixture.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { StorageWatch, StorageWatchEvent } from '../../storage/interfaces.ts';
import type { ResourceStore } from '../rest.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const FREE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const crdOf = (spec: object = {}, names: object = {}): ApiObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...names },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: FREE } }],
    ...spec,
  },
});

const call = {
  namespace: 'ns',
  labelSelector: everythingLabels,
  fieldSelector: everythingFields,
  resourceVersion: '',
  resourceVersionMatch: undefined,
  limit: 0,
  continue: '',
} as const;

async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < 500; round++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('it did not come about');
}

function eventsOf(watch: StorageWatch): (count: number) => Promise<readonly StorageWatchEvent[]> {
  const seen: StorageWatchEvent[] = [];
  const read = (): void => {
    for (let event = watch.next(); event !== undefined; event = watch.next()) seen.push(event);
  };
  watch.onReadable(read);
  return (count) =>
    eventually(() => {
      read();
      return seen.length >= count ? seen : undefined;
    });
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
const conditionsOf = (object: ApiObject): readonly Condition[] =>
  ((object['status'] as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []) as readonly Condition[];
const shortConditions = (object: ApiObject): readonly string[] =>
  conditionsOf(object).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe('CustomResources', () => {
  let fixture: RegistryFixture;
  let crds: ResourceStore;
  beforeEach(async () => {
    fixture = await openRegistry();
    crds = fixture.storeAt(CRDS);
    await fixture.createNamespace('ns');
  });
  afterEach(() => fixture.close());

  const createCrd = (crd: ApiObject): Promise<unknown> =>
    fixture.answer(() => crds.create(fixture.ctx, crds.applyDefaults(crd), { namespace: '', dryRun: false }));
  const served = (version = 'v1', group = 'example.test', resource = 'widgets'): Promise<ResourceStore> =>
    eventually(() => fixture.registry.catalog.find(group, version, resource));
  const create = async (store: ResourceStore, content: object, name = 'a'): Promise<ApiObject> => {
    const { group, version } = store.info;
    const raw = { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name, namespace: 'ns' }, ...content };
    const { object } = store.decodeCustom!(raw);
    return (await fixture.answer(() =>
      store.create(fixture.ctx, object, { namespace: 'ns', dryRun: false }),
    )) as ApiObject;
  };
  const getCrd = async (name = 'widgets.example.test'): Promise<ApiObject | undefined> => {
    try {
      return (await crds.get(fixture.ctx, { namespace: '', name, resourceVersion: '' })).object;
    } catch {
      return undefined;
    }
  };
  const patchCrd = async (change: (crd: ApiObject) => object): Promise<void> => {
    await crds.update(fixture.ctx, {
      namespace: '',
      name: 'widgets.example.test',
      dryRun: false,
      forceAllowCreate: false,
      subresource: '',
      transform: (existing) => ({ ...existing!, ...change(existing!) }) as ApiObject,
    });
  };

  it('accepts the names, then establishes, and only then serves', async () => {
    const watch = await crds.watch(fixture.ctx, {
      ...call,
      namespace: '',
      resourceVersion: '0',
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
      deadlineMs: Number.MAX_SAFE_INTEGER,
    });
    const events = eventsOf(watch);
    const made = (await createCrd(crdOf())) as ApiObject;
    expect(made['status']).toMatchObject({ acceptedNames: { kind: '', plural: '' }, storedVersions: ['v1'] });
    const seen = await events(3);
    expect(seen.map((event) => (event.type === 'ERROR' ? [] : shortConditions(event.object.object)))).toEqual([
      [],
      ['NamesAccepted=True NoConflicts', 'Established=False Installing'],
      ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'],
    ]);
    watch.stop();
    const { info } = await served();
    expect(info).toMatchObject({
      kind: 'Widget',
      listKind: 'WidgetList',
      custom: true,
      namespaced: true,
      shortNames: [],
    });
  });

  it('counts generations, drops what the schema does not know and keeps the status apart', async () => {
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { n: { type: 'integer', default: 5, maximum: 9 } } },
        status: { type: 'object', properties: { s: { type: 'string' } } },
      },
    };
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: schema },
      subresources: { status: {} },
    };
    await createCrd(crdOf({ versions: [version] }));
    const store = await served();
    const raw = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'a', x: 1 }, spec: { gone: 1 } };
    expect(store.decodeCustom!(raw).strictErrors).toEqual(['unknown field "metadata.x"', 'unknown field "spec.gone"']);
    const made = await create(store, { spec: {}, status: { s: 'no' } });
    expect(made).toMatchObject({ metadata: { generation: 1 }, spec: { n: 5 } });
    expect(made['status']).toBeUndefined();
    const update = (change: object, subresource = ''): Promise<unknown> =>
      fixture.answer(() =>
        store.update(fixture.ctx, {
          namespace: 'ns',
          name: 'a',
          dryRun: false,
          forceAllowCreate: false,
          subresource,
          transform: (existing) => ({ ...existing!, ...change }) as ApiObject,
        }),
      );
    expect(await update({ spec: { n: 7 }, status: { s: 'no' } })).toMatchObject({
      metadata: { generation: 2 },
      spec: { n: 7 },
    });
    const status = (await update({ spec: { n: 1 }, status: { s: 'yes' } }, 'status')) as ApiObject;
    expect(status).toMatchObject({ metadata: { generation: 2 }, spec: { n: 7 }, status: { s: 'yes' } });
    expect(await update({ spec: { n: 99 } })).toMatchObject({
      code: 422,
      message:
        'Widget.example.test "a" is invalid: spec.n: Invalid value: 99: spec.n in body should be less than or equal to 9',
    });
  });

  it('shows the same object in each served version and refuses the second owner of a name', async () => {
    const version = (name: string, storage: boolean): object => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: FREE },
    });
    await createCrd(crdOf({ versions: [version('v1beta1', false), version('v1', true)] }));
    await create(await served('v1'), { spec: { x: 1 } });
    const beta = await served('v1beta1');
    const list = await beta.list(fixture.ctx, call);
    expect(list.items.map((item) => item.object)).toMatchObject([
      { apiVersion: 'example.test/v1beta1', spec: { x: 1 } },
    ]);
    const versions = [...fixture.registry.catalog.all()].filter((info) => info.group === 'example.test');
    expect(versions.map((info) => info.version)).toEqual(['v1', 'v1beta1']);

    const other = crdOf({}, { plural: 'others', singular: 'widget' });
    await createCrd({ ...other, metadata: { name: 'others.example.test' } });
    const refused = await eventually(async () => {
      const crd = await getCrd('others.example.test');
      return crd !== undefined && conditionsOf(crd).length > 0 ? crd : undefined;
    });
    expect(conditionsOf(refused)).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason: 'ListKindConflict', message: '"WidgetList" is already in use' },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ]);
    expect(refused['status']).toMatchObject({ acceptedNames: { kind: '', plural: 'others' } });
  });

  it('ends watches when the schema changes, and a stored field leaves with its schema', async () => {
    const schemaOf = (properties: object): object => ({
      type: 'object',
      properties: { spec: { type: 'object', properties } },
    });
    const versionsOf = (properties: object): object[] => [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(properties) } },
    ];
    await createCrd(crdOf({ versions: versionsOf({ n: { type: 'integer' }, o: { type: 'string' } }) }));
    const before = await served();
    const made = await create(before, { spec: { n: 1, o: 'x' } });
    const watch = await before.watch(fixture.ctx, {
      ...call,
      resourceVersion: made.metadata.resourceVersion!,
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
      deadlineMs: Number.MAX_SAFE_INTEGER,
    });
    const ended = new Promise<void>((resolve) => {
      watch.onReadable(() => {
        watch.next();
        if (watch.done) resolve();
      });
    });
    await patchCrd((crd) => ({
      spec: { ...(crd['spec'] as object), versions: versionsOf({ n: { type: 'integer' } }) },
    }));
    const after = await eventually(() => {
      const store = fixture.registry.catalog.find('example.test', 'v1', 'widgets');
      return store === before ? undefined : store;
    });
    const read = await after.get(fixture.ctx, { namespace: 'ns', name: 'a', resourceVersion: '' });
    expect(read.object['spec']).toEqual({ n: 1 });
    await ended;
    expect((await getCrd())!.metadata.generation).toBe(2);
  });

  it('deletes the instances first, and waits for those a finalizer holds', async () => {
    await createCrd(crdOf());
    const store = await served();
    await create(store, {}, 'free');
    await create(store, { metadata: { name: 'held', namespace: 'ns', finalizers: ['x.test/f'] } });
    const marked = await crds.delete(fixture.ctx, { namespace: '', name: 'widgets.example.test', options: {} });
    expect(marked.deleted).toBe(false);
    expect(shortConditions(marked.stored.object).at(-1)).toBe('Terminating=True InstanceDeletionPending');
    await eventually(async () => {
      const { items } = await store.list(fixture.ctx, call);
      return items.length === 1 && items[0]!.object.metadata.deletionTimestamp ? true : undefined;
    });
    const terminating = await eventually(() => {
      const now = fixture.registry.catalog.find('example.test', 'v1', 'widgets');
      return now?.info.listedVerbs?.includes('create') ? undefined : now;
    });
    expect(await create(terminating, {}, 'new')).toMatchObject({
      code: 405,
      message: 'create not allowed while custom resource definition is terminating',
    });
    await store.update(fixture.ctx, {
      namespace: 'ns',
      name: 'held',
      dryRun: false,
      forceAllowCreate: false,
      subresource: '',
      transform: (existing) => ({ ...existing!, metadata: { ...existing!.metadata, finalizers: [] } }),
    });
    await eventually(async () => ((await getCrd()) === undefined ? true : undefined));
    await eventually(() =>
      fixture.registry.catalog.find('example.test', 'v1', 'widgets') === undefined ? true : undefined,
    );
  });

  it('warns users of a deprecated version', async () => {
    const version = (name: string, storage: boolean, more: object = {}): object => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: FREE },
      ...more,
    });
    await createCrd(
      crdOf({
        versions: [
          version('v1beta1', false, { deprecated: true }),
          version('v1beta2', false, { deprecated: true, deprecationWarning: 'use v1 please' }),
          version('v1', true),
        ],
      }),
    );
    for (const name of ['v1beta1', 'v1beta2', 'v1']) await (await served(name)).list(fixture.ctx, call);
    expect(fixture.warnings).toEqual([
      'example.test/v1beta1 Widget is deprecated; use example.test/v1 Widget',
      'use v1 please',
    ]);
  });

  it('scales through the paths the CRD names', async () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    await createCrd(
      crdOf({
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: FREE }, subresources: { scale } },
        ],
      }),
    );
    const store = await served();
    await create(store, { spec: { replicas: 3 } });
    await create(store, {}, 'none');
    const handler = fixture.registry.catalog.findSubresource('example.test', 'v1', 'widgets', 'scale')!;
    const ref = { namespace: 'ns', name: 'a' };
    expect(await handler.get!(fixture.ctx, ref)).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 3 },
      status: { replicas: 0 },
    });
    const transform = (existing: ApiObject): ApiObject => ({ ...existing, spec: { replicas: 5 } });
    expect(await handler.update!(fixture.ctx, ref, transform, { namespace: 'ns', dryRun: false })).toMatchObject({
      spec: { replicas: 5 },
    });
    const parent = await store.get(fixture.ctx, { ...ref, resourceVersion: '' });
    expect(parent.object).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } });
    await expect(handler.get!(fixture.ctx, { namespace: 'ns', name: 'none' })).rejects.toThrow(
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    );
  });

  it('refuses a group without a dot, and a protected one without approval', async () => {
    const named = (group: string): ApiObject => ({ ...crdOf({ group }), metadata: { name: `widgets.${group}` } });
    expect(await createCrd(named('nodots'))).toMatchObject({
      code: 422,
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "widgets.nodots" is invalid: spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    });
    expect(await createCrd(named('x.k8s.io'))).toMatchObject({
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "widgets.x.k8s.io" is invalid: metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    });
  });
});
