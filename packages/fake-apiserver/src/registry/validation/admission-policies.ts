// Admission policies and their bindings.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go#validateValidatingAdmissionPolicySpec
import { isDNS1035Label, isDNS1123Subdomain, isQualifiedName } from '@kube-rx/apimachinery';
import { environment } from '../../admission/policies/environment.ts';
import { compileExpression } from '../../admission/policies/expressions.ts';
import { compileVariables } from '../../admission/policies/program.ts';
import type { CelType } from '../../apiextensions/cel/types.ts';
import { type Draft, dict, dicts, has, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, path } from './field-errors.ts';
import { validateLabelSelector } from './labels.ts';
import { validateMatchConditions } from './match-conditions.ts';
import { metadata } from './object-meta.ts';
import { validateExpression } from './policy-expressions.ts';
import { validateMatchResources, word } from './registrations.ts';
import { messages } from './values.ts';

const MAX_ANNOTATIONS = 20;
const MAX_ANNOTATION_EXPRESSION_BYTES = 5 * 1024;

/** What the expressions of one policy may name. */
interface Names {
  readonly expressions: ReadonlyMap<string, CelType>;
  readonly messages: ReadonlyMap<string, CelType>;
}

function validateValidation(one: Draft, names: Names, at: FieldPath, errors: FieldErrors): void {
  const expression = str(one, 'expression');
  if (expression.trim() === '') errors.required(at.child('expression'), 'expression is not specified');
  else validateExpression(expression, ['bool'], names.expressions, at.child('expression'), errors);
  const text = str(one, 'messageExpression');
  if (text !== '' && text.trim() === '')
    errors.invalid(at.child('messageExpression'), text, 'must be non-empty if specified');
  else if (text !== '') validateExpression(text, ['string'], names.messages, at.child('messageExpression'), errors);
  const message = str(one, 'message');
  if (message !== '' && message.trim() === '')
    errors.invalid(at.child('message'), message, 'message must be non-empty if specified');
  else if (/[\n\r]/.test(message.trim()))
    errors.invalid(at.child('message'), message, 'message must not contain line breaks');
  const reason = str(one, 'reason');
  const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
  if (reason !== '' && !reasons.includes(reason)) errors.notSupported(at.child('reason'), reason, reasons);
}

const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);

function validateVariables(declared: readonly Draft[], hasParams: boolean, at: FieldPath, errors: FieldErrors): void {
  const problems = compileVariables(declared, hasParams);
  declared.forEach((variable, index) => {
    const here = at.index(index);
    const name = str(variable, 'name');
    if (name.trim() === '') errors.required(here.child('name'), 'name is not specified');
    else if (!isIdentifier(name)) errors.invalid(here.child('name'), name, 'name is not a valid CEL identifier');
    const expression = str(variable, 'expression');
    const compiled = problems.compiled[index];
    if (expression.trim() === '') errors.required(here.child('expression'), 'expression is not specified');
    else if (compiled !== undefined && 'problem' in compiled)
      errors.invalid(here.child('expression'), expression, compiled.problem);
  });
}

function validateAnnotations(object: Draft, names: Names, at: FieldPath, errors: FieldErrors): void {
  const annotations = dicts(dict(object, 'spec'), 'auditAnnotations');
  if (annotations.length > MAX_ANNOTATIONS) {
    const detail = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
    errors.invalid(at, annotations, detail);
  }
  const policy = str(metadata(object), 'name');
  const keys = new Set<string>();
  annotations.forEach((one, index) => {
    const here = at.index(index);
    const key = str(one, 'key');
    const full = `${policy}/${key}`;
    if (policy === '') errors.invalid(here.child('key'), key, 'requires metadata.name be non-empty');
    else messages(full, isQualifiedName(full), here.child('key'), errors);
    const source = str(one, 'valueExpression');
    const trimmed = source.trim();
    const place = here.child('valueExpression');
    if (trimmed === '') errors.required(place, 'valueExpression is not specified');
    else if (Buffer.byteLength(trimmed) > MAX_ANNOTATION_EXPRESSION_BYTES)
      errors.required(place, `must not exceed ${MAX_ANNOTATION_EXPRESSION_BYTES} bytes in length`);
    else {
      const compiled = compileExpression(trimmed, names.expressions, ['string', 'null_type']);
      if ('problem' in compiled) errors.invalid(place, source, compiled.problem);
    }
    if (keys.has(key)) errors.duplicate(here.child('key'), key);
    keys.add(key);
  });
}

