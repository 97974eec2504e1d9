// Webhooks, admission policies and aggregated APIs.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go, kube-aggregator@v0.30.3:pkg/apis/apiregistration/validation/validation.go
import { goQuote, isDNS1035Label, isDNS1123Subdomain, isValidPortNum } from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, get, has, num, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringList, path } from './field-errors.ts';
import { validateLabelSelector } from './labels.ts';
import { validateMatchConditions } from './match-conditions.ts';
import { metadata } from './object-meta.ts';
import { messages } from './values.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const OPERATION_TYPE = 'admissionregistration.OperationType';
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export function word(
  parent: Draft,
  field: string,
  allowed: readonly string[],
  at: FieldPath,
  errors: FieldErrors,
): void {
  const value = str(parent, field);
  if (has(parent, field) && !allowed.includes(value)) errors.notSupported(at.child(field), value, allowed);
}

function wildcardAlone(rule: Draft, field: string, others: string, at: FieldPath, errors: FieldErrors): void {
  const values = strings(rule, field);
  if (values.length === 0) errors.required(at.child(field));
  if (values.length > 1 && values.includes('*'))
    errors.invalid(
      at.child(field),
      field === 'operations' ? go(goStringList(values).replace('string', OPERATION_TYPE)) : [...values],
      `if '*' is present, must not specify other ${others}`,
    );
}

function validateResources(rule: Draft, at: FieldPath, errors: FieldErrors): void {
  const resources = strings(rule, 'resources');
  const here = at.child('resources');
  if (resources.length === 0) errors.required(here);
  const wildSubs = new Set<string>();
  const wildResources = new Set<string>();
  resources.forEach((one, index) => {
    if (one === '') {
      errors.required(here.index(index));
      return;
    }
    const slash = one.indexOf('/');
    if (slash < 0) return;
    const [resource, sub] = [one.slice(0, slash), one.slice(slash + 1)];
    if (wildSubs.has(resource))
      errors.invalid(here.index(index), one, `if '${resource}/*' is present, must not specify ${one}`);
    if (wildResources.has(sub))
      errors.invalid(here.index(index), one, `if '*/${sub}' is present, must not specify ${one}`);
    if (sub === '*') wildSubs.add(resource);
    if (resource === '*') wildResources.add(sub);
  });
  if (resources.length > 1 && resources.includes('*/*'))
    errors.invalid(here, [...resources], "if '*/*' is present, must not specify other resources");
  if (resources.includes('*') && resources.some((one) => one !== '*' && !one.includes('/')))
    errors.invalid(here, [...resources], "if '*' is present, must not specify other resources without subresources");
}

function validateRule(rule: Draft, at: FieldPath, errors: FieldErrors): void {
  wildcardAlone(rule, 'operations', 'operations', at, errors);
  strings(rule, 'operations').forEach((operation, index) => {
    if (!OPERATIONS.includes(operation))
      errors.notSupported(at.child('operations').index(index), operation, OPERATIONS);
  });
  wildcardAlone(rule, 'apiGroups', 'API groups', at, errors);
  wildcardAlone(rule, 'apiVersions', 'API versions', at, errors);
  strings(rule, 'apiVersions').forEach((version, index) => {
    if (version === '') errors.required(at.child('apiVersions').index(index));
  });
  validateResources(rule, at, errors);
  word(rule, 'scope', SCOPES, at, errors);
}

function validateFullName(name: string, at: FieldPath, errors: FieldErrors): void {
  const wrong = isDNS1123Subdomain(name);
  if (name === '') errors.required(at);
  else if (wrong.length > 0) errors.invalid(at, name, wrong.join(','));
  else if (name.split('.').length < 3)
    errors.invalid(at, name, 'should be a domain with at least three segments separated by dots');
}

function validateClientConfig(config: Draft, at: FieldPath, errors: FieldErrors): void {
  const [url, service] = [get(config, 'url'), dict(config, 'service')];
  if ((url === undefined) === (service === undefined)) {
    errors.required(at, 'exactly one of url or service is required');
  } else if (typeof url === 'string') {
    validateUrl(url, at.child('url'), errors);
  } else if (service !== undefined) {
    const here = at.child('service');
    // Upstream mixes the two up: it names the field that is there.
    if (str(service, 'namespace') === '') errors.required(here.child('name'), 'service name is required');
    if (str(service, 'name') === '') errors.required(here.child('namespace'), 'service namespace is required');
    const port = num(service, 'port') ?? 0;
    const wrong = isValidPortNum(port);
    if (wrong.length > 0) errors.invalid(here.child('port'), port, `port is not valid: ${wrong.join(',')}`);
    const text = str(service, 'path');
    if (text !== '') validatePath(text, here.child('path'), errors);
  }
}

function validatePath(text: string, at: FieldPath, errors: FieldErrors): void {
  if (text === '/') return;
  if (text !== '//' && !text.startsWith('/')) errors.invalid(at, text, "must start with a '/'");
  const steps = text === '//' ? [''] : text.slice(1).replace(/\/$/, '').split('/');
  steps.forEach((step, index) => {
    if (step === '') errors.invalid(at, text, `segment[${index}] may not be empty`);
    else for (const detail of isDNS1123Subdomain(step)) errors.invalid(at, text, `segment[${index}]: ${detail}`);
  });
}

const URL_FORM = '; desired format: https://host[/path]';

