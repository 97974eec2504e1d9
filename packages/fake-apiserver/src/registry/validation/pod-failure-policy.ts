// What a job does about pods that fail in certain ways.
// Upstream: kubernetes@v1.30.3:pkg/apis/batch/validation/validation.go#validatePodFailurePolicy
import { goQuote } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, list, str } from '../draft.ts';
import { type FieldErrors, type FieldPath, go } from './field-errors.ts';
import { qualifiedName } from './values.ts';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const STATUSES = ['False', 'True', 'Unknown'];
const OPERATORS = ['In', 'NotIn'];
const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_VALUES = 255;

const validValues = (values: readonly string[]): string => `valid values: [${values.map(goQuote).join(' ')}]`;

function choice(value: string, allowed: readonly string[], at: FieldPath, errors: FieldErrors): void {
  if (value === '') errors.required(at, validValues(allowed));
  else if (!allowed.includes(value)) errors.notSupported(at, value, allowed);
}

function validateExitCodes(codes: Draft, names: ReadonlySet<string>, at: FieldPath, errors: FieldErrors): void {
  const operator = str(codes, 'operator');
  choice(operator, OPERATORS, at.child('operator'), errors);
  const name = str(codes, 'containerName');
  if (has(codes, 'containerName') && !names.has(name)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.invalid(at.child('containerName'), name, detail);
  }
  const values = list(codes, 'values').map(Number);
  const here = at.child('values');
  const shown = go(has(codes, 'values') ? `[]int32{${values.join(', ')}}` : '[]int32(nil)');
  if (values.length === 0) errors.invalid(here, shown, 'at least one value is required');
  else if (values.length > MAX_VALUES) errors.tooMany(here, values.length, MAX_VALUES);
  values.forEach((value, index) => {
    if (operator === 'In' && value === 0) errors.invalid(here.index(index), value, 'must not be 0 for the In operator');
    if (values.indexOf(value) < index) errors.duplicate(here.index(index), value);
  });
  if (values.some((value, index) => index > 0 && values[index - 1]! > value))
    errors.invalid(here, shown, 'must be ordered');
}

/** `spec` is that of the job, `at` the path of its failure policy. */
export function validatePodFailurePolicy(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const rules = dicts(dict(spec, 'podFailurePolicy'), 'rules');
  const pod = dict(spec, 'template', 'spec');
  const containers = [...dicts(pod, 'containers'), ...dicts(pod, 'initContainers')];
  const names = new Set(containers.map((container) => str(container, 'name')));
  if (rules.length > MAX_RULES) errors.tooMany(at.child('rules'), rules.length, MAX_RULES);
  rules.forEach((rule, index) => {
    const here = at.child('rules').index(index);
    const action = str(rule, 'action');
    choice(action, ACTIONS, here.child('action'), errors);
    if (action === 'FailIndex' && !has(spec, 'backoffLimitPerIndex'))
      errors.invalid(here.child('action'), action, 'requires the backoffLimitPerIndex to be set');
    const codes = dict(rule, 'onExitCodes');
    if (codes !== undefined) validateExitCodes(codes, names, here.child('onExitCodes'), errors);
    const conditions = dicts(rule, 'onPodConditions');
    const there = here.child('onPodConditions');
    if (conditions.length > MAX_PATTERNS) errors.tooMany(there, conditions.length, MAX_PATTERNS);
    conditions.forEach((pattern, i) => {
      qualifiedName(str(pattern, 'type'), there.index(i).child('type'), errors);
      choice(str(pattern, 'status'), STATUSES, there.index(i).child('status'), errors);
    });
    if (codes !== undefined && conditions.length > 0)
      errors.wrong(here, 'specifying both OnExitCodes and OnPodConditions is not supported');
    if (codes === undefined && conditions.length === 0)
      errors.wrong(here, 'specifying one of OnExitCodes and OnPodConditions is required');
  });
}
