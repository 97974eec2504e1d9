// What becomes of patches of built-in objects beyond the recorded cases.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiCalls, type Json } from '../support/api-calls.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const MAPS = '/api/v1/namespaces/default/configmaps';
let api: ApiCalls;

beforeAll(async () => {
  api = await ApiCalls.start();
});
afterAll(() => api.server.destroy());

it.each([
  ['PUT', 'application/json'],
  ['PATCH', MERGE],
  ['PATCH', STRATEGIC],
])('starts managedFields over when %s as %s empties them', async (method, type) => {
  const name = `reset-${method}-${type.length}`.toLowerCase();
  await api.make(MAPS, name, { data: { a: '1' } });
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, managedFields: [] }, data: { a: '1' } };
  const answer = await api.call(method, `${MAPS}/${name}`, body, type);
  expect([answer.code, answer.body.metadata.managedFields]).toEqual([200, undefined]);
});

it.each([
  ['[]', 'array'],
  ['"x"', 'string'],
  ['1', 'number'],
  ['true', 'bool'],
])('applies nothing but maps, not %s', async (body, kind) => {
  const { code, body: status } = await api.call('PATCH', `${MAPS}/none?fieldManager=m`, body, APPLY);
  expect([code, status.message]).toEqual([
    400,
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
  ]);
});

it('says of an applied value that its type cannot hold it', async () => {
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bytes' }, binaryData: { a: '!!' } };
  const { code, body } = await api.call('PATCH', `${MAPS}/bytes?fieldManager=m`, config, APPLY);
  expect([code, body.message]).toEqual([
    500,
    'failed to convert new object (/bytes; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 0',
  ]);
});

it('warns of each key that a YAML document has twice', async () => {
  const yaml = (name: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: "1"\n  a: "2"\n  b: p\n  b: q\n`;
  const created = await api.call('POST', MAPS, yaml('twice'), 'application/yaml');
  const applied = await api.call('PATCH', `${MAPS}/twice-applied?fieldManager=m`, yaml('twice-applied'), APPLY);
  const expected = '299 - "line 7: key \\"a\\" already set in map", 299 - "line 9: key \\"b\\" already set in map"';
  expect([created.code, created.headers.get('warning')]).toEqual([201, expected]);
  expect([applied.code, applied.headers.get('warning')]).toEqual([201, expected]);
});

it('cannot tell the name of what a patch took the version from', async () => {
  await api.make(MAPS, 'nameless');
  const { code, body } = await api.call('PATCH', `${MAPS}/nameless`, { apiVersion: null }, MERGE);
  expect([code, body.message]).toEqual([
    400,
    'the name of the object (nameless based on URL) was undeterminable: name must be provided',
  ]);
});

it('gives a pod back the tolerations every pod has', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  await api.make(pods, 'tolerant', { spec: { containers: [{ name: 'c', image: 'i' }] } });
  const tolerations = [{ key: 'x', operator: 'Exists' }];
  const { code, body } = await api.call('PATCH', `${pods}/tolerant`, { spec: { tolerations } }, MERGE);
  expect(code).toBe(200);
  expect(body.spec.tolerations.map(({ key }: Json) => key)).toEqual([
    'x',
    'node.kubernetes.io/not-ready',
    'node.kubernetes.io/unreachable',
  ]);
});

it('keeps metrics autoscaling/v1 cannot say in its own flat words, before that of the processor', async () => {
  const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const target = { type: 'Utilization', averageUtilization: 60 };
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target } },
    { type: 'Resource', resource: { name: 'memory', target } },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Service', name: 's' },
        metric: { name: 'hits' },
        target: { type: 'Value', value: '5' },
      },
    },
  ];
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics };
  await api.make(at('v2'), 'scaler', { spec });
  const { body } = await api.get(`${at('v1')}/scaler`);
  expect(body.spec.targetCPUUtilizationPercentage).toBe(60);
  expect(body.metadata.annotations['autoscaling.alpha.kubernetes.io/metrics']).toBe(
    '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":60}},' +
      '{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"hits","targetValue":"5"}}]',
  );
  await api.change(`${at('v1')}/scaler`, { spec: { maxReplicas: 4 } });
  const after = await api.get(`${at('v2')}/scaler`);
  expect(after.body.spec.metrics).toEqual([metrics[1], metrics[2], metrics[0]]);
});
