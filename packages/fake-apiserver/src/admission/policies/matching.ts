// Whether a policy or its binding is about a request, and in which version it sees it.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/matching/matching.go, pkg/admission/plugin/webhook/predicates
import type { GroupVersionResource } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, str, strings } from '../../registry/draft.ts';
import { selectorIsEmpty, selectorMatches } from '../../registry/validation/labels.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { Seen } from './bindings.ts';

const ALL = '*';
const includes = (values: readonly string[], wanted: string): boolean =>
  values.includes(ALL) || values.includes(wanted);

/** Other resources that show the same objects. */
export type Equivalents = (resource: GroupVersionResource, subresource: string) => readonly Seen[];

export interface MatchInput {
  readonly attributes: AdmissionAttributes;
  /** Of the request; undefined for cluster-wide requests. */
  readonly namespace: Draft | undefined;
  readonly equivalents: Equivalents;
}

function resourceMatches(rule: Draft, resource: string, subresource: string): boolean {
  return strings(rule, 'resources').some((pattern) => {
    const slash = pattern.indexOf('/');
    const [name, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
    return (name === ALL || name === resource) && (sub === ALL || sub === subresource);
  });
}

/** A namespace is not in itself, though requests for it name it. */
const isNamespace = ({ group, resource }: GroupVersionResource): boolean => group === '' && resource === 'namespaces';

function scopeMatches(rule: Draft, resource: GroupVersionResource, namespace: string): boolean {
  const namespaced = namespace !== '' && !isNamespace(resource);
  const scope = str(rule, 'scope') || ALL;
  return scope === ALL || (scope === 'Namespaced') === namespaced;
}

function ruleMatches(rule: Draft, attributes: AdmissionAttributes, resource: GroupVersionResource): boolean {
  const names = strings(rule, 'resourceNames');
  return (
    includes(strings(rule, 'operations'), attributes.operation) &&
    includes(strings(rule, 'apiGroups'), resource.group) &&
    includes(strings(rule, 'apiVersions'), resource.version) &&
    resourceMatches(rule, resource.resource, attributes.subresource) &&
    scopeMatches(rule, resource, attributes.namespace) &&
    (names.length === 0 || names.includes(attributes.name))
  );
}

function rulesMatch(rules: readonly Draft[], exact: boolean, input: MatchInput): Seen | undefined {
  const { attributes, equivalents } = input;
  const { resource, kind, subresource } = attributes;
  if (rules.some((rule) => ruleMatches(rule, attributes, resource))) return { resource, kind };
  if (exact || rules.length === 0) return undefined;
  const others = equivalents(resource, subresource);
  for (const rule of rules) {
    const found = others.find((other) => ruleMatches(rule, attributes, other.resource));
    if (found !== undefined) return found;
  }
  return undefined;
}

const labelsOf = (object: Draft | undefined): Draft | undefined =>
  object === undefined ? undefined : dict(metadata(object), 'labels');

function namespaceMatches(selector: Draft | undefined, { attributes, namespace }: MatchInput): boolean {
  if (selectorIsEmpty(selector)) return true;
  const { resource, operation, subresource, object, old } = attributes;
  if (resource.resource !== 'namespaces')
    return namespace === undefined || selectorMatches(selector, labelsOf(namespace));
  // What is stored of the namespace is not what it will be.
  const comes = subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  return selectorMatches(selector, labelsOf(comes ? object : (old as unknown as Draft | undefined)));
}

function objectMatches(selector: Draft | undefined, { object, old }: AdmissionAttributes): boolean {
  if (selectorIsEmpty(selector)) return true;
  return [old as unknown as Draft | undefined, object].some(
    (one) => one !== undefined && selectorMatches(selector, labelsOf(one)),
  );
}

/** Undefined when it is not about the request. */
export function matchResources(match: Draft | undefined, input: MatchInput): Seen | undefined {
  const { resource, kind } = input.attributes;
  if (match === undefined) return { resource, kind };
  if (!namespaceMatches(dict(match, 'namespaceSelector'), input)) return undefined;
  if (!objectMatches(dict(match, 'objectSelector'), input.attributes)) return undefined;
  const exact = str(match, 'matchPolicy') === 'Exact';
  if (rulesMatch(dicts(match, 'excludeResourceRules'), exact, input) !== undefined) return undefined;
  const rules = dicts(match, 'resourceRules');
  return rules.length === 0 ? { resource, kind } : rulesMatch(rules, exact, input);
}
