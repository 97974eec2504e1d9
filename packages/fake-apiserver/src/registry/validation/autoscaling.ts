// Horizontal pod autoscalers.
// Upstream: kubernetes@v1.30.3:pkg/apis/autoscaling/validation/validation.go
import { type Draft, dict, dicts, get, has, num, str } from '../draft.ts';
import { type FieldErrors, type FieldPath, path } from './field-errors.ts';
import { nameIsPathSegment } from './object-meta.ts';
import { messages, quantity } from './values.ts';

const SPEC = path('spec');
const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

const SOURCES: Readonly<Record<string, string>> = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};
const TYPES = Object.keys(SOURCES).sort();

function validateReference(ref: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  for (const field of ['kind', 'name']) {
    const value = str(ref, field);
    if (value === '') errors.required(at.child(field));
    else messages(value, nameIsPathSegment(value, false), at.child(field), errors);
  }
}

function validateTarget(target: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const type = str(target, 'type');
  if (type === '') errors.required(at.child('type'), 'must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.invalid(at.child('type'), type, 'must be either Utilization, Value, or AverageValue');
  for (const field of ['value', 'averageValue']) {
    const value = quantity(get(target, field));
    if (value !== undefined && value.sign !== 1) errors.invalid(at.child(field), value.toString(), 'must be positive');
  }
  const utilization = num(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1)
    errors.invalid(at.child('averageUtilization'), utilization, 'must be greater than 0');
}

function validateIdentifier(metric: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const name = str(metric, 'name');
  if (name === '') errors.required(at.child('name'), 'must specify a metric name');
  else messages(name, nameIsPathSegment(name, false), at.child('name'), errors);
}

function validateSource(type: string, source: Draft, at: FieldPath, errors: FieldErrors): void {
  const target = dict(source, 'target');
  const there = at.child('target');
  const [value, average] = [has(target, 'value'), has(target, 'averageValue')];
  if (type === 'object') validateReference(dict(source, 'describedObject'), at.child('describedObject'), errors);
  if (type === 'resource' || type === 'containerResource') {
    if (type === 'containerResource' && str(source, 'container') === '')
      errors.required(at.child('container'), 'must specify a container');
    if (str(source, 'name') === '') errors.required(at.child('name'), 'must specify a resource name');
    validateTarget(target, there, errors);
    const utilization = has(target, 'averageUtilization');
    if (!utilization && !average)
      errors.required(there.child('averageUtilization'), 'must set either a target raw value or a target utilization');
    if (utilization && average)
      errors.forbidden(there.child('averageValue'), 'may not set both a target raw value and a target utilization');
    return;
  }
  validateIdentifier(dict(source, 'metric'), at.child('metric'), errors);
  validateTarget(target, there, errors);
  if (type === 'pods') {
    if (!average) errors.required(there.child('averageValue'), 'must specify a positive target averageValue');
    return;
  }
  const missing =
    type === 'object'
      ? 'must set either a target value or averageValue'
      : 'must set either a target value for metric or a per-pod target';
  if (!value && !average) errors.required(there.child('averageValue'), missing);
  if (type === 'external' && value && average)
    errors.forbidden(there.child('value'), 'may not set both a target value for metric and a per-pod target');
}

function validateMetric(metric: Draft, at: FieldPath, errors: FieldErrors): void {
  const type = str(metric, 'type');
  const wanted = SOURCES[type];
  if (type === '') errors.required(at.child('type'), 'must specify a metric source type');
  if (wanted === undefined) errors.notSupported(at.child('type'), type, TYPES);
  const present = Object.values(SOURCES).filter((field) => has(metric, field));
  const [first] = present;
  if (first !== undefined) validateSource(first, dict(metric, first) ?? {}, at.child(first), errors);
  if (wanted === undefined) errors.notSupported(at.child('type'), type, TYPES);
  else if (!present.includes(wanted))
    errors.required(at.child(wanted), 'must populate information for the given metric source');
  if (present.length === 1) return;
  for (const field of present)
    if (field !== wanted) errors.forbidden(at.child(field), 'must populate the given metric source only');
}

function validateRules(rules: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  if (rules === undefined) return;
  const window = num(rules, 'stabilizationWindowSeconds');
  const here = at.child('stabilizationWindowSeconds');
  if (window !== undefined && window < 0) errors.invalid(here, window, 'must be greater than or equal to zero');
  if (window !== undefined && window > MAX_WINDOW_SECONDS)
    errors.invalid(here, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  const select = str(rules, 'selectPolicy');
  const selects = ['Disabled', 'Max', 'Min'];
  if (has(rules, 'selectPolicy') && !selects.includes(select))
    errors.notSupported(at.child('selectPolicy'), select, selects);
  const policies = dicts(rules, 'policies');
  if (policies.length === 0) errors.required(at.child('policies'), 'must specify at least one Policy');
  policies.forEach((policy, index) => {
    const there = at.child('policies').index(index);
    const [type, value, period] = [str(policy, 'type'), num(policy, 'value') ?? 0, num(policy, 'periodSeconds') ?? 0];
    if (type !== 'Pods' && type !== 'Percent') errors.notSupported(there.child('type'), type, ['Percent', 'Pods']);
    if (value <= 0) errors.invalid(there.child('value'), value, 'must be greater than zero');
    if (period <= 0) errors.invalid(there.child('periodSeconds'), period, 'must be greater than zero');
    if (period > MAX_PERIOD_SECONDS)
      errors.invalid(there.child('periodSeconds'), period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
  });
}

export function validateAutoscaler(object: Draft, errors: FieldErrors, lowestMin: number): void {
  const spec = dict(object, 'spec') ?? {};
  const [min, max] = [num(spec, 'minReplicas'), num(spec, 'maxReplicas') ?? 0];
  if (min !== undefined && min < lowestMin)
    errors.invalid(SPEC.child('minReplicas'), min, `must be greater than or equal to ${lowestMin}`);
  if (max < 1) errors.invalid(SPEC.child('maxReplicas'), max, 'must be greater than 0');
  if (min !== undefined && max < min)
    errors.invalid(SPEC.child('maxReplicas'), max, 'must be greater than or equal to `minReplicas`');
  validateReference(dict(spec, 'scaleTargetRef'), SPEC.child('scaleTargetRef'), errors);
  const metrics = dicts(spec, 'metrics');
  metrics.forEach((metric, index) => {
    validateMetric(metric, SPEC.child('metrics').index(index), errors);
  });
  const external = metrics.some((metric) => ['Object', 'External'].includes(str(metric, 'type')));
  if (min === 0 && !external)
    errors.forbidden(
      SPEC.child('metrics'),
      'must specify at least one Object or External metric to support scaling to zero replicas',
    );
  validateRules(dict(spec, 'behavior', 'scaleUp'), SPEC.child('behavior', 'scaleUp'), errors);
  validateRules(dict(spec, 'behavior', 'scaleDown'), SPEC.child('behavior', 'scaleDown'), errors);
}
