// The life of CRDs and of what they define, over real storage.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CustomFixture, crdOf, eventually, FREE, LIST } from '../../../test/support/custom-fixture.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { StorageWatch, StorageWatchEvent } from '../../storage/interfaces.ts';

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
  let fixture: CustomFixture;
  beforeEach(async () => {
    fixture = await CustomFixture.open();
  });
  afterEach(() => fixture.close());

  it('accepts the names, then establishes, and only then serves', async () => {
    const watch = await fixture.crds.watch(fixture.registry.ctx, {
      ...LIST,
      namespace: '',
      resourceVersion: '0',
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
      deadlineMs: Number.MAX_SAFE_INTEGER,
    });
    const events = eventsOf(watch);
    const made = (await fixture.createCrd(crdOf())) as ApiObject;
    expect(made['status']).toMatchObject({ acceptedNames: { kind: '', plural: '' }, storedVersions: ['v1'] });
    const seen = await events(3);
    expect(seen.map((event) => (event.type === 'ERROR' ? [] : shortConditions(event.object.object)))).toEqual([
      [],
      ['NamesAccepted=True NoConflicts', 'Established=False Installing'],
      ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'],
    ]);
    watch.stop();
    const { info } = await fixture.served();
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
    await fixture.createCrd(crdOf({ versions: [version] }));
    const store = await fixture.served();
    const raw = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'a', x: 1 }, spec: { gone: 1 } };
    expect(store.decodeCustom!(raw).strictErrors).toEqual(['unknown field "metadata.x"', 'unknown field "spec.gone"']);
    const made = await fixture.create(store, { spec: {}, status: { s: 'no' } });
    expect(made).toMatchObject({ metadata: { generation: 1 }, spec: { n: 5 } });
    expect(made['status']).toBeUndefined();
    const update = (change: object, subresource?: string): Promise<ApiObject> =>
      fixture.update(store, change, subresource);
    expect(await update({ spec: { n: 7 }, status: { s: 'no' } })).toMatchObject({
      metadata: { generation: 2 },
      spec: { n: 7 },
    });
    const status = await update({ spec: { n: 1 }, status: { s: 'yes' } }, 'status');
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
    await fixture.createCrd(crdOf({ versions: [version('v1beta1', false), version('v1', true)] }));
    await fixture.create(await fixture.served('v1'), { spec: { x: 1 } });
    const beta = await fixture.served('v1beta1');
    const list = await beta.list(fixture.registry.ctx, LIST);
    expect(list.items.map((item) => item.object)).toMatchObject([
      { apiVersion: 'example.test/v1beta1', spec: { x: 1 } },
    ]);
    const versions = [...fixture.registry.registry.catalog.all()].filter((info) => info.group === 'example.test');
    expect(versions.map((info) => info.version)).toEqual(['v1', 'v1beta1']);

    const other = crdOf({}, { plural: 'others', singular: 'widget' });
    await fixture.createCrd({ ...other, metadata: { name: 'others.example.test' } });
    const refused = await eventually(async () => {
      const crd = await fixture.getCrd('others.example.test');
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
    await fixture.createCrd(crdOf({ versions: versionsOf({ n: { type: 'integer' }, o: { type: 'string' } }) }));
    const before = await fixture.served();
    const made = await fixture.create(before, { spec: { n: 1, o: 'x' } });
    const watch = await before.watch(fixture.registry.ctx, {
      ...LIST,
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
    await fixture.patchCrd((crd) => ({
      spec: { ...(crd['spec'] as object), versions: versionsOf({ n: { type: 'integer' } }) },
    }));
    const after = await eventually(() => {
      const store = fixture.registry.registry.catalog.find('example.test', 'v1', 'widgets');
      return store === before ? undefined : store;
    });
    const read = await after.get(fixture.registry.ctx, { namespace: 'ns', name: 'a', resourceVersion: '' });
    expect(read.object['spec']).toEqual({ n: 1 });
    await ended;
    expect((await fixture.getCrd())!.metadata.generation).toBe(2);
  });

  it('deletes the instances first, and waits for those a finalizer holds', async () => {
    await fixture.createCrd(crdOf());
    const store = await fixture.served();
    await fixture.create(store, {}, 'free');
    await fixture.create(store, { metadata: { name: 'held', namespace: 'ns', finalizers: ['x.test/f'] } });
    const marked = await fixture.crds.delete(fixture.registry.ctx, {
      namespace: '',
      name: 'widgets.example.test',
      options: {},
    });
    expect(marked.deleted).toBe(false);
    expect(shortConditions(marked.stored.object).at(-1)).toBe('Terminating=True InstanceDeletionPending');
    await eventually(async () => {
      const { items } = await store.list(fixture.registry.ctx, LIST);
      return items.length === 1 && items[0]!.object.metadata.deletionTimestamp ? true : undefined;
    });
    const terminating = await eventually(() => {
      const now = fixture.registry.registry.catalog.find('example.test', 'v1', 'widgets');
      return now?.info.listedVerbs?.includes('create') ? undefined : now;
    });
    expect(await fixture.create(terminating, {}, 'new')).toMatchObject({
      code: 405,
      message: 'create not allowed while custom resource definition is terminating',
    });
    await store.update(fixture.registry.ctx, {
      namespace: 'ns',
      name: 'held',
      dryRun: false,
      forceAllowCreate: false,
      subresource: '',
      transform: (existing) => ({ ...existing!, metadata: { ...existing!.metadata, finalizers: [] } }),
    });
    await eventually(async () => ((await fixture.getCrd()) === undefined ? true : undefined));
    await eventually(() =>
      fixture.registry.registry.catalog.find('example.test', 'v1', 'widgets') === undefined ? true : undefined,
    );
  });
});
