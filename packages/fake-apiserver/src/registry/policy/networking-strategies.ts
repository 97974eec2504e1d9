// Networking, discovery, policy, RBAC, leases, scheduling and runtime classes.
// Upstream: kubernetes@v1.30.3:pkg/registry/{networking,discovery,policy,rbac,coordination,scheduling,node}/*/strategy.go
import { goQuote } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, get, has, num, put, semanticEqual, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import {
  countGeneration,
  dropStatus,
  keep,
  startGeneration,
  statusPart,
  statusResetFields,
} from '../strategy-parts.ts';
import { validateEndpointSlice, validateEndpointSliceUpdate } from '../validation/endpoints.ts';
import { type FieldErrors, go, path } from '../validation/field-errors.ts';
import { validateLabelSelector, validateLabels } from '../validation/labels.ts';
import {
  validateIngress,
  validateIngressClass,
  validateIngressClassUpdate,
  validateIngressCreate,
  validateIngressStatus,
  validateNetworkPolicy,
} from '../validation/networking.ts';
import { metadata, nameIsDnsLabel, nameIsPathSegment, validateImmutable } from '../validation/object-meta.ts';
import { validateTolerations } from '../validation/pod-spec.ts';
import { validateResourceRequirements } from '../validation/quota.ts';
import { validateBinding, validateBindingUpdate, validateRole } from '../validation/rbac.ts';
import { messages, nonnegative, notMoreThan100Percent, positiveIntOrPercent } from '../validation/values.ts';

/** A kind whose only bookkeeping is to count changes of its spec. */
const counted = {
  prepareForCreate: startGeneration,
  prepareForUpdate: (object: Draft, old: Draft): void => countGeneration(object, old, 'spec'),
} as const;

/** The same with a status. */
const countedWithStatus = {
  prepareForCreate(object: Draft): void {
    dropStatus(object);
    startGeneration(object);
  },
  prepareForUpdate(object: Draft, old: Draft): void {
    keep(object, old, 'status');
    countGeneration(object, old, 'spec');
  },
} as const;

export const ingressStrategy: Strategy = {
  namespaced: true,
  ...countedWithStatus,
  resetFields: statusResetFields(),
  validateCreate: validateIngressCreate,
  validateUpdate: (object, _old, errors) => validateIngress(object, errors),
  subresources: { status: statusPart({ validate: (object, _old, errors) => validateIngressStatus(object, errors) }) },
};

export const ingressClassStrategy: Strategy = {
  namespaced: false,
  ...counted,
  validateCreate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
};

export const networkPolicyStrategy: Strategy = {
  namespaced: true,
  ...counted,
  validateCreate: validateNetworkPolicy,
  validateUpdate(object, _old, errors) {
    // Upstream looks at the whole object, and then again in its check of the update.
    validateNetworkPolicy(object, errors);
    validateNetworkPolicy(object, errors);
  },
};

const HOSTNAME = 'kubernetes.io/hostname';

/** A topology cannot be written in this version; a node it named before may stay, in the field for it. */
function dropTopology(object: Draft, old: Draft | undefined): void {
  const before = dicts(old, 'endpoints');
  if (old !== undefined && semanticEqual(get(object, 'endpoints'), get(old, 'endpoints'))) return;
  const nodes = new Set(before.map((endpoint) => str(dict(endpoint, 'deprecatedTopology'), HOSTNAME)));
  for (const endpoint of dicts(object, 'endpoints')) {
    const node = str(dict(endpoint, 'deprecatedTopology'), HOSTNAME);
    if (node !== '' && !has(endpoint, 'nodeName') && nodes.has(node)) put(endpoint, 'nodeName', node);
    delete endpoint['deprecatedTopology'];
  }
}

export const endpointSliceStrategy: Strategy = {
  namespaced: true,
  prepareForCreate(object) {
    startGeneration(object);
    dropTopology(object, undefined);
  },
  prepareForUpdate(object, old) {
    const labels = (subject: Draft): unknown => get(metadata(subject), 'labels');
    if (semanticEqual(labels(object), labels(old))) countGeneration(object, old, 'addressType', 'endpoints', 'ports');
    else metadata(object)['generation'] = (num(metadata(old), 'generation') ?? 0) + 1;
    dropTopology(object, old);
  },
  validateCreate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
};

function goBudgetSpec(spec: Draft): string {
  const pointer = (type: string, field: string): string => `(*${type})(${has(spec, field) ? '0xc000000000' : 'nil'})`;
  const amount = 'intstr.IntOrString';
  return `policy.PodDisruptionBudgetSpec{MinAvailable:${pointer(amount, 'minAvailable')}, Selector:${pointer('v1.LabelSelector', 'selector')}, MaxUnavailable:${pointer(amount, 'maxUnavailable')}, UnhealthyPodEvictionPolicy:${pointer('policy.UnhealthyPodEvictionPolicyType', 'unhealthyPodEvictionPolicy')}}`;
}

function validateDisruptionBudget(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const at = path('spec');
  const [min, max] = [get(spec, 'minAvailable'), get(spec, 'maxUnavailable')];
  if (min !== undefined && max !== undefined)
    errors.invalid(at, go(goBudgetSpec(spec)), 'minAvailable and maxUnavailable cannot be both set');
  for (const [field, value] of [['minAvailable', min] as const, ['maxUnavailable', max] as const]) {
    if (value === undefined) continue;
    positiveIntOrPercent(value, at.child(field), errors);
    notMoreThan100Percent(value, at.child(field), errors);
  }
  validateLabelSelector(dict(spec, 'selector'), at.child('selector'), errors);
  const policy = str(spec, 'unhealthyPodEvictionPolicy');
  if (policy !== '' && !['AlwaysAllow', 'IfHealthyBudget'].includes(policy))
    errors.notSupported(at.child('unhealthyPodEvictionPolicy'), policy, ['AlwaysAllow', 'IfHealthyBudget']);
}

