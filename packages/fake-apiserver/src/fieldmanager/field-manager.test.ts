import { type ManagedFieldsEntry, StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { loadSchemaRegistry } from '../schema/index.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { FieldManager, type FieldManagerOptions, ignoreManagedFieldsTimestamps } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const managerFor = (group: string, version: string, kind: string, more: Partial<FieldManagerOptions> = {}) =>
  new FieldManager({ schema: registry.byKind(group, version, kind), group, version, kind, ...more });
const configMaps = managerFor('', 'v1', 'ConfigMap');
const deployments = managerFor('apps', 'v1', 'Deployment');
const custom = new FieldManager({ schema: undefined, group: 'x.io', version: 'v1', kind: 'Foo' });

const T1 = '2024-01-01T00:00:01Z';
const T2 = '2024-01-01T00:00:02Z';
const at = (second: number) => `2024-01-01T00:00:${String(second).padStart(2, '0')}Z`;

const configMap = (data: unknown, metadata: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
});
const stored = (object: ApiObject): ApiObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });
const deployment = (spec: object): ApiObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec,
});
const podTemplate = (...containers: object[]) => ({
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
});
const entries = (object: ApiObject) =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  );
const failure = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error('did not fail');
};

describe('FieldManager.update', () => {
  it('tracks what a create sets, but for the fields nobody owns', () => {
    const created = configMaps.update(undefined, configMap({ k: '1' }, { labels: { x: 'y' } }), 'contract', T1);
    expect(created.metadata.managedFields).toEqual([
      {
        manager: 'contract',
        operation: 'Update',
        apiVersion: 'v1',
        time: T1,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } } },
      },
    ]);
  });

  it('makes no entry for an object without fields of its own', () => {
    expect(configMaps.update(undefined, configMap(undefined), 'contract', T1).metadata.managedFields).toBeUndefined();
  });

  it('moves changed fields to the manager of the change and keeps the time of others', () => {
    const first = stored(configMaps.update(undefined, configMap({ k: '1', l: '1' }), 'one', T1));
    const second = configMaps.update(first, { ...first, data: { k: '2', m: '3' } }, 'two', T2);
    expect(second.metadata.managedFields).toMatchObject([
      { manager: 'one', time: T1, fieldsV1: { 'f:data': {} } },
      { manager: 'two', time: T2, fieldsV1: { 'f:data': { 'f:k': {}, 'f:m': {} } } },
    ]);
  });

  it('leaves everything as it is when nothing changed', () => {
    const first = stored(configMaps.update(undefined, configMap({ k: '1' }), 'one', T1));
    expect(configMaps.update(first, first, 'two', T2)).toEqual(first);
  });

  it('keeps managedFields of a client that does not send them, and drops them on request', () => {
    const first = stored(configMaps.update(undefined, configMap({ k: '1' }), 'one', T1));
    const { managedFields, ...metadata } = first.metadata;
    expect(configMaps.update(first, { ...first, metadata }, 'two', T2).metadata.managedFields).toEqual(managedFields);
    const reset = configMaps.update(first, { ...first, metadata: { ...metadata, managedFields: [{}] } }, 'two', T2);
    expect(reset.metadata.managedFields).toBeUndefined();
    const emptied = configMaps.update(first, { ...first, metadata: { ...metadata, managedFields: [] } }, 'two', T2);
    expect(emptied.metadata.managedFields).toBeUndefined();
    // Once gone, updates do not bring them back.
    expect(configMaps.update(reset, { ...reset, data: { k: '2' } }, 'two', T2).metadata.managedFields).toBeUndefined();
  });

  it('ignores managedFields sent through a subresource', () => {
    const status = managerFor('apps', 'v1', 'Deployment', { subresource: 'status', resetFields: [['spec']] });
    const first = stored(deployments.update(undefined, deployment(podTemplate({ name: 'c', image: 'i' })), 'one', T1));
    const sent = { ...first, metadata: { ...first.metadata, managedFields: [] }, status: { replicas: 1 } };
    const second = status.update(first, sent, 'two', T2);
    expect(second.metadata.managedFields).toHaveLength(2);
    expect(second.metadata.managedFields?.[1]).toEqual({
      manager: 'two',
      operation: 'Update',
      apiVersion: 'apps/v1',
      time: T2,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
      subresource: 'status',
    });
  });

  it('merges the oldest of more than ten updaters', () => {
    let object = stored(configMaps.update(undefined, configMap({ k0: '0' }), 'm0', at(0)));
    for (let index = 1; index <= 12; index++) {
      object = configMaps.update(
        object,
        { ...object, data: { ...(object['data'] as object), [`k${index}`]: '1' } },
        `m${index}`,
        at(index),
      );
    }
    const managers = object.metadata.managedFields?.map((entry) => entry.manager);
    expect(managers).toHaveLength(10);
    expect(managers?.[0]).toBe('ancient-changes');
    expect(object.metadata.managedFields?.[0]).toMatchObject({
      time: at(3),
      fieldsV1: { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } },
    });
  });
});

