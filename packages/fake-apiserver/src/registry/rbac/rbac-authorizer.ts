// Decides by roles and bindings. The evaluation is a pure function over a view of the policy; the authorizer reads the view.
// Upstream: kubernetes@v1.30.3:plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go#VisitRulesFor
import { byCodePoint, type Draft, dict, dicts, str } from '../draft.ts';
import type { UserInfo } from '../rest.ts';
import { metadata } from '../validation/object-meta.ts';
import type { AccessAttributes, AccessAuthorizer, AccessDecision } from './attributes.ts';
import { describeSubject, ruleAllows, subjectApplies } from './rules.ts';

/** The policy as one decision sees it. */
export interface PolicyView {
  readonly clusterRoleBindings: readonly Draft[];
  /** Of the namespace in question; none for cluster-wide requests. */
  readonly roleBindings: readonly Draft[];
  clusterRole(name: string): Draft | undefined;
  /** In the namespace in question. */
  role(name: string): Draft | undefined;
}

export interface GrantedRule {
  readonly rule: Draft;
  /** `ClusterRoleBinding "b" of ClusterRole "r" to User "u"` */
  readonly source: string;
}

/** Every rule that bindings give to a user, and what could not be resolved. */
export function* rulesFor(
  user: UserInfo,
  namespace: string,
  policy: PolicyView,
  unresolved: string[],
): Generator<GrantedRule> {
  for (const binding of policy.clusterRoleBindings) yield* grantsOf(binding, '', user, policy, unresolved);
  if (namespace === '') return;
  for (const binding of policy.roleBindings) yield* grantsOf(binding, namespace, user, policy, unresolved);
}

function* grantsOf(
  binding: Draft,
  namespace: string,
  user: UserInfo,
  policy: PolicyView,
  unresolved: string[],
): Generator<GrantedRule> {
  const subject = dicts(binding, 'subjects').find((one) => subjectApplies(one, user, namespace));
  if (subject === undefined) return;
  const reference = dict(binding, 'roleRef');
  const [kind, roleName] = [str(reference, 'kind'), str(reference, 'name')];
  const role = kind === 'ClusterRole' ? policy.clusterRole(roleName) : policy.role(roleName);
  if (role === undefined) {
    unresolved.push(`${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(roleName)} not found`);
    return;
  }
  const name = str(metadata(binding), 'name');
  const title =
    namespace === ''
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  const source = `${title} of ${kind} ${JSON.stringify(roleName)} to ${describeSubject(subject, namespace)}`;
  for (const rule of dicts(role, 'rules')) yield { rule, source };
}

/** Nothing is denied outright: what no rule allows is left to the next authorizer. */
export function evaluate(attributes: AccessAttributes, policy: PolicyView): AccessDecision {
  const unresolved: string[] = [];
  for (const { rule, source } of rulesFor(attributes.user, attributes.namespace, policy, unresolved))
    if (ruleAllows(attributes, rule)) return { allowed: true, reason: `RBAC: allowed by ${source}` };
  if (unresolved.length === 0) return { allowed: false, reason: '' };
  const texts = [...new Set(unresolved)];
  return { allowed: false, reason: `RBAC: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}` };
}

/** Roles and bindings as they are stored now. */
export interface PolicySource {
  list(resource: 'clusterrolebindings' | 'rolebindings', namespace: string): Promise<readonly Draft[]>;
  get(resource: 'clusterroles' | 'roles', namespace: string, name: string): Promise<Draft | undefined>;
}

const byName = (a: Draft, b: Draft): number => byCodePoint(str(metadata(a), 'name'), str(metadata(b), 'name'));

export class RbacAuthorizer implements AccessAuthorizer {
  readonly #source: PolicySource;

  constructor(source: PolicySource) {
    this.#source = source;
  }

  async authorize(attributes: AccessAttributes): Promise<AccessDecision> {
    return evaluate(attributes, await this.#view(attributes.user, attributes.namespace));
  }

  /** Rules of a user in a namespace, for SelfSubjectRulesReview. */
  async rulesFor(
    user: UserInfo,
    namespace: string,
  ): Promise<{ readonly rules: readonly Draft[]; readonly problems: readonly string[] }> {
    const problems: string[] = [];
    const granted = [...rulesFor(user, namespace, await this.#view(user, namespace), problems)];
    return { rules: granted.map(({ rule }) => rule), problems };
  }

  /** Rules of the role a binding in a namespace names; undefined when there is none. */
  async rulesOfRole(kind: string, namespace: string, name: string): Promise<readonly Draft[] | undefined> {
    const role = await (kind === 'ClusterRole'
      ? this.#source.get('clusterroles', '', name)
      : this.#source.get('roles', namespace, name));
    return role === undefined ? undefined : dicts(role, 'rules');
  }

  /** Reads bindings, and only the roles that bindings of this user name. */
  async #view(user: UserInfo, namespace: string): Promise<PolicyView> {
    const applies = (home: string) => (binding: Draft) =>
      dicts(binding, 'subjects').some((subject) => subjectApplies(subject, user, home));
    const clusterRoleBindings = [...(await this.#source.list('clusterrolebindings', ''))]
      .filter(applies(''))
      .sort(byName);
    const roleBindings =
      namespace === ''
        ? []
        : [...(await this.#source.list('rolebindings', namespace))].filter(applies(namespace)).sort(byName);
    const clusterRoles = new Map<string, Draft | undefined>();
    const roles = new Map<string, Draft | undefined>();
    for (const binding of [...clusterRoleBindings, ...roleBindings]) {
      const reference = dict(binding, 'roleRef');
      const name = str(reference, 'name');
      if (str(reference, 'kind') === 'ClusterRole')
        clusterRoles.set(name, await this.#source.get('clusterroles', '', name));
      else roles.set(name, await this.#source.get('roles', namespace, name));
    }
    return {
      clusterRoleBindings,
      roleBindings,
      clusterRole: (name) => clusterRoles.get(name),
      role: (name) => roles.get(name),
    };
  }
}
