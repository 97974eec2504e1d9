// RBAC as a pure function: which rule of which binding lets whom do what.
import { describe, expect, it } from 'vitest';
import type { Draft } from '../draft.ts';
import type { AccessAttributes } from './attributes.ts';
import { missingRules } from './escalation.ts';
import { evaluate, type PolicyView } from './rbac-authorizer.ts';

const request = (change: Partial<AccessAttributes> = {}): AccessAttributes => ({
  user: { name: 'bob', groups: ['devs', 'system:authenticated'] },
  verb: 'get',
  isResourceRequest: true,
  path: '',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: 'ns',
  resource: 'configmaps',
  subresource: '',
  name: 'a',
  ...change,
});

const view = (rule: Draft, subject: Draft = { kind: 'User', name: 'bob' }): PolicyView => ({
  clusterRoleBindings: [],
  roleBindings: [{ metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' }, subjects: [subject] }],
  clusterRole: () => undefined,
  role: () => ({ metadata: { name: 'r' }, rules: [rule] }),
});

const reads = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] };

describe('evaluate', () => {
  it('names the binding, the role and the subject that allow', () => {
    expect(evaluate(request(), view(reads))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "bob"',
    });
  });

  it.each<[string, Draft, Partial<AccessAttributes>, boolean]>([
    ['another verb', reads, { verb: 'delete' }, false],
    ['another group', reads, { apiGroup: 'apps' }, false],
    ['a subresource the rule does not name', reads, { subresource: 'status' }, false],
    ['a subresource it names', { ...reads, resources: ['configmaps/status'] }, { subresource: 'status' }, true],
    ['a subresource of any resource', { ...reads, resources: ['*/status'] }, { subresource: 'status' }, true],
    ['everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { subresource: 'x', verb: 'y' }, true],
    ['a name it names', { ...reads, resourceNames: ['a'] }, {}, true],
    ['another name', { ...reads, resourceNames: ['a'] }, { name: 'b' }, false],
    ['a list without a name', { ...reads, resourceNames: ['a'] }, { verb: 'list', name: '' }, false],
    [
      'a path',
      { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
      { isResourceRequest: false, path: '/healthz/a' },
      true,
    ],
    [
      'another path',
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
      { isResourceRequest: false, path: '/x' },
      false,
    ],
  ])('judges %s', (_what, rule, change, allowed) => {
    expect(evaluate(request(change), view(rule)).allowed).toBe(allowed);
  });

  it.each<[Draft, string, boolean]>([
    [{ kind: 'Group', name: 'devs' }, 'bob', true],
    [{ kind: 'Group', name: 'ops' }, 'bob', false],
    [{ kind: 'ServiceAccount', name: 's' }, 'system:serviceaccount:ns:s', true],
    [{ kind: 'ServiceAccount', name: 's', namespace: 'other' }, 'system:serviceaccount:ns:s', false],
  ])('knows subject %j', (subject, name, allowed) => {
    const user = { name, groups: ['devs'] };
    expect(evaluate(request({ user }), view(reads, subject)).allowed).toBe(allowed);
  });

  it('says which roles it could not find', () => {
    const policy = { ...view(reads), role: () => undefined };
    expect(evaluate(request(), policy)).toEqual({
      allowed: false,
      reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found',
    });
  });

  it('does not let a role binding reach beyond its namespace', () => {
    expect(evaluate(request({ namespace: '' }), view(reads)).allowed).toBe(false);
  });
});

describe('missingRules', () => {
  const rule = (verbs: readonly string[], resources: readonly string[], more: object = {}): Draft => ({
    verbs,
    apiGroups: [''],
    resources,
    ...more,
  });

  it('is empty for what is held, also in parts and by wildcard', () => {
    const held = [rule(['get'], ['pods']), rule(['list'], ['pods', '*/status'])];
    expect(missingRules(held, [rule(['get', 'list'], ['pods']), rule(['list'], ['nodes/status'])])).toEqual([]);
  });

  it('prints what is missing, verbs of one target together', () => {
    const held = [rule(['get'], ['secrets'], { resourceNames: ['a'] })];
    expect(
      missingRules(held, [rule(['get', 'list'], ['secrets']), { verbs: ['get'], nonResourceURLs: ['/x'] }]),
    ).toEqual([
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]);
  });
});
