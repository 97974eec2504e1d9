// Names and amounts of resources: requests of containers, limit ranges, quotas.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateLimitRange, ValidateResourceQuota; pkg/apis/core/helper/helpers.go
import { goQuote, isQualifiedName, type Quantity } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, semanticEqual, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, type GoText, go, goStringList, path } from './field-errors.ts';
import { IMMUTABLE } from './object-meta.ts';
import { goQuantity, NEGATIVE, quantities } from './values.ts';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const INTEGER: ReadonlySet<string> = new Set(COUNTED);
const QUOTA: ReadonlySet<string> = new Set([
  ...COMPUTE,
  ...COUNTED,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  'requests.storage',
]);
const STANDARD: ReadonlySet<string> = new Set([...QUOTA, 'storage']);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-');
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

function isExtended(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** True when the name is good so far. Names of resources print themselves, without quotes. */
function validateName(name: string, at: FieldPath, errors: FieldErrors): boolean {
  const wrong = isQualifiedName(name);
  for (const text of wrong) errors.invalid(at, go(name), text);
  if (wrong.length > 0) return false;
  if (name.includes('/') || STANDARD.has(name) || isQuotaHugePages(name)) return true;
  errors.invalid(at, go(name), 'must be a standard resource type or fully qualified');
  return false;
}

function validateContainerResource(name: string, at: FieldPath, errors: FieldErrors): void {
  validateName(name, at, errors);
  if (!name.includes('/')) {
    if (!COMPUTE.includes(name) && !isHugePages(name))
      errors.invalid(at, go(name), 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtended(name))
    errors.invalid(at, go(name), "doesn't follow extended resource name standard");
}

export function validateAmount(name: string, value: Quantity, at: FieldPath, errors: FieldErrors): void {
  if (value.sign < 0) errors.invalid(at, value.toString(), NEGATIVE);
  if ((INTEGER.has(name) || isExtended(name)) && value.value(-3) % 1000n !== 0n)
    errors.invalid(at, go(goQuantity(value)), 'must be an integer');
}

/** `resources` of a container. */
export function validateResourceRequirements(resources: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const limits = new Map(quantities(resources, 'limits'));
  const requests = quantities(resources, 'requests');
  for (const [name, value] of limits) {
    validateContainerResource(name, at.child('limits').key(name), errors);
    validateAmount(name, value, at.child('limits').key(name), errors);
  }
  for (const [name, value] of requests) {
    const here = at.child('requests').key(name);
    validateContainerResource(name, here, errors);
    validateAmount(name, value, here, errors);
    const limit = limits.get(name);
    if (limit === undefined) {
      if (!isOvercommitAllowed(name))
        errors.required(at.child('limits'), 'Limit must be set for non overcommitable resources');
    } else if (!value.equals(limit) && !isOvercommitAllowed(name)) {
      errors.invalid(at.child('requests'), value.toString(), `must be equal to ${name} limit of ${limit}`);
    } else if (value.compare(limit) > 0) {
      errors.invalid(at.child('requests'), value.toString(), `must be less than or equal to ${name} limit of ${limit}`);
    }
  }
  const names = [...limits.keys(), ...requests.map(([name]) => name)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.forbidden(at, 'HugePages require cpu or memory');
}

const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateLimitResource(type: string, name: string, at: FieldPath, errors: FieldErrors): void {
  if (type === 'Container' || type === 'Pod') validateContainerResource(name, at, errors);
  else validateName(name, at, errors);
}

function compareRatio(
  ratio: Quantity | undefined,
  low: Quantity | undefined,
  high: Quantity | undefined,
  wrong: (shown: Quantity, detail: string) => void,
): void {
  if (ratio === undefined) return;
  const milli = (value: Quantity): number => Number(value.value(-3));
  if (milli(ratio) < 1000) wrong(ratio, `ratio ${ratio} is less than 1`);
  if (low === undefined || high === undefined) return;
  const most = milli(high) / milli(low);
  if (milli(ratio) / 1000 > most) wrong(ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
}

function compareLimits(limit: Draft, at: FieldPath, errors: FieldErrors): void {
  const of = (field: string): Map<string, Quantity> => new Map(quantities(limit, field));
  const [min, max, fallback, request] = [of('min'), of('max'), of('default'), of('defaultRequest')];
  const ratio = of('maxLimitRequestRatio');
  const all = [min, max, fallback, request, ratio];
  const names = new Set(all.flatMap((values) => [...values.keys()]));
  for (const name of [...names].sort()) {
    const [low, high, def, req] = [min.get(name), max.get(name), fallback.get(name), request.get(name)];
    const wrong = (field: string, shown: Quantity, detail: string): void =>
      errors.invalid(at.child(field).key(name), go(goQuantity(shown)), detail);
    if (low !== undefined && high !== undefined && low.compare(high) > 0)
      wrong('min', low, `min value ${low} is greater than max value ${high}`);
    if (req !== undefined && low !== undefined && low.compare(req) > 0)
      wrong('defaultRequest', req, `min value ${low} is greater than default request value ${req}`);
    if (req !== undefined && high !== undefined && req.compare(high) > 0)
      wrong('defaultRequest', req, `default request value ${req} is greater than max value ${high}`);
    if (req !== undefined && def !== undefined && req.compare(def) > 0)
      wrong('defaultRequest', req, `default request value ${req} is greater than default limit value ${def}`);
    if (def !== undefined && low !== undefined && low.compare(def) > 0)
      wrong('default', low, `min value ${low} is greater than default value ${def}`);
    if (def !== undefined && high !== undefined && def.compare(high) > 0)
      wrong('default', high, `default value ${def} is greater than max value ${high}`);
    compareRatio(ratio.get(name), low, high, (shown, detail) => wrong('maxLimitRequestRatio', shown, detail));
    if (!isOvercommitAllowed(name) && def !== undefined && req !== undefined && !def.equals(req))
      wrong('defaultRequest', req, `default value ${def} must equal to defaultRequest value ${req} in ${name}`);
  }
}

export function validateLimitRange(object: Draft, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(dict(object, 'spec'), 'limits').forEach((limit, index) => {
    const at = path('spec', 'limits').index(index);
    const type = str(limit, 'type');
    const unqualified = isQualifiedName(type);
    for (const text of unqualified) errors.invalid(at.child('type'), type, text);
    if (unqualified.length === 0 && !LIMIT_TYPES.includes(type) && !type.includes('/'))
      errors.invalid(at.child('type'), type, 'must be a standard limit type or fully qualified');
    if (seen.has(type)) errors.duplicate(at.child('type'), type);
    seen.add(type);
    for (const field of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']) {
      const values = quantities(limit, field);
      if (type === 'Pod' && field.startsWith('default')) {
        if (values.length > 0) errors.forbidden(at.child(field), "may not be specified when `type` is 'Pod'");
        continue;
      }
      for (const [name] of values) validateLimitResource(type, name, at.child(field).key(name), errors);
    }
    if (type === 'PersistentVolumeClaim') {
      const bounded = ['min', 'max'].some((field) => quantities(limit, field).some(([name]) => name === 'storage'));
      if (!bounded)
        errors.required(
          at.child('limits'),
          'either minimum or maximum storage value is required, but neither was provided',
        );
    }
    compareLimits(limit, at, errors);
  });
}

const POD_COUNT = ['pods'];
const POD_COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

/** How often a scope meets a resource that it says nothing about. */
function misfits(scope: string, hard: readonly string[]): number {
  if (!SCOPES.includes(scope)) return 0;
  const fitting = scope === 'BestEffort' ? POD_COUNT : [...POD_COUNT, ...POD_COMPUTE];
  return hard.filter((name) => (QUOTA.has(name) || isQuotaHugePages(name)) && !fitting.includes(name)).length;
}

const conflicting = (scopes: readonly string[]): number =>
  OPPOSITES.filter((pair) => pair.every((scope) => scopes.includes(scope))).length;

const goScopes = (spec: Draft | undefined): GoText =>
  go(
    goStringList(has(spec, 'scopes') ? strings(spec, 'scopes') : undefined).replace(
      'string',
      'core.ResourceQuotaScope',
    ),
  );

function validateScopes(spec: Draft | undefined, hard: readonly string[], errors: FieldErrors): void {
  const scopes = strings(spec, 'scopes');
  const at = path('spec', 'scopes');
  const refuse = (detail: string): void => errors.invalid(at, goScopes(spec), detail);
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) refuse('unsupported scope');
    for (let left = misfits(scope, hard); left > 0; left--) refuse('unsupported scope applied to resource');
  }
  for (let left = conflicting(scopes); left > 0; left--) refuse('conflicting scopes');
}

function validateScopeSelector(spec: Draft | undefined, hard: readonly string[], errors: FieldErrors): void {
  const requirements = dicts(dict(spec, 'scopeSelector'), 'matchExpressions');
  const at = path('spec', 'scopeSelector', 'matchExpressions');
  for (const requirement of requirements) {
    const [scope, operator] = [str(requirement, 'scopeName'), str(requirement, 'operator')];
    const values = strings(requirement, 'values');
    if (!SCOPES.includes(scope)) errors.invalid(at.child('scopeName'), scope, 'unsupported scope');
    for (let left = misfits(scope, hard); left > 0; left--)
      errors.invalid(at, go(goScopeSelector(requirements)), 'unsupported scope applied to resource');
    if (SCOPES.includes(scope) && scope !== 'PriorityClass' && operator !== 'Exists') {
      const detail =
        "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.invalid(at.child('operator'), operator, detail);
    }
    if (operator === 'In' || operator === 'NotIn') {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.length === 0) errors.required(at.child('values'), detail);
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values.length > 0) errors.invalid(at.child('values'), values, detail);
    } else errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
  }
  const scopes = requirements.map((requirement) => str(requirement, 'scopeName'));
  for (let left = conflicting(scopes); left > 0; left--) errors.invalid(at, goScopes(spec), 'conflicting scopes');
}