describe('FieldManager.apply', () => {
  it('owns what is applied, removes what is left out, and keeps the entry of an unchanged apply', () => {
    const first = configMaps.apply(undefined, configMap({ k: '1', l: '1' }), 'one', false, T1);
    expect(entries(first)).toEqual({ 'one Apply': { 'f:data': { 'f:k': {}, 'f:l': {} } } });
    const again = configMaps.apply(stored(first), configMap({ k: '1', l: '1' }), 'one', false, T2);
    expect(again).toEqual(stored(first));
    const second = configMaps.apply(stored(first), configMap({ k: '1' }), 'one', false, T2);
    expect(second['data']).toEqual({ k: '1' });
    expect(entries(second)).toEqual({ 'one Apply': { 'f:data': { 'f:k': {} } } });
  });

  it('keeps a removed field that another manager owns, and gives a co-owner of the same value no time', () => {
    const one = stored(configMaps.apply(undefined, configMap({ k: '1', l: '1' }), 'one', false, T1));
    const two = configMaps.apply(one, configMap({ l: '1' }), 'two', false, T2);
    expect(two.metadata.managedFields?.find((entry) => entry.manager === 'two')).not.toHaveProperty('time');
    const third = configMaps.apply(two, configMap({ k: '1' }), 'one', false, T2);
    expect(third['data']).toEqual({ k: '1', l: '1' });
    const last = configMaps.apply(third, configMap({}), 'two', false, T2);
    expect(last['data']).toEqual({ k: '1' });
    expect(entries(last)).toEqual({ 'one Apply': { 'f:data': { 'f:k': {} } }, 'two Apply': { 'f:data': {} } });
  });

  it('conflicts field by field, and takes over by force', () => {
    const one = stored(configMaps.apply(undefined, configMap({ k: '1' }), 'one', false, T1));
    const both = configMaps.apply(one, configMap({ l: '1' }), 'two', false, T1);
    const { message, details, code } = failure(() =>
      configMaps.apply(both, configMap({ k: '3', l: '3' }), 'three', false, T2),
    );
    expect(code).toBe(409);
    expect(message).toBe(
      'Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\nconflicts with "two":\n- .data.l',
    );
    expect(details).toEqual({
      causes: [
        { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.k' },
        { reason: 'FieldManagerConflict', message: 'conflict with "two"', field: '.data.l' },
      ],
    });
    const forced = configMaps.apply(both, configMap({ k: '3', l: '3' }), 'three', true, T2);
    expect(entries(forced)).toEqual({ 'three Apply': { 'f:data': { 'f:k': {}, 'f:l': {} } } });
  });

  it('names an updater in conflict with its version', () => {
    const live = stored(configMaps.update(undefined, configMap({ k: '1' }), 'kubectl-edit', T1));
    const { message } = failure(() => configMaps.apply(live, configMap({ k: '2' }), 'one', false, T2));
    expect(message).toBe('Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.k');
  });

  it('keys ports by number and protocol, the default included', () => {
    const first = deployments.apply(
      undefined,
      deployment(podTemplate({ name: 'c', image: 'i', ports: [{ containerPort: 80 }] })),
      'one',
      false,
      T1,
    );
    const fields = first.metadata.managedFields?.[0]?.fieldsV1;
    expect(JSON.stringify(fields)).toBe(
      '{"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{}}}}}}}}}',
    );
  });

  it('lets two managers own parts of one container, and removes what only one had', () => {
    const one = stored(
      deployments.apply(undefined, deployment(podTemplate({ name: 'c', image: 'i:1' })), 'one', false, T1),
    );
    const env = { template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', value: '1' }] }] } } };
    const both = deployments.apply(one, deployment(env), 'two', false, T2);
    expect(both).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i:1', env: [{ name: 'A', value: '1' }] }] } } },
    });
    const back = deployments.apply(both, deployment({}), 'two', false, T2);
    expect(back).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i:1', resources: {} }] } } },
    });
    expect(entries(back)['two Apply']).toEqual({ 'f:spec': {} });
  });

  it.each([
    [
      configMap({ k: 5 }),
      'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:5}',
    ],
    [
      { ...configMap({}), foo: 1 },
      'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    ],
  ])('refuses a configuration that does not fit: %j', (patch, message) => {
    expect(failure(() => configMaps.apply(undefined, patch, 'one', false, T1))).toMatchObject({ code: 500, message });
  });

  it('refuses double keys in a configuration', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ];
    expect(
      failure(() =>
        deployments.apply(undefined, deployment(podTemplate({ name: 'c', image: 'i', env })), 'one', false, T1),
      ).message,
    ).toBe(
      'failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="c"].env: duplicate entries for key [name="A"]',
    );
  });

  it.each([
    [{ ...configMap({}), kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
    [{ metadata: {} } as ApiObject, 'invalid object type: /, Kind='],
    [configMap({}, { managedFields: [{ manager: 'x' } as ManagedFieldsEntry] }), 'metadata.managedFields must be nil'],
  ])('refuses %j', (patch, message) => {
    expect(failure(() => configMaps.apply(undefined, patch, 'one', false, T1))).toMatchObject({ code: 400, message });
  });

  it('gives the fields of an untracked object to before-first-apply', () => {
    const live = stored(configMap({ k: '1' }));
    expect(entries(configMaps.apply(live, configMap({ l: '1' }), 'one', false, T2))).toEqual({
      'before-first-apply Update': { 'f:data': { '.': {}, 'f:k': {} } },
      'one Apply': { 'f:data': { 'f:l': {} } },
    });
  });

  it('lets kubectl take over from its client-side apply and updates the annotation', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };
    const live = stored(
      configMaps.update(
        undefined,
        configMap({ k: '1', l: '1' }, { annotations: { [annotation]: JSON.stringify(applied) } }),
        'kubectl-client-side-apply',
        T1,
      ),
    );
    const taken = configMaps.apply(live, configMap({ k: '2' }), 'kubectl', false, T2);
    expect(taken['data']).toEqual({ k: '2', l: '1' });
    expect(taken.metadata.annotations?.[annotation]).toBe(
      '{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    );
    const { message } = failure(() => configMaps.apply(live, configMap({ k: '2', l: '2' }), 'kubectl', false, T2));
    expect(message).toBe('Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.l');
    expect(failure(() => configMaps.apply(live, configMap({ k: '2' }), 'other', false, T2)).code).toBe(409);
  });

  it('tells fields of a type without a schema apart, lists as a whole', () => {
    const foo = (spec: object): ApiObject => ({ apiVersion: 'x.io/v1', kind: 'Foo', metadata: { name: 'f' }, spec });
    const one = stored(custom.apply(undefined, foo({ a: { b: 1 }, list: [{ x: 1 }] }), 'one', false, T1));
    expect(entries(one)).toEqual({
      'one Apply': { 'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:list': {} } },
    });
    expect(failure(() => custom.apply(one, foo({ list: [{ x: 2 }] }), 'two', false, T2)).message).toContain(
      '.spec.list',
    );
    expect(custom.apply(one, foo({ a: { c: 1 } }), 'two', false, T2)['spec']).toEqual({
      a: { b: 1, c: 1 },
      list: [{ x: 1 }],
    });
  });

  it('forgets managers of versions that are not served any more', () => {
    const old = {
      manager: 'old',
      operation: 'Update',
      apiVersion: 'v0',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:k': {} } },
      time: T1,
    };
    const live = stored(configMap({ k: '1' }, { managedFields: [old] }));
    expect(entries(configMaps.apply(live, configMap({ k: '2' }), 'one', false, T2))).toEqual({
      'one Apply': { 'f:data': { 'f:k': {} } },
    });
  });

  it('never changes its inputs', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    const live = freeze(stored(configMaps.apply(undefined, freeze(configMap({ k: '1' })), 'one', false, T1)));
    configMaps.apply(live, freeze(configMap({ l: '1' })), 'one', true, T2);
    configMaps.update(live, freeze(configMap({ z: '1' })), 'two', T2);
    expect(live['data']).toEqual({ k: '1' });
  });
});

describe('ignoreManagedFieldsTimestamps', () => {
  it('takes the old times when nothing else changed', () => {
    const old = stored(configMaps.apply(undefined, configMap({ k: '1' }), 'one', false, T1));
    const entry = old.metadata.managedFields![0]!;
    const next = { ...old, metadata: { ...old.metadata, managedFields: [{ ...entry, time: T2 }] } };
    expect(ignoreManagedFieldsTimestamps(next, old)).toEqual(old);
    const changed = { ...next, data: { k: '2' } };
    expect(ignoreManagedFieldsTimestamps(changed, old)).toBe(changed);
  });
});
