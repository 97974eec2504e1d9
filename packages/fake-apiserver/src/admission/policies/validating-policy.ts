// ValidatingAdmissionPolicy: expressions that refuse writes, or warn of them.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/validating/{dispatcher,validator}.go
// Differs: audit annotations have nowhere to go and are not evaluated.
import { newForbidden, StatusError } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, str, strings } from '../../registry/draft.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { ExpressionCache, ExpressionScope } from './expressions.ts';
import { matchesResources } from './matching.ts';
import { type ParamFinder, paramsOf } from './params.ts';

export interface PolicyObjects {
  policies(signal: AbortSignal): Promise<readonly ApiObject[]>;
  bindings(signal: AbortSignal): Promise<readonly ApiObject[]>;
  /** Undefined when there is none. */
  namespace(name: string, signal: AbortSignal): Promise<ApiObject | undefined>;
  readonly params: ParamFinder;
}

interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };
const MAX_MESSAGE_BYTES = 5 * 1024;

const nameOf = (object: Draft): string => str(metadata(object), 'name');

/** Policies do not judge the objects that make them. */
function isExempt({ resource }: AdmissionAttributes): boolean {
  return (
    resource.group === 'admissionregistration.k8s.io' &&
    ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].includes(resource.resource)
  );
}

export class ValidatingPolicies implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #objects: PolicyObjects;
  readonly #cache = new ExpressionCache();

  constructor(objects: PolicyObjects) {
    this.#objects = objects;
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (isExempt(attributes)) return;
    const { signal } = attributes.request;
    const policies = (await this.#objects.policies(signal)) as readonly unknown[] as readonly Draft[];
    if (policies.length === 0) return;
    const bindings = (await this.#objects.bindings(signal)) as readonly unknown[] as readonly Draft[];
    const home = attributes.namespace === '' ? undefined : await this.#objects.namespace(attributes.namespace, signal);
    const namespace = home as unknown as Draft | undefined;
    const denials: Denial[] = [];
    for (const policy of policies) {
      if (!matchesResources(dict(policy, 'spec', 'matchConstraints'), attributes, namespace)) continue;
      for (const binding of bindings) {
        const spec = dict(binding, 'spec');
        if (str(spec, 'policyName') !== nameOf(policy)) continue;
        if (!matchesResources(dict(spec, 'matchResources'), attributes, namespace)) continue;
        denials.push(...(await this.#judge(attributes, policy, binding, namespace)));
      }
    }
    if (denials.length > 0) throw refusal(attributes, denials[0]!);
  }

  /** What a binding refuses; what it only warns of is told at once. */
  async #judge(
    attributes: AdmissionAttributes,
    policy: Draft,
    binding: Draft,
    namespace: Draft | undefined,
  ): Promise<readonly Denial[]> {
    const [policyName, bindingName] = [nameOf(policy), nameOf(binding)];
    const denial = (message: string, reason = ''): Denial => ({
      policy: policyName,
      binding: bindingName,
      message,
      reason,
    });
    const lenient = str(dict(policy, 'spec'), 'failurePolicy') === 'Ignore';
    const params = await paramsOf(this.#objects.params, policy, binding, attributes);
    if ('problem' in params) return lenient ? [] : [denial(`failed to configure binding: ${params.problem}`)];
    const denials: Denial[] = [];
    for (const param of params.found) {
      for (const { message, reason } of decide({ attributes, policy, namespace, param, lenient, cache: this.#cache })) {
        for (const action of strings(dict(binding, 'spec'), 'validationActions')) {
          if (action === 'Deny') denials.push(denial(message, reason));
          if (action === 'Warn')
            attributes.request.warn(
              `Validation failed for ValidatingAdmissionPolicy '${policyName}' with binding '${bindingName}': ${message}`,
            );
        }
      }
    }
    return denials;
  }
}

interface Decision {
  readonly message: string;
  readonly reason: string;
}

interface Judgement {
  readonly attributes: AdmissionAttributes;
  readonly policy: Draft;
  readonly namespace: Draft | undefined;
  readonly param: Draft | null;
  /** An expression that cannot be run lets the request pass. */
  readonly lenient: boolean;
  readonly cache: ExpressionCache;
}

/** The failures of a policy's validations, in their order. */
function decide({ attributes, policy, namespace, param, lenient, cache }: Judgement): readonly Decision[] {
  const spec = dict(policy, 'spec');
  const hasParams = dict(spec, 'paramKind') !== undefined;
  const variables = new Map(dicts(spec, 'variables').map((one) => [str(one, 'name'), str(one, 'expression')] as const));
  const scope = new ExpressionScope(
    {
      object: attributes.object ?? null,
      oldObject: attributes.old ?? null,
      request: requestOf(attributes),
      namespaceObject: namespace ?? null,
      ...(hasParams ? { params: param } : {}),
    },
    variables,
    hasParams,
    cache,
  );
  const broken = (problem: string): readonly Decision[] => (lenient ? [] : [{ message: problem, reason: '' }]);
  for (const condition of dicts(spec, 'matchConditions')) {
    const result = scope.run(str(condition, 'expression'));
    if ('problem' in result) return broken(result.problem);
    if (result.value !== true) return [];
  }
  return dicts(spec, 'validations').flatMap((validation) => {
    const result = scope.run(str(validation, 'expression').trim());
    if ('problem' in result) return broken(result.problem);
    if (result.value === true) return [];
    return [{ message: messageOf(validation, scope), reason: str(validation, 'reason') || 'Invalid' }];
  });
}

function messageOf(validation: Draft, scope: ExpressionScope): string {
  const expression = str(validation, 'messageExpression');
  if (expression !== '') {
    const result = scope.run(expression);
    const text = 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
    if (text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  }
  const message = str(validation, 'message').trim();
  return message === '' ? `failed expression: ${str(validation, 'expression').trim()}` : message;
}

function requestOf(attributes: AdmissionAttributes): Draft {
  const { kind, resource, subresource, name, namespace, operation, dryRun, request, options } = attributes;
  const { user } = request;
  return {
    kind: { ...kind },
    resource: { ...resource },
    subResource: subresource,
    requestKind: { ...kind },
    requestResource: { ...resource },
    requestSubResource: subresource,
    name,
    namespace,
    operation,
    dryRun,
    options: { ...options },
    userInfo: { username: user.name, uid: user.uid ?? '', groups: [...user.groups], extra: { ...user.extra } },
  };
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const { status } = newForbidden(attributes.resource, attributes.name, text);
  const why = reason === '' ? 'Invalid' : reason;
  return new StatusError({
    ...status,
    reason: why,
    code: CODES[why] ?? 422,
    details: { ...status.details, causes: [{ message: text }] },
  });
}