export const podDisruptionBudgetStrategy: Strategy = {
  namespaced: true,
  name: nameIsPathSegment,
  allowUnconditionalUpdate: false,
  ...countedWithStatus,
  resetFields: statusResetFields(),
  validateCreate: validateDisruptionBudget,
  validateUpdate: (object, _old, errors) => validateDisruptionBudget(object, errors),
  subresources: {
    status: statusPart({
      validate(object, _old, errors) {
        for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'])
          nonnegative(dict(object, 'status'), field, path('status'), errors);
      },
    }),
  },
};

const role = (namespaced: boolean): Strategy => ({
  namespaced,
  name: nameIsPathSegment,
  allowCreateOnUpdate: true,
  validateCreate: (object, errors) => validateRole(object, errors, namespaced),
  validateUpdate(object, _old, errors) {
    // Upstream's strategy looks at the rules, and then the validation of updates does so again.
    validateRole(object, errors, namespaced);
    validateRole(object, errors, namespaced);
  },
});

const binding = (namespaced: boolean): Strategy => ({
  namespaced,
  name: nameIsPathSegment,
  allowCreateOnUpdate: true,
  validateCreate: (object, errors) => validateBinding(object, errors, namespaced),
  validateUpdate: (object, old, errors) => validateBindingUpdate(object, old, errors, namespaced),
});

export const roleStrategy: Strategy = role(true);
export const clusterRoleStrategy: Strategy = role(false);
export const roleBindingStrategy: Strategy = binding(true);
export const clusterRoleBindingStrategy: Strategy = binding(false);

function validateLease(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const at = path('spec');
  const seconds = num(spec, 'leaseDurationSeconds');
  if (seconds !== undefined && seconds <= 0)
    errors.invalid(at.child('leaseDurationSeconds'), seconds, 'must be greater than 0');
  nonnegative(spec, 'leaseTransitions', at, errors);
}

export const leaseStrategy: Strategy = {
  namespaced: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateLease,
  validateUpdate: (object, _old, errors) => validateLease(object, errors),
};

const HIGHEST_USER_PRIORITY = 1_000_000_000;
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

function systemClassError(name: string, value: number): string | undefined {
  if (!Object.hasOwn(SYSTEM_CLASSES, name)) return `${name} is not a known system priority class`;
  return SYSTEM_CLASSES[name] === value ? undefined : `value of ${name} PriorityClass must be ${SYSTEM_CLASSES[name]}`;
}

function validatePreemption(object: Draft, errors: FieldErrors): void {
  const policy = str(object, 'preemptionPolicy');
  const policies = ['PreemptLowerPriority', 'Never'];
  if (policy === '') errors.required(path('preemptionPolicy'));
  else if (!policies.includes(policy)) errors.notSupported(path('preemptionPolicy'), policy, policies);
}

export const priorityClassStrategy: Strategy = {
  namespaced: false,
  prepareForCreate: startGeneration,
  validateCreate(object, errors) {
    const name = str(metadata(object), 'name');
    const value = num(object, 'value') ?? 0;
    const wrong = name.startsWith('system-') ? systemClassError(name, value) : undefined;
    if (wrong !== undefined)
      errors.forbidden(
        path('metadata', 'name'),
        `priority class names with 'system-' prefix are reserved for system use only. error: ${wrong}`,
      );
    else if (!name.startsWith('system-') && value > HIGHEST_USER_PRIORITY)
      errors.forbidden(path('value'), `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`);
    validatePreemption(object, errors);
  },
  validateUpdate(object, old, errors) {
    if ((num(object, 'value') ?? 0) !== (num(old, 'value') ?? 0))
      errors.forbidden(path('value'), 'may not be changed in an update.');
    validateImmutable(get(object, 'preemptionPolicy'), get(old, 'preemptionPolicy'), errors, path('preemptionPolicy'));
  },
};

function validateRuntimeClass(object: Draft, errors: FieldErrors): void {
  const handler = str(object, 'handler');
  messages(handler, nameIsDnsLabel(handler, false), path('handler'), errors);
  const overhead = dict(object, 'overhead');
  if (overhead !== undefined)
    validateResourceRequirements({ limits: get(overhead, 'podFixed') ?? {} }, path('overhead'), errors);
  const scheduling = dict(object, 'scheduling');
  if (scheduling === undefined) return;
  validateLabels(scheduling, 'nodeSelector', path('scheduling', 'nodeSelector'), errors);
  // Twice, as upstream tells it.
  validateTolerations(scheduling, path('scheduling', 'tolerations'), errors);
  const seen = new Set<string>();
  dicts(scheduling, 'tolerations').forEach((toleration, index) => {
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((name) =>
      goQuote(str(toleration, name)),
    );
    const seconds = has(toleration, 'tolerationSeconds') ? '0xc000000000' : 'nil';
    const fields = `Key:${key}, Operator:${operator}, Value:${value}, Effect:${effect}`;
    const shown = `core.Toleration{${fields}, TolerationSeconds:(*int64)(${seconds})}`;
    if (seen.has(fields)) errors.duplicate(path('scheduling').index(index), go(shown));
    seen.add(fields);
  });
}

export const runtimeClassStrategy: Strategy = {
  namespaced: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateRuntimeClass,
  validateUpdate(object, old, errors) {
    validateRuntimeClass(object, errors);
    validateImmutable(get(object, 'handler'), get(old, 'handler'), errors, path('handler'));
  },
};
