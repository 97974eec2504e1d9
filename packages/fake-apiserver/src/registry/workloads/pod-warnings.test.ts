// The texts are those of the real server at 1.30.3.
import { describe, expect, it } from 'vitest';
import { path } from '../validation/field-errors.ts';
import { podWarnings, templateWarnings } from './pod-warnings.ts';

const SPEC = { containers: [{ name: 'c', image: 'i' }] };
const container = (more: object): object => ({ spec: { containers: [{ name: 'c', image: 'i', ...more }] } });
const NO_POD = 'a null labelSelector results in matching no pod';

describe('podWarnings', () => {
  it.each<[string, object, readonly string[]]>([
    ['nothing in a plain pod', { spec: SPEC }, []],
    [
      'labels of nodes that were renamed',
      { spec: { ...SPEC, nodeSelector: { 'beta.kubernetes.io/os': 'x' } } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'selectors that are missing',
      {
        spec: {
          ...SPEC,
          topologySpreadConstraints: [{ topologyKey: 'z' }],
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z' }] } },
        },
      },
      [
        `spec.topologySpreadConstraints[0].labelSelector: ${NO_POD}`,
        `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${NO_POD}`,
      ],
    ],
    [
      'volumes of the past',
      { spec: { ...SPEC, volumes: [{ name: 'v', gitRepo: {} }] } },
      ['spec.volumes[0].gitRepo: deprecated in v1.11'],
    ],
    [
      'secrets and addresses named twice',
      {
        spec: {
          ...SPEC,
          imagePullSecrets: [{ name: 'a' }, { name: 'a' }],
          hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }],
        },
      },
      ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"', 'spec.imagePullSecrets[1].name: duplicate name "a"'],
    ],
    [
      'parts of bytes',
      container({ resources: { limits: { memory: '100m' } } }),
      ['spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'],
    ],
    [
      'variables that hide others, but not those that build on them',
      container({
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '$(A)2' },
          { name: 'A', value: '3' },
        ],
      }),
      ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'ports that overlap',
      container({
        ports: [
          { containerPort: 80, protocol: 'TCP', hostPort: 81 },
          { containerPort: 80, protocol: 'TCP', hostIP: '1.1.1.1' },
        ],
      }),
      [
        'spec.containers[0].ports[1]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.1.1.1}',
        'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
      ],
    ],
    [
      'a time of grace below none',
      { spec: { ...SPEC, terminationGracePeriodSeconds: -1 } },
      ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
    ],
  ])('tell of %s', (_, pod, expected) => {
    expect(podWarnings({ ...pod }, path(), false)).toEqual(expected);
  });
});

describe('templateWarnings', () => {
  const warned = {
    metadata: { name: 'a', generation: 2 },
    spec: { template: { spec: { ...SPEC, volumes: [{ gitRepo: {} }] } } },
  };

  it('come with a new generation only', () => {
    const { warningsOnUpdate } = templateWarnings();
    const old = { ...warned, metadata: { name: 'a', generation: 1 } };
    expect(warningsOnUpdate!(warned, old, undefined as never)).toEqual([
      'spec.template.spec.volumes[0].gitRepo: deprecated in v1.11',
    ]);
    expect(warningsOnUpdate!(warned, warned, undefined as never)).toEqual([]);
  });

  it('look at the name where pods are named after the object', () => {
    const named = { metadata: { name: 'a.b' }, spec: { template: { spec: SPEC } } };
    expect(templateWarnings({ name: true }).warningsOnCreate!(named, undefined as never)).toHaveLength(1);
    expect(templateWarnings().warningsOnCreate!(named, undefined as never)).toEqual([]);
  });
});
