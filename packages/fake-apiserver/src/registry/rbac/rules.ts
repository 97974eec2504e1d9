// Whether one policy rule allows one request, and whether a subject of a binding is a user.
// Upstream: kubernetes@v1.30.3:pkg/apis/rbac/v1/evaluation_helpers.go, plugin/pkg/auth/authorizer/rbac/rbac.go#RuleAllows,
// pkg/registry/rbac/validation/rule.go#appliesToUser
import type { Draft } from '../draft.ts';
import { str, strings } from '../draft.ts';
import type { UserInfo } from '../rest.ts';
import type { AccessAttributes } from './attributes.ts';

const ALL = '*';

const has = (rule: Draft, field: string, wanted: string): boolean => {
  const values = strings(rule, field);
  return values.includes(ALL) || values.includes(wanted);
};

function resourceMatches(rule: Draft, resource: string, subresource: string): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  if (has(rule, 'resources', combined)) return true;
  return subresource !== '' && strings(rule, 'resources').includes(`*/${subresource}`);
}

function nameMatches(rule: Draft, name: string): boolean {
  const names = strings(rule, 'resourceNames');
  return names.length === 0 || names.includes(name);
}

const pathMatches = (rule: Draft, path: string): boolean =>
  strings(rule, 'nonResourceURLs').some(
    (pattern) =>
      pattern === ALL || pattern === path || (pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ''))),
  );

export function ruleAllows(attributes: AccessAttributes, rule: Draft): boolean {
  if (!has(rule, 'verbs', attributes.verb)) return false;
  if (!attributes.isResourceRequest) return pathMatches(rule, attributes.path);
  return (
    has(rule, 'apiGroups', attributes.apiGroup) &&
    resourceMatches(rule, attributes.resource, attributes.subresource) &&
    nameMatches(rule, attributes.name)
  );
}

/** `namespace` is that of the binding, '' for a cluster role binding. */
export function subjectApplies(subject: Draft, user: UserInfo, namespace: string): boolean {
  const name = str(subject, 'name');
  switch (str(subject, 'kind')) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const home = str(subject, 'namespace') || namespace;
      return home !== '' && user.name === `system:serviceaccount:${home}:${name}`;
    }
    default:
      return false;
  }
}

/** As the reason of a decision names it. */
export function describeSubject(subject: Draft, namespace: string): string {
  const kind = str(subject, 'kind');
  const name = str(subject, 'name');
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `ServiceAccount ${JSON.stringify(`${name}/${str(subject, 'namespace') || namespace}`)}`;
}
