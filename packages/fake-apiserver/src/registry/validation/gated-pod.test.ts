import { describe, expect, it } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import { validatePodUpdate } from './pod.ts';

const requirement = (key: string): object => ({ key, operator: 'In', values: ['v'] });
const required = (...terms: readonly object[]): object => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
});
const pod = (more: object, gates: readonly object[] = [{ name: 'a.b/c' }]): Readonly<Record<string, unknown>> => ({
  metadata: { name: 'p', resourceVersion: '1' },
  spec: {
    containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', resources: {} }],
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulingGates: gates,
    ...more,
  },
});
const errors = (now: object, before: object, gates?: readonly object[]): readonly string[] => {
  const found = new FieldErrors();
  validatePodUpdate({ ...pod(now, gates) }, { ...pod(before, gates) }, found);
  return found.causes.map((cause) => `${cause.field}: ${cause.message}`);
};
const TERMS = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';

describe('an update of a pod behind gates', () => {
  it.each([
    ['labels of nodes', { nodeSelector: { a: 'b', c: 'd' } }, { nodeSelector: { a: 'b' } }],
    ['an affinity to nodes', { affinity: required({ matchExpressions: [requirement('k')] }) }, {}],
    [
      'requirements of a term',
      { affinity: required({ matchExpressions: [requirement('k'), requirement('l')] }) },
      { affinity: required({ matchExpressions: [requirement('k')] }) },
    ],
  ])('may add %s', (_, now, before) => {
    expect(errors(now, before)).toEqual([]);
    expect(errors(now, before, [])[0]).toMatch(/^spec: Forbidden: pod updates may not change fields other than/);
  });

  it('may not take labels back', () => {
    expect(errors({ nodeSelector: { a: 'c' } }, { nodeSelector: { a: 'b' } })).toEqual([
      'spec.nodeSelector: Invalid value: map[string]string{"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
  });

  it('may neither change terms nor their number', () => {
    const before = { affinity: required({ matchExpressions: [requirement('k')] }) };
    expect(errors({ affinity: required({ matchExpressions: [requirement('l')] }) }, before)).toEqual([
      `${TERMS}[0]: Invalid value: core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement{core.NodeSelectorRequirement{Key:"l", Operator:"In", Values:[]string{"v"}}}, MatchFields:[]core.NodeSelectorRequirement(nil)}: only additions are allowed (no mutations or deletions)`,
    ]);
    expect(errors({}, before)).toEqual([
      `${TERMS}: Invalid value: []core.NodeSelectorTerm(nil): no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
    ]);
  });
});
