// Affinity of a pod to nodes and to other pods.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateAffinity
import { type Draft, dict, dicts, num, str, strings } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { validateLabelName, validateLabelSelector } from './labels.ts';
import { nameIsDnsLabel } from './object-meta.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateNodeRequirement(requirement: Draft, at: FieldPath, errors: FieldErrors): void {
  const operator = str(requirement, 'operator');
  const count = strings(requirement, 'values').length;
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0)
      errors.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (count !== 1)
      errors.required(at.child('values'), "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
  validateLabelName(str(requirement, 'key'), at.child('key'), errors);
}

function validateNodeTerm(term: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  dicts(term, 'matchExpressions').forEach((one, index) => {
    validateNodeRequirement(one, at.child('matchExpressions').index(index), errors);
  });
  dicts(term, 'matchFields').forEach((one, index) => {
    const here = at.child('matchFields').index(index);
    const operator = str(one, 'operator');
    if (operator !== 'In' && operator !== 'NotIn')
      errors.invalid(here.child('operator'), operator, 'not a valid selector operator');
    else if (strings(one, 'values').length !== 1) {
      errors.required(
        here.child('values'),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    }
    if (str(one, 'key') !== 'metadata.name')
      errors.invalid(here.child('key'), str(one, 'key'), 'not a valid field selector key');
  });
}

export function validateNodeSelector(selector: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const terms = dicts(selector, 'nodeSelectorTerms');
  if (terms.length === 0) errors.required(at.child('nodeSelectorTerms'), 'must have at least one node selector term');
  terms.forEach((term, index) => {
    validateNodeTerm(term, at.child('nodeSelectorTerms').index(index), errors);
  });
}

function validateWeight(term: Draft, at: FieldPath, errors: FieldErrors): void {
  const weight = num(term, 'weight') ?? 0;
  if (weight <= 0 || weight > 100) errors.invalid(at.child('weight'), weight, 'must be in the range 1-100');
}

function validatePodTerm(term: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  validateLabelSelector(dict(term, 'labelSelector'), at.child('labelSelector'), errors);
  validateLabelSelector(dict(term, 'namespaceSelector'), at.child('namespaceSelector'), errors);
  for (const name of strings(term, 'namespaces'))
    for (const text of nameIsDnsLabel(name, false)) errors.invalid(at.child('namespace'), name, text);
  const key = str(term, 'topologyKey');
  if (key === '') errors.required(at.child('topologyKey'), 'can not be empty');
  validateLabelName(key, at.child('topologyKey'), errors);
}

export function validateAffinity(affinity: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const node = dict(affinity, 'nodeAffinity');
  const nodeAt = at.child('nodeAffinity');
  const required = dict(node, REQUIRED);
  if (required !== undefined) validateNodeSelector(required, nodeAt.child(REQUIRED), errors);
  dicts(node, PREFERRED).forEach((term, index) => {
    const here = nodeAt.child(PREFERRED).index(index);
    validateWeight(term, here, errors);
    validateNodeTerm(dict(term, 'preference'), here.child('preference'), errors);
  });
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    const pods = dict(affinity, field);
    dicts(pods, REQUIRED).forEach((term, index) => {
      validatePodTerm(term, at.child(field, REQUIRED).index(index), errors);
    });
    dicts(pods, PREFERRED).forEach((term, index) => {
      const here = at.child(field, PREFERRED).index(index);
      validateWeight(term, here, errors);
      validatePodTerm(dict(term, 'podAffinityTerm'), here.child('podAffinityTerm'), errors);
    });
  }
}
