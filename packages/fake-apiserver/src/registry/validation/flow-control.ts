// Flow schemas and priority levels.
// Upstream: kubernetes@v1.30.3:pkg/apis/flowcontrol/validation/validation.go
import { goQuote, isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, has, num, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, path } from './field-errors.ts';
import { metadata, nameIsDnsLabel } from './object-meta.ts';
import { messages } from './values.ts';

const SPEC = path('spec');
const MAX_PRECEDENCE = 10_000;
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** Name of a subject's field by its kind. */
const SUBJECTS: Readonly<Record<string, string>> = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' };

function validateSubject(subject: Draft, at: FieldPath, errors: FieldErrors): void {
  const kind = str(subject, 'kind');
  const own = SUBJECTS[kind];
  if (own === undefined) {
    errors.notSupported(at.child('kind'), kind, Object.keys(SUBJECTS));
    return;
  }
  const value = dict(subject, own);
  if (value === undefined) errors.required(at.child(own), `${own} is required when subject kind is '${kind}'`);
  else {
    if (str(value, 'name') === '') errors.required(at.child(own, 'name'));
    const namespace = str(value, 'namespace');
    if (kind === 'ServiceAccount') {
      if (namespace === '') errors.required(at.child(own, 'namespace'), 'must specify namespace for service account');
      else messages(namespace, nameIsDnsLabel(namespace, false), at.child(own, 'namespace'), errors);
    }
  }
  for (const [other, field] of Object.entries(SUBJECTS)) {
    if (field !== own && has(subject, field))
      errors.forbidden(at.child(field), `${field} is forbidden when subject kind is not '${other}'`);
  }
}

function validateList(
  rule: Draft,
  field: string,
  at: FieldPath,
  missing: string,
  others: string,
  errors: FieldErrors,
): void {
  const values = strings(rule, field);
  if (values.length === 0) errors.required(at.child(field), missing);
  else if (values.length > 1 && values.includes('*'))
    errors.invalid(at.child(field), [...values], `if '*' is present, must not specify other ${others}`);
}

function validateVerbs(rule: Draft, at: FieldPath, errors: FieldErrors): void {
  validateList(rule, 'verbs', at, 'verbs must contain at least one value', 'verbs', errors);
  const verbs = strings(rule, 'verbs');
  if (verbs.length > 0 && !verbs.includes('*') && verbs.some((verb) => !VERBS.includes(verb)))
    errors.notSupported(at.child('verbs'), [...verbs], VERBS);
}

function validateRule(rule: Draft, at: FieldPath, errors: FieldErrors): void {
  const subjects = dicts(rule, 'subjects');
  if (subjects.length === 0) errors.required(at.child('subjects'), 'subjects must contain at least one value');
  subjects.forEach((subject, index) => {
    validateSubject(subject, at.child('subjects').index(index), errors);
  });
  const [resources, others] = [dicts(rule, 'resourceRules'), dicts(rule, 'nonResourceRules')];
  if (resources.length === 0 && others.length === 0)
    errors.required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty');
  resources.forEach((one, index) => {
    const here = at.child('resourceRules').index(index);
    validateVerbs(one, here, errors);
    validateList(one, 'apiGroups', here, 'resource rules must supply at least one api group', 'api groups', errors);
    validateList(one, 'resources', here, 'resource rules must supply at least one resource', 'resources', errors);
    const namespaces = strings(one, 'namespaces');
    if (namespaces.length === 0 && !bool(one, 'clusterScope')) {
      errors.required(
        here.child('namespaces'),
        'resource rules that are not cluster scoped must supply at least one namespace',
      );
    } else if (namespaces.includes('*')) validateList(one, 'namespaces', here, '', 'namespaces', errors);
    else {
      const intro = "each member of this list must be '*' or a DNS-1123 label; ";
      namespaces.forEach((namespace, position) => {
        for (const text of nameIsDnsLabel(namespace, false))
          errors.invalid(here.child('namespaces').index(position), namespace, intro + text);
      });
    }
  });
  others.forEach((one, index) => {
    const here = at.child('nonResourceRules').index(index);
    validateVerbs(one, here, errors);
    validateList(
      one,
      'nonResourceURLs',
      here,
      'nonResourceURLs must contain at least one value',
      'non-resource URLs',
      errors,
    );
  });
}

export function validateFlowSchema(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const at = SPEC.child('matchingPrecedence');
  const precedence = num(spec, 'matchingPrecedence') ?? 0;
  if (precedence <= 0) errors.invalid(at, precedence, 'must be a positive value');
  if (precedence > MAX_PRECEDENCE) errors.invalid(at, precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && str(metadata(object), 'name') !== 'exempt')
    errors.invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  const method = dict(spec, 'distinguisherMethod');
  if (method !== undefined && !['ByNamespace', 'ByUser'].includes(str(method, 'type')))
    errors.notSupported(
      SPEC.child('distinguisherMethod', 'type'),
      go(`flowcontrol.FlowDistinguisherMethod{Type:${goQuote(str(method, 'type'))}}`),
      ['ByNamespace', 'ByUser'],
    );
  const level = str(dict(spec, 'priorityLevelConfiguration'), 'name');
  const here = SPEC.child('priorityLevelConfiguration', 'name');
  if (level === '') errors.required(here, 'must reference a priority level');
  else messages(level, isDNS1123Subdomain(level), here, errors);
  dicts(spec, 'rules').forEach((rule, index) => {
    validateRule(rule, SPEC.child('rules').index(index), errors);
  });
}

function validateLimited(limited: Draft, at: FieldPath, errors: FieldErrors): void {
  const shares = num(limited, 'nominalConcurrencyShares') ?? 0;
  if (shares < 0) errors.invalid(at.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer');
  const percent = num(limited, 'lendablePercent');
  if (percent !== undefined && (percent < 0 || percent > 100))
    errors.invalid(at.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive');
  const response = dict(limited, 'limitResponse');
  const type = str(response, 'type');
  const here = at.child('limitResponse');
  if (type === 'Reject') {
    if (has(response, 'queuing'))
      errors.forbidden(here.child('queuing'), 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type === 'Queue') {
    if (!has(response, 'queuing'))
      errors.required(here.child('queuing'), 'must not be empty if limited.limitResponse.type is Limited');
  } else errors.notSupported(here.child('type'), type, ['Queue', 'Reject']);
}

export function validatePriorityLevel(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const type = str(spec, 'type');
  const name = str(metadata(object), 'name');
  const limited = dict(spec, 'limited');
  if (type === 'Exempt') {
    if (limited !== undefined) errors.forbidden(SPEC.child('limited'), 'must be nil if the type is not Limited');
  } else if (type === 'Limited') {
    if (name === 'exempt')
      errors.invalid(SPEC.child('type'), type, "type must be 'Exempt' if and only if `name` is one of []");
    if (has(spec, 'exempt')) errors.forbidden(SPEC.child('exempt'), 'must be nil if the type is Limited');
    if (limited === undefined) errors.required(SPEC.child('limited'), 'must not be empty when type is Limited');
    else validateLimited(limited, SPEC.child('limited'), errors);
  } else errors.notSupported(SPEC.child('type'), type, ['Exempt', 'Limited']);
}
