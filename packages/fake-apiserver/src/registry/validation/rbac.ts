// Roles and their bindings.
// Upstream: kubernetes@v1.30.3:pkg/apis/rbac/validation/validation.go
import { type Draft, dict, dicts, get, has, list, semanticEqual, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, path } from './field-errors.ts';
import { selectorIsValid, validateLabelSelector } from './labels.ts';
import { nameIsDnsSubdomain, nameIsPathSegment } from './object-meta.ts';
import { messages } from './values.ts';

const GROUP = 'rbac.authorization.k8s.io';

function validateRule(rule: Draft, namespaced: boolean, at: FieldPath, errors: FieldErrors): void {
  if (strings(rule, 'verbs').length === 0) errors.required(at.child('verbs'), 'verbs must contain at least one value');
  const urls = strings(rule, 'nonResourceURLs');
  if (urls.length > 0) {
    const here = at.child('nonResourceURLs');
    if (namespaced) errors.invalid(here, [...urls], 'namespaced rules cannot apply to non-resource URLs');
    if (['apiGroups', 'resources', 'resourceNames'].some((field) => list(rule, field).length > 0))
      errors.invalid(here, [...urls], 'rules cannot apply to both regular resources and non-resource URLs');
    return;
  }
  if (strings(rule, 'apiGroups').length === 0)
    errors.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
  if (strings(rule, 'resources').length === 0)
    errors.required(at.child('resources'), 'resource rules must supply at least one resource');
}

export function validateRole(object: Draft, errors: FieldErrors, namespaced: boolean): void {
  dicts(object, 'rules').forEach((rule, index) => {
    validateRule(rule, namespaced, path('rules').index(index), errors);
  });
  if (namespaced || !has(object, 'aggregationRule')) return;
  const at = path('aggregationRule', 'clusterRoleSelectors');
  const selectors = dicts(dict(object, 'aggregationRule'), 'clusterRoleSelectors');
  if (selectors.length === 0)
    errors.required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  selectors.forEach((selector, index) => {
    validateLabelSelector(selector, at.index(index), errors);
    // The selector that could not be made is what upstream shows.
    if (!selectorIsValid(selector)) errors.invalid(at.index(index), null, 'invalid label selector.');
  });
}

function validateSubject(subject: Draft, namespaced: boolean, at: FieldPath, errors: FieldErrors): void {
  const [name, kind, group] = [str(subject, 'name'), str(subject, 'kind'), str(subject, 'apiGroup')];
  if (name === '') errors.required(at.child('name'));
  if (kind === 'ServiceAccount') {
    if (name !== '') messages(name, nameIsDnsSubdomain(name, false), at.child('name'), errors);
    if (group !== '') errors.notSupported(at.child('apiGroup'), group, ['']);
    if (!namespaced && str(subject, 'namespace') === '') errors.required(at.child('namespace'));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== GROUP) errors.notSupported(at.child('apiGroup'), group, [GROUP]);
  } else errors.notSupported(at.child('kind'), kind, ['ServiceAccount', 'User', 'Group']);
}

export function validateBinding(object: Draft, errors: FieldErrors, namespaced: boolean): void {
  const ref = dict(object, 'roleRef');
  const at = path('roleRef');
  const [group, kind, name] = [str(ref, 'apiGroup'), str(ref, 'kind'), str(ref, 'name')];
  if (group !== GROUP) errors.notSupported(at.child('apiGroup'), group, [GROUP]);
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(kind)) errors.notSupported(at.child('kind'), kind, kinds);
  if (name === '') errors.required(at.child('name'));
  else messages(name, nameIsPathSegment(name, false), at.child('name'), errors);
  dicts(object, 'subjects').forEach((subject, index) => {
    validateSubject(subject, namespaced, path('subjects').index(index), errors);
  });
}

export function validateBindingUpdate(object: Draft, old: Draft, errors: FieldErrors, namespaced: boolean): void {
  // Upstream looks at the whole object, and then again in its check of the update.
  validateBinding(object, errors, namespaced);
  validateBinding(object, errors, namespaced);
  if (semanticEqual(get(object, 'roleRef'), get(old, 'roleRef'))) return;
  const ref = dict(object, 'roleRef');
  const text = ['apiGroup', 'kind', 'name'].map((field) => JSON.stringify(str(ref, field)));
  errors.invalid(
    path('roleRef'),
    go(`rbac.RoleRef{APIGroup:${text[0]}, Kind:${text[1]}, Name:${text[2]}}`),
    'cannot change roleRef',
  );
}