function validateUrl(text: string, at: FieldPath, errors: FieldErrors): void {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    errors.required(at, `url must be a valid URL: parse ${goQuote(text)}${URL_FORM}`);
    return;
  }
  if (url.protocol !== 'https:')
    errors.invalid(at, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${URL_FORM}`);
  if (url.host === '') errors.invalid(at, url.host, `host must be specified${URL_FORM}`);
  if (url.username !== '') errors.invalid(at, url.username, 'user information is not permitted in the URL');
  if (url.hash !== '') errors.invalid(at, url.hash.slice(1), 'fragments are not permitted in the URL');
  if (url.search !== '') errors.invalid(at, url.search.slice(1), 'query parameters are not permitted in the URL');
}

function validateReviewVersions(hook: Draft, at: FieldPath, errors: FieldErrors): void {
  const versions = strings(hook, 'admissionReviewVersions');
  const here = at.child('admissionReviewVersions');
  if (versions.length === 0) {
    errors.required(here, 'must specify one of v1, v1beta1');
    return;
  }
  versions.forEach((version, index) => {
    if (versions.indexOf(version) < index) errors.invalid(here.index(index), version, 'duplicate version');
    else messages(version, isDNS1035Label(version), here.index(index), errors);
  });
  if (!versions.includes('v1') && !versions.includes('v1beta1'))
    errors.invalid(here, [...versions], 'must include at least one of v1, v1beta1');
}

export function validateWebhooks(object: Draft, errors: FieldErrors): void {
  const names = new Set<string>();
  dicts(object, 'webhooks').forEach((hook, index) => {
    const at = path('webhooks').index(index);
    const name = str(hook, 'name');
    validateFullName(name, at.child('name'), errors);
    dicts(hook, 'rules').forEach((rule, i) => {
      validateRule(rule, at.child('rules').index(i), errors);
    });
    word(hook, 'failurePolicy', ['Fail', 'Ignore'], at, errors);
    word(hook, 'matchPolicy', ['Equivalent', 'Exact'], at, errors);
    const effects = ['None', 'NoneOnDryRun'];
    if (!has(hook, 'sideEffects'))
      errors.required(at.child('sideEffects'), `must specify one of ${effects.join(', ')}`);
    else word(hook, 'sideEffects', effects, at, errors);
    const seconds = num(hook, 'timeoutSeconds');
    if (seconds !== undefined && (seconds > 30 || seconds < 1))
      errors.invalid(at.child('timeoutSeconds'), seconds, 'the timeout value must be between 1 and 30 seconds');
    validateLabelSelector(dict(hook, 'namespaceSelector'), at.child('namespaceSelector'), errors);
    validateLabelSelector(dict(hook, 'objectSelector'), at.child('objectSelector'), errors);
    word(hook, 'reinvocationPolicy', ['IfNeeded', 'Never'], at, errors);
    validateClientConfig(dict(hook, 'clientConfig') ?? {}, at.child('clientConfig'), errors);
    validateReviewVersions(hook, at, errors);
    validateMatchConditions(hook, false, at.child('matchConditions'), errors);
    if (name !== '' && names.has(name)) errors.duplicate(at.child('name'), name);
    names.add(name);
  });
}

export function validateMatchResources(match: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  if (match === undefined) return;
  word(match, 'matchPolicy', ['Equivalent', 'Exact'], at, errors);
  for (const field of ['namespaceSelector', 'objectSelector']) {
    if (!has(match, field)) errors.required(at.child(field));
    else validateLabelSelector(dict(match, field), at.child(field), errors);
  }
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    dicts(match, field).forEach((rule, index) => {
      validateRule(rule, at.child(field).index(index), errors);
    });
  }
}

export function validateApiService(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const at = path('spec');
  const [group, version] = [str(spec, 'group'), str(spec, 'version')];
  const name = str(metadata(object), 'name');
  const wanted = `${version}.${group}`;
  if (name !== '' && name !== wanted)
    errors.invalid(path('metadata', 'name'), name, `must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`);
  if (group === '' && version !== 'v1')
    errors.required(at.child('group'), 'only v1 may have an empty group and it better be legacy kube');
  if (group !== '') messages(group, isDNS1123Subdomain(group), at.child('group'), errors);
  messages(version, isDNS1035Label(version), at.child('version'), errors);
  for (const [field, max] of [
    ['groupPriorityMinimum', 20_000],
    ['versionPriority', 1000],
  ] as const) {
    const value = num(spec, field) ?? 0;
    if (value <= 0 || value > max) errors.invalid(at.child(field), value, `must be positive and less than ${max}`);
  }
  const service = dict(spec, 'service');
  const bundle = Buffer.from(str(spec, 'caBundle'), 'base64');
  const skips = bool(spec, 'insecureSkipTLSVerify');
  if (service === undefined) {
    if (bundle.length > 0)
      errors.invalid(at.child('caBundle'), `${bundle.length} bytes`, 'local APIServices may not have a caBundle');
    if (skips)
      errors.invalid(at.child('insecureSkipTLSVerify'), true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  for (const field of ['namespace', 'name'])
    if (str(service, field) === '') errors.required(at.child('service', field));
  const port = num(service, 'port') ?? 0;
  const wrong = isValidPortNum(port);
  if (wrong.length > 0) errors.invalid(at.child('service', 'port'), port, `port is not valid: ${wrong.join(', ')}`);
  if (skips && bundle.length > 0)
    errors.invalid(at.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present');
}
