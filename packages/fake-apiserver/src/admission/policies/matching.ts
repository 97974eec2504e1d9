// Whether a policy or its binding is about a request.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/matching/matching.go, pkg/admission/plugin/webhook/predicates/rules
import { type Draft, dict, dicts, str, strings } from '../../registry/draft.ts';
import { selectorIsEmpty, selectorMatches } from '../../registry/validation/labels.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { AdmissionAttributes } from '../admission.ts';

const ALL = '*';
const includes = (values: readonly string[], wanted: string): boolean =>
  values.includes(ALL) || values.includes(wanted);

function resourceMatches(rule: Draft, { resource, subresource }: AdmissionAttributes): boolean {
  return strings(rule, 'resources').some((pattern) => {
    const slash = pattern.indexOf('/');
    const [name, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
    return (name === ALL || name === resource.resource) && (sub === ALL || sub === subresource);
  });
}

function scopeMatches(rule: Draft, { namespace, resource }: AdmissionAttributes): boolean {
  const namespaced = namespace !== '' && !(resource.group === '' && resource.resource === 'namespaces');
  const scope = str(rule, 'scope') || ALL;
  return scope === ALL || (scope === 'Namespaced') === namespaced;
}

function ruleMatches(rule: Draft, attributes: AdmissionAttributes, anyVersion: boolean): boolean {
  const { resource, operation, name } = attributes;
  const names = strings(rule, 'resourceNames');
  return (
    includes(strings(rule, 'operations'), operation) &&
    includes(strings(rule, 'apiGroups'), resource.group) &&
    // All versions of a kind are equivalent.
    (anyVersion || includes(strings(rule, 'apiVersions'), resource.version)) &&
    resourceMatches(rule, attributes) &&
    scopeMatches(rule, attributes) &&
    (names.length === 0 || names.includes(name))
  );
}

function labelsMatch(selector: Draft | undefined, labels: Draft | undefined): boolean {
  return selector === undefined || selectorIsEmpty(selector) || selectorMatches(selector, labels);
}

/** `namespace` is the object of the request's namespace; undefined for cluster-wide requests. */
export function matchesResources(
  match: Draft | undefined,
  attributes: AdmissionAttributes,
  namespace: Draft | undefined,
): boolean {
  if (match === undefined) return true;
  const own = attributes.resource.group === '' && attributes.resource.resource === 'namespaces';
  const home = own ? (attributes.object ?? (attributes.old as unknown as Draft | undefined)) : namespace;
  if (home !== undefined && !labelsMatch(dict(match, 'namespaceSelector'), dict(metadata(home), 'labels')))
    return false;
  const objects = [attributes.object, attributes.old as unknown as Draft | undefined].filter(
    (one) => one !== undefined,
  );
  const selector = dict(match, 'objectSelector');
  if (objects.length > 0 && !objects.some((one) => labelsMatch(selector, dict(metadata(one), 'labels')))) return false;
  const anyVersion = str(match, 'matchPolicy') !== 'Exact';
  const hit = (field: string): boolean => dicts(match, field).some((rule) => ruleMatches(rule, attributes, anyVersion));
  if (hit('excludeResourceRules')) return false;
  return dicts(match, 'resourceRules').length === 0 || hit('resourceRules');
}
