import { describe, expect, it } from 'vitest';
import { fromUnstructured, loadSchemaRegistry } from '../schema/index.ts';
import { applyStrategicMergePatch, goPrint, PatchError } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const deploymentSchema = registry.byKind('apps', 'v1', 'Deployment')!;
const serviceSchema = registry.byKind('', 'v1', 'Service')!;
const container = (fields: object = {}) => ({
  name: 'c',
  image: 'i:1',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  ports: [{ containerPort: 80, protocol: 'TCP' }],
  ...fields,
});
const deployment = (...containers: object[]) => ({
  metadata: { name: 'd', finalizers: ['a/x', 'a/y'] },
  spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }, template: { spec: { containers } } },
});
const patched = (document: Record<string, unknown>, patch: Record<string, unknown>, schema = deploymentSchema) =>
  applyStrategicMergePatch(document, patch, schema) as ReturnType<typeof deployment>;
const containersAfter = (document: ReturnType<typeof deployment>, podSpec: object) =>
  patched(document, { spec: { template: { spec: podSpec } } }).spec.template.spec.containers;
const failure = (patch: Record<string, unknown>, schema: typeof deploymentSchema | undefined = deploymentSchema) => {
  try {
    applyStrategicMergePatch(deployment(container()), patch, schema);
  } catch (error) {
    if (error instanceof PatchError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  return 'applied';
};

describe('applyStrategicMergePatch', () => {
  it('merges containers and env by name', () => {
    const patch = {
      containers: [
        {
          name: 'c',
          image: 'i:2',
          env: [
            { name: 'B', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ],
    };
    expect(containersAfter(deployment(container()), patch)).toEqual([
      container({
        image: 'i:2',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '3' },
          { name: 'C', value: '4' },
        ],
      }),
    ]);
  });

  it('puts new items before those it does not know', () => {
    expect(containersAfter(deployment(container()), { containers: [{ name: 'side', image: 's' }] })).toEqual([
      { name: 'side', image: 's' },
      container(),
    ]);
    const ports = containersAfter(deployment(container()), {
      containers: [{ name: 'c', ports: [{ containerPort: 81 }] }],
    });
    expect(ports).toMatchObject([{ ports: [{ containerPort: 81 }, { containerPort: 80, protocol: 'TCP' }] }]);
    const service = applyStrategicMergePatch(
      {
        spec: {
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2 },
          ],
        },
      },
      {
        spec: {
          ports: [
            { name: 'b', port: 2, targetPort: 9 },
            { name: 'c', port: 3 },
          ],
        },
      },
      serviceSchema,
    );
    expect(service).toEqual({
      spec: {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2, targetPort: 9 },
          { name: 'c', port: 3 },
        ],
      },
    });
  });

  it('deletes items and replaces lists and maps by directive', () => {
    const two = deployment(container(), { name: 'x', image: 'x' });
    expect(containersAfter(two, { containers: [{ name: 'x', $patch: 'delete' }] })).toEqual([container()]);
    expect(containersAfter(two, { containers: [{ name: 'n', image: 'n' }, { $patch: 'replace' }] })).toEqual([
      { name: 'n', image: 'n' },
    ]);
    expect(patched(two, { spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }).spec.strategy).toEqual({
      type: 'Recreate',
    });
    expect(patched(two, { spec: { strategy: { $patch: 'delete' } } }).spec.strategy).toEqual({});
  });

  it('orders a list by $setElementOrder', () => {
    const two = deployment(container(), { name: 'x', image: 'x' });
    const first = containersAfter(two, {
      '$setElementOrder/containers': [{ name: 'x' }, { name: 'c' }],
      containers: [{ name: 'c', image: 'i:3' }],
    });
    expect(first).toEqual([{ name: 'x', image: 'x' }, container({ image: 'i:3' })]);
    const second = containersAfter(deployment(...first), {
      '$setElementOrder/containers': [{ name: 'zz' }, { name: 'x' }],
      containers: [{ name: 'zz', image: 'z' }],
    });
    expect(second.map((one) => (one as { name: string }).name)).toEqual(['zz', 'x', 'c']);
  });

  it('drops keys that $retainKeys does not name', () => {
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    expect(patched(deployment(container()), patch).spec.strategy).toEqual({ type: 'Recreate' });
  });

  it('merges and shortens lists of strings', () => {
    const finalizers = (patch: object) =>
      patched(deployment(container()), { metadata: patch as Record<string, unknown> }).metadata.finalizers;
    expect(finalizers({ finalizers: ['a/z', 'a/x'] })).toEqual(['a/z', 'a/x', 'a/y']);
    expect(finalizers({ '$deleteFromPrimitiveList/finalizers': ['a/x'] })).toEqual(['a/y']);
    expect(
      finalizers({
        '$setElementOrder/finalizers': ['a/z', 'a/y'],
        finalizers: ['a/z'],
        '$deleteFromPrimitiveList/finalizers': ['a/x'],
      }),
    ).toEqual(['a/z', 'a/y']);
  });

  it('removes by null and ignores null for what is not there', () => {
    const { spec } = patched(deployment(container()), {
      spec: { strategy: null, paused: null, selector: { matchLabels: { a: null } } },
    });
    expect(spec).toEqual({ selector: { matchLabels: {} }, template: { spec: { containers: [container()] } } });
  });

  it.each([
    [
      { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'nonsense' }] } } } },
      'unknown: unknown patch type: nonsense in map: map[$patch:nonsense name:c]',
    ],
    [
      { spec: { template: { spec: { containers: [{ image: 'c' }] } } } },
      'unknown: map: map[image:c] does not contain declared merge key: name',
    ],
    [{ spec: { strategy: { $retainKeys: ['x'], type: 'y' } } }, 'bad-request: invalid patch format of retainKeys'],
    [{ metadata: { $deleteFromPrimitiveList: ['x'] } }, 'bad-request: invalid patch format of primitive list'],
    [{ metadata: { '$setElementOrder/finalizers': 'x' } }, 'unknown: expected a []interface {}, but received a string'],
    [
      { metadata: { '$setElementOrder/foo': [] } },
      'unknown: unable to find api field in struct ObjectMeta for the json field "foo"',
    ],
    [{ metadata: { finalizers: [['x']] } }, 'unknown: list element types are not identical: [[a/x a/y] [[x]]]'],
  ])('refuses %j', (patch, message) => {
    expect(failure(patch)).toBe(message);
  });

  it('does not support types without a schema', () => {
    expect(() => applyStrategicMergePatch({}, {}, undefined)).toThrow('strategic merge patch format is not supported');
  });

  it('leaves its inputs alone', () => {
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    const document = deployment(container());
    patched(document, patch);
    expect(patch.spec.strategy.$retainKeys).toEqual(['type']);
    expect(document).toEqual(deployment(container()));
  });

  it.each([
    [{ spec: 'x' }, 'map[spec:x]', 'cannot restore struct from: string'],
    [
      { spec: { template: { spec: { containers: 'x' } } } },
      'map[spec:map[template:map[spec:map[containers:x]]]]',
      'cannot restore slice from string',
    ],
    [{ spec: { replicas: 'x' } }, 'map[spec:map[replicas:x]]', 'unrecognized type: int32'],
    [{ spec: { paused: 1 } }, 'map[spec:map[paused:1]]', 'unrecognized type: bool'],
    [{ metadata: { name: 1 } }, 'map[metadata:map[name:1]]', 'cannot convert int64 to string'],
  ])('leaves wrong types of %j to the conversion', (patch, printed, message) => {
    expect(goPrint(patch)).toBe(printed);
    expect(() =>
      fromUnstructured(applyStrategicMergePatch(deployment(container()), patch, deploymentSchema), deploymentSchema),
    ).toThrow(message);
  });

  it('leaves unknown fields to the conversion', () => {
    const merged = applyStrategicMergePatch(deployment(container()), { foo: 1, spec: { bar: {} } }, deploymentSchema);
    expect(fromUnstructured(merged, deploymentSchema).strictErrors).toEqual([
      'unknown field "foo"',
      'unknown field "spec.bar"',
    ]);
  });
});