function validateParamKind(kind: Draft, at: FieldPath, errors: FieldErrors): void {
  const apiVersion = str(kind, 'apiVersion');
  const parts = apiVersion === '/' ? ['', ''] : apiVersion.split('/');
  const [group, version] = parts.length === 1 ? ['', parts[0]!] : [parts[0]!, parts[1]!];
  const here = at.child('apiVersion');
  if (apiVersion === '') errors.required(here);
  else if (parts.length > 2) errors.invalid(here, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const wrongGroup = group === '' ? [] : isDNS1123Subdomain(group);
    if (wrongGroup.length > 0) errors.invalid(here, group, wrongGroup.join(','));
    const wrongVersion = isDNS1035Label(version);
    if (version === '') errors.invalid(here, apiVersion, 'version must be specified');
    else if (wrongVersion.length > 0) errors.invalid(here, version, wrongVersion.join(','));
  }
  const name = str(kind, 'kind');
  const wrong = isDNS1035Label(name.toLowerCase());
  if (name === '') errors.required(at.child('kind'));
  else if (wrong.length > 0)
    errors.invalid(at.child('kind'), name, `may have mixed case, but should otherwise match: ${wrong.join(',')}`);
}

export function validatePolicy(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const at = path('spec');
  word(spec, 'failurePolicy', ['Fail', 'Ignore'], at, errors);
  const kind = dict(spec, 'paramKind');
  if (kind !== undefined) validateParamKind(kind, at.child('paramKind'), errors);
  const constraints = dict(spec, 'matchConstraints');
  if (constraints === undefined) errors.required(at.child('matchConstraints'));
  else {
    validateMatchResources(constraints, at.child('matchConstraints'), errors);
    if (dicts(constraints, 'resourceRules').length === 0)
      errors.required(at.child('matchConstraints', 'resourceRules'));
  }
  const hasParams = kind !== undefined;
  validateMatchConditions(spec, hasParams, at.child('matchConditions'), errors);
  const declared = dicts(spec, 'variables');
  validateVariables(declared, hasParams, at.child('variables'), errors);
  const validations = dicts(spec, 'validations');
  if (validations.length === 0 && dicts(spec, 'auditAnnotations').length === 0) {
    errors.required(at.child('validations'), 'validations or auditAnnotations must contain at least one item');
    errors.required(at.child('auditAnnotations'), 'validations or auditAnnotations must contain at least one item');
    return;
  }
  const variables = declared.length === 0 ? undefined : compileVariables(declared, hasParams).types;
  const names: Names = {
    expressions: environment({ hasParams, hasAuthorizer: true, variables }),
    messages: environment({ hasParams, hasAuthorizer: false, variables }),
  };
  validations.forEach((one, index) => {
    validateValidation(one, names, at.child('validations').index(index), errors);
  });
  validateAnnotations(object, names, at.child('auditAnnotations'), errors);
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
    const [name, selector] = [str(ref, 'name'), dict(ref, 'selector')];
    const both = name !== '' && selector !== undefined;
    if (both) errors.forbidden(here.child('name'), 'name and selector are mutually exclusive');
    validateLabelSelector(selector, here.child('selector'), errors);
    if (both) errors.forbidden(here.child('selector'), 'name and selector are mutually exclusive');
    if (name === '' && selector === undefined) errors.required(here, 'one of name or selector must be specified');
    if (!has(ref, 'parameterNotFoundAction')) errors.required(here.child('parameterNotFoundAction'));
    else word(ref, 'parameterNotFoundAction', ['Deny', 'Allow'], here, errors);
  }
  validateMatchResources(dict(spec, 'matchResources'), at.child('matchResources'), errors);
  const actions = strings(spec, 'validationActions');
  const here = at.child('validationActions');
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
  if (actions.length === 0) errors.required(here, 'at least one validation action is required');
}