function goScopeSelector(requirements: readonly Draft[]): string {
  const parts = requirements.map((requirement) => {
    const values = goStringList(has(requirement, 'values') ? strings(requirement, 'values') : undefined);
    return `core.ScopedResourceSelectorRequirement{ScopeName:${goQuote(str(requirement, 'scopeName'))}, Operator:${goQuote(str(requirement, 'operator'))}, Values:${values}}`;
  });
  return `core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{${parts.join(', ')}}}`;
}

export function validateResourceQuota(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const hard = quantities(spec, 'hard');
  for (const [name, value] of hard) {
    const at = path('spec', 'hard').key(name);
    validateName(name, at, errors);
    if (!name.includes('/') && !QUOTA.has(name) && !isQuotaHugePages(name))
      errors.invalid(at, go(name), 'must be a standard resource for quota');
    validateAmount(name, value, at, errors);
  }
  const names = hard.map(([name]) => name);
  validateScopes(spec, names, errors);
  validateScopeSelector(spec, names, errors);
}

export function validateResourceQuotaUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateResourceQuota(object, errors);
  const spec = dict(object, 'spec');
  const scopes = strings(spec, 'scopes');
  const had = strings(dict(old, 'spec'), 'scopes');
  if (!semanticEqual([...new Set(scopes)].sort(), [...new Set(had)].sort()))
    errors.invalid(path('spec', 'scopes'), goScopes(spec), IMMUTABLE);
}
