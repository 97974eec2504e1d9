// Which requests admission policies are about, with which parameters, and what cannot be stored as a policy.
import type { StatusError } from '@kube-rx/apimachinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry, RegistryCalls, type RegistryFixture } from '../../../test/support/registry-fixture.ts';
import type { SubresourceHandler } from '../../registry/rest.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/ruled/configmaps';
const ANY = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };

describe('what admission policies are about', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  let count = 0;
  beforeAll(async () => {
    fixture = await openRegistry({ namespaceController: false });
    calls = new RegistryCalls(fixture);
    for (const namespace of ['ruled', 'other']) await fixture.createNamespace(namespace);
  });
  afterAll(() => fixture.close());

  /** The text after `denied request: ` or `denied request` of what `run` is answered with; undefined when it passes. */
  async function refusal(spec: object, binding: object, run: () => Promise<unknown>): Promise<string | undefined> {
    count += 1;
    const name = `p${count}`;
    const full = { validations: [{ expression: 'false', message: 'no' }], ...spec };
    expect(
      await calls.create(`${GROUP}/validatingadmissionpolicies`, { metadata: { name }, spec: full }),
    ).toMatchObject({
      kind: 'ValidatingAdmissionPolicy',
    });
    const bound = { policyName: name, validationActions: ['Deny'], ...binding };
    expect(
      await calls.create(`${GROUP}/validatingadmissionpolicybindings`, { metadata: { name }, spec: bound }),
    ).toMatchObject({ kind: 'ValidatingAdmissionPolicyBinding' });
    const answer = (await run()) as { readonly code?: number; readonly message?: string };
    await calls.delete(`${GROUP}/validatingadmissionpolicies/${name}`);
    await calls.delete(`${GROUP}/validatingadmissionpolicybindings/${name}`);
    return answer.code === undefined ? undefined : answer.message?.split('denied request: ')[1];
  }
  const matching = (matchConstraints: object): object => ({ matchConstraints });
  const create = (labels: object = {}, name = 'm'): Promise<unknown> =>
    calls.create(MAPS, { metadata: { name, labels } }, true);

  it.each([
    ['its rules', { resourceRules: [{ ...ANY, resources: ['configmaps'] }] }, 'no'],
    ['another resource', { resourceRules: [{ ...ANY, resources: ['secrets'] }] }, undefined],
    ['a subresource', { resourceRules: [{ ...ANY, resources: ['configmaps/status'] }] }, undefined],
    ['another operation', { resourceRules: [{ ...ANY, operations: ['UPDATE'] }] }, undefined],
    ['another scope', { resourceRules: [{ ...ANY, scope: 'Cluster' }] }, undefined],
    ['its name', { resourceRules: [{ ...ANY, resourceNames: ['m'] }] }, 'no'],
    ['another name', { resourceRules: [{ ...ANY, resourceNames: ['n'] }] }, undefined],
    ['an excluded name', { resourceRules: [ANY], excludeResourceRules: [{ ...ANY, resourceNames: ['m'] }] }, undefined],
    ['its labels', { resourceRules: [ANY], objectSelector: { matchLabels: { a: 'b' } } }, 'no'],
    ['other labels', { resourceRules: [ANY], objectSelector: { matchLabels: { a: 'c' } } }, undefined],
    ['another namespace', { resourceRules: [ANY], namespaceSelector: { matchLabels: { a: 'c' } } }, undefined],
  ])('looks at %s', async (_what, match, expected) => {
    expect(await refusal(matching(match), {}, () => create({ a: 'b' }))).toBe(expected);
  });

  it('is narrowed by its binding', async () => {
    const only = (namespace: string): object => ({
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    });
    const policy = matching({ resourceRules: [{ ...ANY, resources: ['configmaps'] }] });
    expect(await refusal(policy, only('ruled'), create)).toBe('no');
    expect(await refusal(policy, only('other'), create)).toBeUndefined();
  });

  it('sees equivalent versions in the version it asks for, unless it wants exact ones', async () => {
    const make = (): Promise<unknown> =>
      calls.create(
        '/apis/autoscaling/v1/namespaces/ruled/horizontalpodautoscalers',
        { metadata: { name: 'h' }, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } },
        true,
      );
    const rules = (version: string, matchPolicy: string): object => ({
      ...matching({
        matchPolicy,
        resourceRules: [{ ...ANY, apiGroups: ['autoscaling'], apiVersions: [version] }],
      }),
      validations: [
        {
          expression: 'false',
          messageExpression: "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version",
        },
      ],
    });
    expect(await refusal(rules('v2', 'Equivalent'), {}, make)).toBe('autoscaling/v2 v2 v1');
    expect(await refusal(rules('v1', 'Exact'), {}, make)).toBe('autoscaling/v1 v1 v1');
    expect(await refusal(rules('v2', 'Exact'), {}, make)).toBeUndefined();
  });

  it('selects namespaces by the labels they will have', async () => {
    const policy = matching({
      namespaceSelector: { matchLabels: { team: 'a' } },
      resourceRules: [{ ...ANY, resources: ['namespaces'] }],
    });
    const make = (team: string) => (): Promise<unknown> =>
      calls.create('/api/v1/namespaces', { metadata: { name: 'new', labels: { team } } }, true);
    expect(await refusal(policy, {}, make('a'))).toBe('no');
    expect(await refusal(policy, {}, make('b'))).toBeUndefined();
    const inItself = { validations: [{ expression: "request.namespace != 'new' || namespaceObject != null" }] };
    expect(await refusal({ ...policy, ...inItself }, {}, make('a'))).toContain('failed expression');
  });

  describe('subresources that are a kind of their own', () => {
    const shown = {
      expression: 'false',
      messageExpression: "request.kind.kind + ' ' + object.kind + ' ' + object.apiVersion",
    };
    const on = (resource: string, operation: string): object => ({
      ...matching({ resourceRules: [{ ...ANY, operations: [operation], resources: [resource] }] }),
      validations: [shown],
    });
    const handler = (group: string, resource: string, sub: string): SubresourceHandler =>
      fixture.registry.catalog.findSubresource(group, 'v1', resource, sub)!;
    const ref = { namespace: 'ruled', name: 'x' };
    const call = { namespace: 'ruled', dryRun: true };
    const statusOf = (run: Promise<unknown>): Promise<unknown> =>
      run.then(
        () => ({}),
        (error: unknown) => (error as StatusError).status,
      );
    beforeAll(async () => {
      await calls.create('/apis/apps/v1/namespaces/ruled/deployments', {
        metadata: { name: 'x' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      });
    });

    it('are seen as scales', async () => {
      const scale = (): Promise<unknown> =>
        statusOf(handler('apps', 'deployments', 'scale').update!(fixture.ctx, ref, (existing) => existing, call));
      expect(await refusal(on('deployments/scale', 'UPDATE'), {}, scale)).toBe('Scale Scale autoscaling/v1');
      expect(await refusal(on('deployments', 'UPDATE'), {}, scale)).toBeUndefined();
    });

    it('are seen as evictions', async () => {
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'x', namespace: 'ruled' } };
      const evict = (): Promise<unknown> =>
        statusOf(handler('', 'pods', 'eviction').create!(fixture.ctx, ref, body, call));
      expect(await refusal(on('pods/eviction', 'CREATE'), {}, evict)).toBe('Eviction Eviction policy/v1');
    });

    it('are seen as connects', async () => {
      const exec = (): Promise<unknown> => statusOf(handler('', 'pods', 'exec').get!(fixture.ctx, ref));
      expect(await refusal(on('pods/exec', 'CONNECT'), {}, exec)).toBe('PodExecOptions PodExecOptions v1');
    });
  });

  it('does not judge policies', async () => {
    const policy = matching({ resourceRules: [{ ...ANY, apiGroups: ['admissionregistration.k8s.io'] }] });
    const make = (): Promise<unknown> =>
      calls.create(
        `${GROUP}/validatingadmissionpolicybindings`,
        { metadata: { name: 'free' }, spec: { policyName: 'x', validationActions: ['Deny'] } },
        true,
      );
    expect(await refusal(policy, {}, make)).toBeUndefined();
  });

  describe('parameters', () => {
    const policy = (apiVersion = 'v1', kind = 'ConfigMap'): object => ({
      ...matching({ resourceRules: [{ ...ANY, resources: ['configmaps', 'namespaces'] }] }),
      paramKind: { apiVersion, kind },
      validations: [
        { expression: 'params != null && object.metadata.name != params.data.name', messageExpression: "'not m'" },
      ],
    });
    const ref = (paramRef: object): object => ({ paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } });
    beforeAll(async () => {
      await calls.create('/api/v1/namespaces/other/configmaps', {
        metadata: { name: 'names', labels: { param: 'yes' } },
        data: { name: 'm' },
      });
    });

    it('are found by name and by selector', async () => {
      const byName = ref({ name: 'names', namespace: 'other' });
      expect(await refusal(policy(), byName, create)).toBe('not m');
      expect(await refusal(policy(), byName, () => create({}, 'n'))).toBeUndefined();
      const bySelector = ref({ selector: { matchLabels: { param: 'yes' } }, namespace: 'other' });
      expect(await refusal(policy(), bySelector, create)).toBe('not m');
    });

    it('may be missing only when the binding says so', async () => {
      const missing = { name: 'none', namespace: 'other' };
      expect(await refusal(policy(), ref(missing), create)).toBe(
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      );
      expect(await refusal(policy(), ref({ ...missing, parameterNotFoundAction: 'Allow' }), create)).toBeUndefined();
      expect(await refusal(policy(), {}, create)).toBe('not m');
    });

    it('must be of a kind that is served, and in a namespace where there is one', async () => {
      expect(await refusal(policy('example.com/v1', 'Bad'), ref({ name: 'x' }), create)).toBe(
        "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Bad'",
      );
      const bad = { ...policy('example.com/v1', 'Bad'), failurePolicy: 'Ignore' };
      expect(await refusal(bad, ref({ name: 'x' }), create)).toBeUndefined();
      const wide = (): Promise<unknown> =>
        calls.create(
          '/apis/rbac.authorization.k8s.io/v1/clusterroles',
          {
            metadata: { name: 'wide' },
          },
          true,
        );
      const everything = { ...policy(), ...matching({ resourceRules: [{ ...ANY, resources: ['clusterroles'] }] }) };
      expect(await refusal(everything, ref({ name: 'x' }), wide)).toBe(
        'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
      );
      expect(await refusal(policy('v1', 'Namespace'), ref({ name: 'x', namespace: 'y' }), create)).toBe(
        'failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
      );
    });
  });

  it.each([
    [{ validations: [{ expression: 'object.spec.flag' }] }, 'must evaluate to bool'],
    [{ validations: [{ expression: 'request.object == null' }] }, "undefined field 'object'"],
    [{ validations: [{ expression: 'variables.x' }] }, "undeclared reference to 'variables'"],
    [{ validations: [{ expression: 'params == null' }] }, "undeclared reference to 'params'"],
    [
      {
        variables: [{ name: 'x', expression: "'text'" }],
        validations: [{ expression: 'variables.x > 1' }],
      },
      "found no matching overload for '_>_' applied to '(string, int)'",
    ],
    [
      {
        variables: [
          { name: 'x', expression: 'variables.y' },
          { name: 'y', expression: '1' },
        ],
        validations: [{ expression: 'true' }],
      },
      "undefined field 'y'",
    ],
    [
      { variables: [{ name: 'a-b', expression: '1' }], validations: [{ expression: 'true' }] },
      'name is not a valid CEL identifier',
    ],
    [
      { validations: [{ expression: 'true', messageExpression: "authorizer.path('/').check('get').reason()" }] },
      "undeclared reference to 'authorizer'",
    ],
    [{ auditAnnotations: [{ key: 'k', valueExpression: '1' }] }, 'must evaluate to one of [string null_type]'],
  ])('does not store %j', async (spec, text) => {
    const full = { matchConstraints: { resourceRules: [ANY] }, ...spec };
    expect(
      await calls.create(`${GROUP}/validatingadmissionpolicies`, { metadata: { name: 'bad' }, spec: full }, true),
    ).toMatchObject({ code: 422, message: expect.stringContaining(text) });
  });
});
