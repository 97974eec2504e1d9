// What clients see of custom resources: bytes, texts and owners of fields.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiCalls, type Json } from '../support/api-calls.ts';

const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = (version = 'v1'): string => `/apis/example.test/${version}/namespaces/default/widgets`;
const widget = (name: string, more: object = {}, version = 'v1'): Json => ({
  apiVersion: `example.test/${version}`,
  kind: 'Widget',
  metadata: { name },
  ...more,
});
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        big: { type: 'integer' },
        text: { type: 'string' },
        date: { type: 'string' },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};
const versionOf = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  subresources: { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
  additionalPrinterColumns: [
    { name: 'Any', type: 'string', jsonPath: '.spec.any' },
    { name: 'Date', type: 'date', jsonPath: '.spec.date' },
  ],
  ...more,
});

let api: ApiCalls;
beforeAll(async () => {
  api = await ApiCalls.start();
  await api.make(CRDS, 'widgets.example.test', {
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: ['v1', 'v2', 'v3'].map((name) => versionOf(name)),
    },
  });
  await api.clock.advance(5000);
});
afterAll(() => api.server.destroy());

describe('custom resources', () => {
  it('have all their fields in order', async () => {
    const { body } = await api.post(path(), widget('ordered', { spec: { n: 1 } }));
    expect(Object.keys(body.metadata)).toEqual(Object.keys(body.metadata).sort());
  });

  it.each([
    [1e30, 'spec.big: Invalid value: "number": spec.big in body must be of type integer: "number"'],
    [2 ** 63, 'spec.big: Invalid value: "number": spec.big in body must be of type integer: "number"'],
  ])('take no number for an integer that none can hold: %s', async (big, text) => {
    const { code, body } = await api.post(path(), widget('big', { spec: { big } }));
    expect([code, body.message]).toEqual([422, `Widget.example.test "big" is invalid: ${text}`]);
  });

  it('are called by the kind they say when that is wrong', async () => {
    const { body } = await api.post(path(), { ...widget('other'), kind: 'Gadget' });
    expect(body.message).toBe('Gadget.example.test "other" is invalid: kind: Invalid value: "Gadget": must be Widget');
  });

  it('show structures as JSON in cells, and dates that are none as invalid', async () => {
    await api.post(path(), widget('cells', { spec: { any: { b: [1, '<'], a: null }, date: '2020-01-01t00:00:00z' } }));
    const response = await api.server.fetch(`${path()}/cells`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const table = (await response.json()) as Json;
    expect(table.rows[0].cells.slice(1)).toEqual(['{"a":null,"b":[1,"\\u003c"]}', '<invalid>']);
  });

  it('refuse a body without a version as one of another version', async () => {
    const { code, body } = await api.post(path(), { ...widget('none'), apiVersion: '' });
    expect([code, body.message]).toEqual([
      400,
      'the API version in the data () does not match the expected API version (example.test/v1)',
    ]);
  });

  it.each([
    [{ apiVersion: null }, 500, /^Internal error occurred: Object 'apiVersion' is missing in 'object has no/],
    [
      { apiVersion: 'example.test/v2' },
      422,
      /apiVersion: Invalid value: "example.test\/v2": must be example.test\/v1$/,
    ],
    [{ kind: null }, 422, /^ "" is invalid: patch: Invalid value: .*: Object 'Kind' is missing in '/],
  ])('cannot be patched to %j', async (patch, code, text) => {
    await api.post(path(), widget('typed'));
    const answer = await api.call('PATCH', `${path()}/typed`, patch, MERGE);
    expect(answer.code).toBe(code);
    expect(answer.body.message).toMatch(text);
  });

  it('keep their managers when a patch empties managedFields, and lose them to an update that does', async () => {
    await api.post(path(), widget('managed', { spec: { n: 1 } }));
    const patched = await api.call('PATCH', `${path()}/managed`, { metadata: { managedFields: [] } }, MERGE);
    expect(patched.body.metadata.managedFields).toHaveLength(1);
    const { resourceVersion } = patched.body.metadata;
    const updated = await api.call('PUT', `${path()}/managed`, {
      ...widget('managed', { spec: { n: 1 } }),
      metadata: { name: 'managed', resourceVersion, managedFields: [] },
    });
    expect(updated.body.metadata.managedFields).toBeUndefined();
  });

  it('cannot be scaled by an apply', async () => {
    await api.post(path(), widget('scaled', { spec: { n: 1 } }));
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' }, spec: { replicas: 2 } };
    const answer = await api.call('PATCH', `${path()}/scaled/scale?fieldManager=m&force=true`, scale, APPLY);
    expect([answer.code, answer.body.message]).toEqual([
      500,
      'failed to convert new object (/scaled; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1',
    ]);
  });

  it('remember managers of versions that are not served any more, and lose all managers with a version that is gone', async () => {
    const applied = await api.call(
      'PATCH',
      `${path('v2')}/aged?fieldManager=two`,
      widget('aged', { spec: { n: 1 } }, 'v2'),
      APPLY,
    );
    expect(applied.code).toBe(201);
    const write = async (text: string): Promise<Json> => {
      const { body } = await api.call('PATCH', `${path()}/aged?fieldManager=one`, { spec: { text } }, MERGE);
      return body.metadata.managedFields?.map((entry: Json) => entry.manager);
    };
    await api.change(`${CRDS}/widgets.example.test`, {
      spec: { versions: [versionOf('v1'), versionOf('v2', { served: false })] },
    });
    await api.clock.advance(5000);
    expect(await write('a')).toEqual(['two', 'one']);
    await api.change(`${CRDS}/widgets.example.test`, { status: {}, spec: { versions: [versionOf('v1')] } });
    await api.clock.advance(5000);
    const { code, body } = await api.call(
      'PATCH',
      `${path()}/aged?fieldManager=three`,
      widget('aged', { spec: { n: 1 } }),
      APPLY,
    );
    expect([code, body.message]).toEqual([500, 'request to convert CR to an invalid group/version: example.test/v2']);
    expect(await write('b')).toBeUndefined();
  });
});
