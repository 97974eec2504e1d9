// Admission policies and their bindings.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go#validateValidatingAdmissionPolicySpec
import { isDNS1123Subdomain, isQualifiedName } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, path } from './field-errors.ts';
import { validateExpression } from './policy-expressions.ts';
import { validateMatchResources, word } from './registrations.ts';
import { messages } from './values.ts';

function validateConditions(spec: Draft, hasParams: boolean, at: FieldPath, errors: FieldErrors): void {
  const names = new Set<string>();
  dicts(spec, 'matchConditions').forEach((condition, index) => {
    const here = at.index(index);
    const expression = str(condition, 'expression').trim();
    if (expression === '') errors.required(here.child('expression'));
    else validateExpression(expression, 'bool', hasParams, here.child('expression'), errors);
    const name = str(condition, 'name');
    if (name === '') errors.required(here.child('name'));
    else messages(name, isQualifiedName(name), here.child('name'), errors);
    if (name !== '' && names.has(name)) errors.duplicate(here.child('name'), name);
    names.add(name);
  });
}

function validateValidation(one: Draft, hasParams: boolean, at: FieldPath, errors: FieldErrors): void {
  const expression = str(one, 'expression');
  if (expression.trim() === '') errors.required(at.child('expression'), 'expression is not specified');
  else validateExpression(expression.trim(), 'bool', hasParams, at.child('expression'), errors);
  const text = str(one, 'messageExpression');
  if (text !== '' && text.trim() === '')
    errors.invalid(at.child('messageExpression'), text, 'must be non-empty if specified');
  else if (text !== '') validateExpression(text, 'string', hasParams, at.child('messageExpression'), errors);
  const message = str(one, 'message');
  if (message !== '' && message.trim() === '')
    errors.invalid(at.child('message'), message, 'message must be non-empty if specified');
  else if (message.trim().includes('\n'))
    errors.invalid(at.child('message'), message, 'message must not contain line breaks');
}

export function validatePolicy(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const at = path('spec');
  word(spec, 'failurePolicy', ['Fail', 'Ignore'], at, errors);
  const kind = dict(spec, 'paramKind');
  if (kind !== undefined) {
    for (const field of ['apiVersion', 'kind'])
      if (str(kind, field) === '') errors.required(at.child('paramKind', field));
  }
  const constraints = dict(spec, 'matchConstraints');
  if (constraints === undefined) errors.required(at.child('matchConstraints'));
  else {
    validateMatchResources(constraints, at.child('matchConstraints'), errors);
    if (dicts(constraints, 'resourceRules').length === 0)
      errors.required(at.child('matchConstraints', 'resourceRules'));
  }
  const hasParams = kind !== undefined;
  validateConditions(spec, hasParams, at.child('matchConditions'), errors);
  const names = new Set<string>();
  dicts(spec, 'variables').forEach((variable, index) => {
    const here = at.child('variables').index(index);
    const name = str(variable, 'name');
    if (name === '') errors.required(here.child('name'), 'name is not specified');
    if (names.has(name)) errors.duplicate(here.child('name'), name);
    names.add(name);
    const expression = str(variable, 'expression');
    if (expression.trim() === '') errors.required(here.child('expression'), 'expression is not specified');
    else validateExpression(expression, undefined, hasParams, here.child('expression'), errors);
  });
  const validations = dicts(spec, 'validations');
  if (validations.length === 0 && dicts(spec, 'auditAnnotations').length === 0) {
    errors.required(at.child('validations'), 'validations or auditAnnotations must contain at least one item');
    errors.required(at.child('auditAnnotations'), 'validations or auditAnnotations must contain at least one item');
  }
  validations.forEach((one, index) => {
    const here = at.child('validations').index(index);
    validateValidation(one, hasParams, here, errors);
    const reason = str(one, 'reason');
    const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
    if (reason !== '' && !reasons.includes(reason)) errors.notSupported(here.child('reason'), reason, reasons);
  });
  dicts(spec, 'auditAnnotations').forEach((one, index) => {
    const here = at.child('auditAnnotations').index(index);
    const key = str(one, 'key');
    messages(key, isQualifiedName(key), here.child('key'), errors);
    if (str(one, 'valueExpression').trim() === '')
      errors.required(here.child('valueExpression'), 'valueExpression is not specified');
  });
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

export function validatePolicyBinding(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const at = path('spec');
  const policy = str(spec, 'policyName');
  if (policy === '') errors.required(at.child('policyName'));
  else messages(policy, isDNS1123Subdomain(policy), at.child('policyName'), errors);
  const ref = dict(spec, 'paramRef');
  if (ref !== undefined) {
    const here = at.child('paramRef');
    const [name, selector] = [str(ref, 'name'), has(ref, 'selector')];
    if (name !== '' && selector) errors.forbidden(here.child('name'), 'name and selector are mutually exclusive');
    else if (name === '' && !selector) errors.required(here, 'one of name or selector must be specified');
    if (!has(ref, 'parameterNotFoundAction')) errors.required(here.child('parameterNotFoundAction'));
    else word(ref, 'parameterNotFoundAction', ['Deny', 'Allow'], here, errors);
  }
  validateMatchResources(dict(spec, 'matchResources'), at.child('matchResources'), errors);
  const actions = strings(spec, 'validationActions');
  const here = at.child('validationActions');
  if (actions.length === 0) errors.required(here, 'at least one validation action is required');
  actions.forEach((action, index) => {
    if (!ACTIONS.includes(action)) errors.notSupported(here.index(index), action, ACTIONS);
    if (actions.indexOf(action) < index) errors.duplicate(here.index(index), action);
  });
  if (actions.includes('Deny') && actions.includes('Warn'))
    errors.invalid(
      here,
      [...actions],
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    );
}
