// ValidatingAdmissionPolicy: expressions that refuse writes, or warn of them.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/validating/dispatcher.go
// Differs: audit annotations have nowhere to go; upstream takes policies in no order, here they are taken by name.
import { newForbidden, StatusError } from '@kube-rx/apimachinery';
import { type Draft, dict, str, strings } from '../../registry/draft.ts';
import type { AccessAuthorizer } from '../../registry/rbac/attributes.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { AuthorizerAnswers } from './authorizer-answers.ts';
import { bindingsOf, type Seen } from './bindings.ts';
import { type Equivalents, type MatchInput, matchResources } from './matching.ts';
import { describeParamKind, type ParamFinder, type ParamSource, paramsOf } from './params.ts';
import { compilePolicy, type Program } from './program.ts';
import { type Failure, validate } from './validator.ts';

export interface PolicyObjects {
  policies(signal: AbortSignal): Promise<readonly ApiObject[]>;
  bindings(signal: AbortSignal): Promise<readonly ApiObject[]>;
  /** Undefined when there is none. */
  namespace(name: string, signal: AbortSignal): Promise<ApiObject | undefined>;
  readonly params: ParamFinder;
  readonly equivalents: Equivalents;
  /** An object of the stored version in another one; the argument stays as it is. */
  show(object: Draft, seen: Seen): Draft;
  authorizer(): AccessAuthorizer;
}

interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

const nameOf = (object: Draft): string => str(metadata(object), 'name');

/** Policies do not judge the objects that make them. */
function isExempt({ resource }: AdmissionAttributes): boolean {
  return (
    resource.group === 'admissionregistration.k8s.io' &&
    ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].includes(resource.resource)
  );
}

const SUFFIX_LENGTH = 5;

function isGenerated({ operation, subresource, object, name }: AdmissionAttributes): boolean {
  if (operation !== 'CREATE' || subresource !== '' || object === undefined) return false;
  const prefix = str(metadata(object), 'generateName');
  return prefix !== '' && name.startsWith(prefix) && name.length === prefix.length + SUFFIX_LENGTH;
}

const isNamespace = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.resource === 'namespaces';

/** A name that the server made up is not part of the request; a request for a namespace is one in that namespace. */
function asRequested(attributes: AdmissionAttributes): AdmissionAttributes {
  const name = isGenerated(attributes) ? '' : attributes.name;
  return { ...attributes, name, namespace: isNamespace(attributes) ? name : attributes.namespace };
}

export class ValidatingPolicies implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #objects: PolicyObjects;
  readonly #programs = new WeakMap<Draft, Program>();

  constructor(objects: PolicyObjects) {
    this.#objects = objects;
  }

  async validate(given: AdmissionAttributes): Promise<void> {
    if (isExempt(given)) return;
    const attributes = asRequested(given);
    const { signal } = attributes.request;
    const policies = (await this.#objects.policies(signal)) as readonly unknown[] as readonly Draft[];
    if (policies.length === 0) return;
    const bindings = (await this.#objects.bindings(signal)) as readonly unknown[] as readonly Draft[];
    const { namespace: home } = attributes;
    const found = home === '' || isNamespace(attributes) ? undefined : await this.#objects.namespace(home, signal);
    const { equivalents } = this.#objects;
    const input: MatchInput = { attributes, namespace: found as unknown as Draft | undefined, equivalents };
    const answers = new AuthorizerAnswers(this.#objects.authorizer());
    const denials: Denial[] = [];
    for (const policy of policies) {
      const bound = bindings.filter((one) => str(dict(one, 'spec'), 'policyName') === nameOf(policy));
      if (bound.length > 0) denials.push(...(await this.#judge(policy, bound, input, answers)));
    }
    if (denials.length > 0) throw refusal(attributes, denials[0]!);
  }

  /** What a policy refuses; what it only warns of is told at once. */
  async #judge(
    policy: Draft,
    bindings: readonly Draft[],
    input: MatchInput,
    answers: AuthorizerAnswers,
  ): Promise<readonly Denial[]> {
    const { attributes } = input;
    const spec = dict(policy, 'spec');
    const seen = matchResources(dict(spec, 'matchConstraints') ?? {}, input);
    if (seen === undefined) return [];
    const lenient = str(spec, 'failurePolicy') === 'Ignore';
    const misconfigured = (problem: string, binding?: Draft): readonly Denial[] => {
      if (lenient) return [];
      const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${problem}`;
      return [{ policy: nameOf(policy), binding: binding && nameOf(binding), message, reason: '' }];
    };
    const kind = dict(spec, 'paramKind');
    const source = kind === undefined ? undefined : this.#paramSource(kind, attributes);
    if (kind !== undefined && source === undefined)
      return misconfigured(`failed to find resource referenced by paramKind: '${describeParamKind(kind)}'`);
    const denials: Denial[] = [];
    for (const binding of bindings) {
      if (matchResources(dict(binding, 'spec', 'matchResources'), input) === undefined) continue;
      const params = await paramsOf(source, binding, attributes.namespace);
      if ('problem' in params) {
        denials.push(...misconfigured(params.problem, binding));
        continue;
      }
      for (const param of params.found) {
        const failures = await answers.complete(() => this.#run(policy, param, seen, input, answers, lenient));
        denials.push(...act(policy, binding, failures, attributes));
      }
    }
    return denials;
  }

  #paramSource(kind: Draft, { request }: AdmissionAttributes): ParamSource | undefined {
    return this.#objects.params(str(kind, 'apiVersion'), str(kind, 'kind'), request.signal);
  }

  #run(
    policy: Draft,
    param: Draft | null,
    seen: Seen,
    { attributes, namespace }: MatchInput,
    answers: AuthorizerAnswers,
    lenient: boolean,
  ): readonly Failure[] {
    let program = this.#programs.get(policy);
    if (program === undefined) {
      program = compilePolicy(policy);
      this.#programs.set(policy, program);
    }
    const show = (object: unknown): Draft | undefined =>
      object === undefined ? undefined : this.#objects.show(object as Draft, seen);
    const bindings = bindingsOf({
      attributes,
      seen,
      object: show(attributes.object),
      old: show(attributes.old),
      namespace,
      params: program.hasParams ? param : undefined,
      answers,
    });
    return validate({ program, bindings, lenient });
  }
}

/** Does what the binding says is to be done about failures. */
function act(
  policy: Draft,
  binding: Draft,
  failures: readonly Failure[],
  { request }: AdmissionAttributes,
): readonly Denial[] {
  const actions = strings(dict(binding, 'spec'), 'validationActions');
  const denials: Denial[] = [];
  for (const { message, reason, always } of failures) {
    for (const action of always ? ['Deny'] : actions) {
      if (action === 'Deny') denials.push({ policy: nameOf(policy), binding: nameOf(binding), message, reason });
      if (action !== 'Warn') continue;
      const by = `ValidatingAdmissionPolicy '${nameOf(policy)}' with binding '${nameOf(binding)}'`;
      request.warn(`Validation failed for ${by}: ${message}`);
    }
  }
  return denials;
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const { resource, name, object } = attributes;
  const shown = name || str(object && metadata(object), 'name') || 'Unknown';
  const { status } = newForbidden(resource, shown, text);
  const why = reason === '' ? 'Invalid' : reason;
  return new StatusError({
    ...status,
    reason: why,
    code: CODES[why] ?? 422,
    details: { ...status.details, causes: [{ message: text }] },
  });
}
