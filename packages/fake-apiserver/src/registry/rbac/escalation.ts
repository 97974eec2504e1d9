// Nobody grants what they do not hold: roles and bindings are checked against the rules of who writes them.
// Upstream: kubernetes@v1.30.3:pkg/registry/rbac/*/policybased/storage.go, pkg/registry/rbac/validation/rule.go#ConfirmNoEscalation
import { goQuote, newForbidden, newNotFound } from '@kube-rx/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts';
import { byCodePoint, type Draft, dict, dicts, semanticEqual, str, strings } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import type { AccessAuthorizer } from './attributes.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);
const FIELDS = ['apiGroups', 'resources', 'nonResourceURLs', 'resourceNames', 'verbs'] as const;
const TITLES = ['APIGroups', 'Resources', 'NonResourceURLs', 'ResourceNames', 'Verbs'] as const;

/** Rules that name one thing each. */
function breakDown(rule: Draft): readonly Draft[] {
  const out: Draft[] = [];
  const names = strings(rule, 'resourceNames');
  for (const group of strings(rule, 'apiGroups'))
    for (const resource of strings(rule, 'resources'))
      for (const verb of strings(rule, 'verbs')) {
        const one = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (names.length === 0) out.push(one);
        else for (const name of names) out.push({ ...one, resourceNames: [name] });
      }
  for (const url of strings(rule, 'nonResourceURLs'))
    for (const verb of strings(rule, 'verbs')) out.push({ nonResourceURLs: [url], verbs: [verb] });
  return out;
}

const includes = (rule: Draft, field: string, wanted: string): boolean => {
  const values = strings(rule, field);
  return values.includes('*') || values.includes(wanted);
};

function resourceCovered(owner: Draft, resource: string): boolean {
  if (includes(owner, 'resources', resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && strings(owner, 'resources').includes(`*${resource.slice(slash)}`);
}

function pathCovered(owner: Draft, url: string): boolean {
  return strings(owner, 'nonResourceURLs').some(
    (pattern) => pattern === url || (pattern.endsWith('*') && url.startsWith(pattern.slice(0, -1))),
  );
}

function covers(owner: Draft, wanted: Draft): boolean {
  if (!includes(owner, 'verbs', strings(wanted, 'verbs')[0]!)) return false;
  const url = strings(wanted, 'nonResourceURLs')[0];
  if (url !== undefined) return pathCovered(owner, url);
  const name = strings(wanted, 'resourceNames')[0];
  const names = strings(owner, 'resourceNames');
  return (
    includes(owner, 'apiGroups', strings(wanted, 'apiGroups')[0]!) &&
    resourceCovered(owner, strings(wanted, 'resources')[0]!) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

/** Joins the verbs of rules that are otherwise the same. */
function compact(rules: readonly Draft[]): readonly Draft[] {
  const byTarget = new Map<string, { rule: Draft; verbs: string[] }>();
  for (const rule of rules) {
    const { verbs: _verbs, ...target } = rule;
    const key = JSON.stringify(target);
    const known = byTarget.get(key) ?? { rule, verbs: [] };
    byTarget.set(key, known);
    const verb = strings(rule, 'verbs')[0]!;
    if (!known.verbs.includes(verb)) known.verbs.push(verb);
  }
  return [...byTarget.values()].map(({ rule, verbs }) => ({ ...rule, verbs }));
}

const goList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

function describe(rule: Draft): string {
  const parts = FIELDS.flatMap((field, index) => {
    const values = strings(rule, field);
    return values.length === 0 ? [] : [`${TITLES[index]}:${goList(values)}`];
  });
  return `{${parts.join(', ')}}`;
}

/** What `wanted` grants beyond `held`, as upstream prints it; none when it is covered. */
export function missingRules(held: readonly Draft[], wanted: readonly Draft[]): readonly string[] {
  const missing = wanted.flatMap(breakDown).filter((one) => !held.some((owner) => covers(owner, one)));
  return [...new Set(compact(missing).map(describe))].sort(byCodePoint);
}

export interface EscalationSources {
  readonly authorizer: () => AccessAuthorizer;
  /** Rules of a user in a namespace. */
  rulesFor(
    user: AdmissionAttributes['request']['user'],
    namespace: string,
  ): Promise<{ readonly rules: readonly Draft[]; readonly problems: readonly string[] }>;
  /** Rules of the role a binding names; undefined when there is none. */
  rulesOfRole(kind: string, namespace: string, name: string): Promise<readonly Draft[] | undefined>;
}

/** Runs before validation, as the storage upstream does. */
export class EscalationCheck implements AdmissionPlugin {
  readonly name = 'RoleEscalation';
  readonly #sources: EscalationSources;

  constructor(sources: EscalationSources) {
    this.#sources = sources;
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    const { resource, operation, object, old, request } = attributes;
    if (resource.group !== GROUP || object === undefined) return;
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || request.user.groups.includes('system:masters')) return;
    const before = old as unknown as Draft | undefined;
    if (ROLES.has(resource.resource)) await this.#role(attributes, object, before);
    else if (BINDINGS.has(resource.resource)) await this.#binding(attributes, object, before);
  }

  async #role(attributes: AdmissionAttributes, role: Draft, old: Draft | undefined): Promise<void> {
    const rules = dicts(role, 'rules');
    const { resource } = attributes.resource;
    const unchanged =
      old !== undefined &&
      semanticEqual(dicts(old, 'rules'), rules) &&
      semanticEqual(dict(old, 'aggregationRule') ?? {}, dict(role, 'aggregationRule') ?? {});
    if (unchanged || (await this.#may(attributes, 'escalate', resource, str(metadata(role), 'name')))) return;
    await this.#confirm(attributes, role, rules);
  }

  async #binding(attributes: AdmissionAttributes, binding: Draft, old: Draft | undefined): Promise<void> {
    const part = (one: Draft): unknown => [dict(one, 'roleRef'), dicts(one, 'subjects')];
    if (old !== undefined && semanticEqual(part(old), part(binding))) return;
    const reference = dict(binding, 'roleRef');
    const [kind, name] = [str(reference, 'kind'), str(reference, 'name')];
    const target = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (await this.#may(attributes, 'bind', target, name)) return;
    const rules = await this.#sources.rulesOfRole(kind, attributes.namespace, name);
    if (rules === undefined) throw newNotFound({ group: GROUP, resource: kind.toLowerCase() }, name);
    await this.#confirm(attributes, binding, rules);
  }

  async #may(attributes: AdmissionAttributes, verb: string, resource: string, name: string): Promise<boolean> {
    const { allowed } = await this.#sources.authorizer().authorize({
      user: attributes.request.user,
      verb,
      isResourceRequest: true,
      path: '',
      apiGroup: GROUP,
      apiVersion: attributes.resource.version,
      namespace: attributes.namespace,
      resource,
      subresource: '',
      name,
    });
    return allowed;
  }

  async #confirm(attributes: AdmissionAttributes, object: Draft, wanted: readonly Draft[]): Promise<void> {
    const { user } = attributes.request;
    const held = await this.#sources.rulesFor(user, attributes.namespace);
    const missing = missingRules(held.rules, wanted);
    if (missing.length === 0) return;
    const who = `user ${goQuote(user.name)} (groups=${goList(user.groups)})`;
    const text = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}`;
    const problems = held.problems.length === 0 ? '' : `; resolution errors: [${held.problems.join(' ')}]`;
    throw newForbidden(attributes.resource, str(metadata(object), 'name'), `${text}${problems}`);
  }
}
