// Admission policies through the registry that runs them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRegistry, RegistryCalls, type RegistryFixture } from '../../../test/support/registry-fixture.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
const MAPS = '/api/v1/namespaces/ruled/configmaps';
const CONFIG_MAPS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  resources: ['configmaps'],
};
const IN_RULED = { matchLabels: { 'kubernetes.io/metadata.name': 'ruled' } };

interface Rule {
  readonly spec: object;
  readonly match?: object;
  readonly binding?: object;
}

describe('ValidatingAdmissionPolicy', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  let name = '';
  let count = 0;
  beforeAll(async () => {
    fixture = await openRegistry({ namespaceController: false });
    calls = new RegistryCalls(fixture);
    for (const namespace of ['ruled', 'other']) await fixture.createNamespace(namespace);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    count += 1;
    name = `p${count}`;
  });

  /** Runs something while one policy and its binding are there. */
  async function under<T>({ spec, match = {}, binding = {} }: Rule, run: () => Promise<T>): Promise<T> {
    const matchConstraints = { namespaceSelector: IN_RULED, resourceRules: [CONFIG_MAPS], ...match };
    const made = await calls.create(POLICIES, { metadata: { name }, spec: { matchConstraints, ...spec } });
    expect(made).not.toHaveProperty('code');
    const bound = await calls.create(BINDINGS, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], ...binding },
    });
    expect(bound).not.toHaveProperty('code');
    try {
      return await run();
    } finally {
      await calls.delete(`${POLICIES}/${name}`);
      await calls.delete(`${BINDINGS}/${name}`);
    }
  }
  const denied = (message: string, object = 'm'): object => ({
    message: `configmaps "${object}" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${message}`,
  });
  const create = (data: object = {}, object = 'm'): Promise<unknown> =>
    calls.create(MAPS, { metadata: { name: object }, data }, true);
  const rule = (expression: string, more: object = {}): Rule => ({ spec: { validations: [{ expression, ...more }] } });

  it('answers as the real server does', async () => {
    const cause = { message: `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: no` };
    expect(await under(rule('false', { message: ' no ' }), () => create())).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: `configmaps "m" is forbidden: ${cause.message}`,
      details: { name: 'm', kind: 'configmaps', causes: [cause] },
    });
  });

  it.each([
    ['Forbidden', 403],
    ['Unauthorized', 401],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ])('refuses with reason %s and code %i', async (reason, code) => {
    expect(await under(rule('false', { reason }), () => create())).toMatchObject({ reason, code });
  });

  it('shows the expression where there is no message', async () => {
    const expression = "\n  object.data.a == 'x' &&\n  true\n";
    expect(await under(rule(expression), () => create({ a: 'y' }))).toMatchObject(
      denied(`failed expression: ${expression.trim()}`),
    );
  });

  it.each([
    ["'a: ' + object.data.a", 'a: y'],
    ["'two\\nlines'", 'plain'],
    ["'  '", 'plain'],
    ['object.data.none', 'plain'],
  ])('makes its message of %s', async (messageExpression, text) => {
    const both = rule('false', { message: 'plain', messageExpression: `string(${messageExpression})` });
    expect(await under(both, () => create({ a: 'y' }))).toMatchObject(denied(text));
  });

  it.each([
    ["object.data.none == 'x'", "expression 'object.data.none == 'x'' resulted in error: no such key: none"],
    [
      'variables.late > 0',
      'expression \'variables.late > 0\' resulted in error: composited variable "late" fails to evaluate: no such key: none',
    ],
  ])('fails closed, or open when told so, where %s cannot be run', async (expression, text) => {
    const spec = { variables: [{ name: 'late', expression: 'size(object.data.none)' }], validations: [{ expression }] };
    expect(await under({ spec }, () => create({ a: '1' }))).toMatchObject(denied(text));
    const open = { spec: { ...spec, failurePolicy: 'Ignore' } };
    expect(await under(open, () => create({ a: '1' }))).not.toHaveProperty('code');
  });

  it('stops expressions that cost too much', async () => {
    const many = "'abcdefghij'.split('')";
    const all = (depth: number): string => (depth === 0 ? 'true' : `${many}.all(i${depth}, ${all(depth - 1)})`);
    expect(await under(rule(all(6)), () => create())).toMatchObject({
      message: expect.stringContaining('resulted in error: operation cancelled: actual cost limit exceeded'),
    });
  });

  it('asks its conditions first; one that does not hold wins over one that cannot be run', async () => {
    const conditions = (...expressions: readonly string[]): Rule => ({
      spec: {
        matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
        validations: [{ expression: 'false', message: 'no' }],
      },
    });
    const broken = "object.data.none == ''";
    expect(await under(conditions('true'), () => create())).toMatchObject(denied('no'));
    expect(await under(conditions('true', 'false'), () => create())).not.toHaveProperty('code');
    expect(await under(conditions(broken, 'false'), () => create({ a: '1' }))).not.toHaveProperty('code');
    expect(await under(conditions(broken, 'true'), () => create({ a: '1' }))).toMatchObject(
      denied(`expression '${broken}' resulted in error: no such key: none`),
    );
  });

  it('warns instead of refusing, and says nothing when it only audits', async () => {
    const before = fixture.warnings.length;
    const warn = { ...rule('false', { message: 'no' }), binding: { validationActions: ['Warn', 'Audit'] } };
    expect(await under(warn, () => create())).not.toHaveProperty('code');
    expect(fixture.warnings.slice(before)).toEqual([
      `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': no`,
    ]);
    const audit = { ...rule('false'), binding: { validationActions: ['Audit'] } };
    expect(await under(audit, () => create())).not.toHaveProperty('code');
    expect(fixture.warnings).toHaveLength(before + 1);
  });

  it('refuses when an audit annotation cannot be made, whatever the actions are', async () => {
    const auditAnnotations = [{ key: 'k', valueExpression: 'string(object.data.none)' }];
    const warn = { spec: { auditAnnotations }, binding: { validationActions: ['Audit'] } };
    expect(await under(warn, () => create({ a: '1' }))).toMatchObject(
      denied("expression 'string(object.data.none)' resulted in error: no such key: none"),
    );
  });

  it('sees the old object of updates and deletes', async () => {
    await calls.create(MAPS, { metadata: { name: 'kept' }, data: { a: '1' } });
    const grows = rule('oldObject == null || object == null || int(object.data.a) >= int(oldObject.data.a)');
    const shrink = (): Promise<unknown> =>
      calls.update(`${MAPS}/kept`, (map) => {
        map['data'] = { a: '0' };
      });
    expect(await under(grows, shrink)).toMatchObject({ code: 422 });
    const stays = rule("request.operation != 'DELETE' || !has(object.data) && oldObject.data.a != '1'", {
      message: 'stays',
    });
    expect(await under(stays, () => calls.delete(`${MAPS}/kept`))).toMatchObject(denied('stays', 'kept'));
    expect(await under(rule('has(object.metadata)'), () => calls.delete(`${MAPS}/kept`))).toMatchObject({ code: 422 });
  });

  it('sees the request, its namespace and its user', async () => {
    const facts = [
      "request.operation == 'CREATE'",
      "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
      "request.name == 'm' && request.namespace == 'ruled'",
      '!has(request.subResource) && !has(request.userInfo.uid) && !has(request.userInfo.extra)',
      "request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups",
      "request.dryRun && request.options.kind == 'CreateOptions'",
      "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'ruled'",
      "namespaceObject.status.phase == 'Active'",
      "object.metadata.uid != '' && has(object.metadata.creationTimestamp)",
    ];
    const all = { spec: { validations: facts.map((expression) => ({ expression })) } };
    expect(await under(all, () => create())).not.toHaveProperty('code');
  });

  it('does not see a name that the server made up', async () => {
    const make = (): Promise<unknown> => calls.create(MAPS, { metadata: { generateName: 'g-' } }, true);
    expect(await under(rule("!has(request.name) && object.metadata.name.startsWith('g-')"), make)).not.toHaveProperty(
      'code',
    );
    expect(await under(rule('has(request.name)'), make)).toMatchObject({
      message: expect.stringMatching(/^configmaps "g-[a-z0-9]{5}" is forbidden: /),
    });
  });

  it('asks the authorizer', async () => {
    const may = (check: string): Rule => rule(`authorizer.${check}.allowed()`);
    const someone =
      "serviceAccount('ruled', 'nobody').group('').resource('configmaps').namespace('ruled').check('create')";
    expect(await under(may(someone), () => create())).toMatchObject({ code: 422 });
    await calls.create('/apis/rbac.authorization.k8s.io/v1/namespaces/ruled/roles', {
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    });
    await calls.create('/apis/rbac.authorization.k8s.io/v1/namespaces/ruled/rolebindings', {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 'nobody', namespace: 'ruled' }],
    });
    expect(await under(may(someone), () => create())).not.toHaveProperty('code');
    expect(await under(may("requestResource.check('anything')"), () => create())).not.toHaveProperty('code');
    expect(await under(may("path('/healthz').check('get')"), () => create())).not.toHaveProperty('code');
    expect(await under(may("path(' ').check('get')"), () => create())).toMatchObject({
      message: expect.stringContaining('resulted in error: path must not be empty'),
    });
  });
});
