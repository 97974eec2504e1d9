// References to fields of a pod and to resources of its containers.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateObjectFieldSelector, validateContainerResourceFieldSelector
import { byCodePoint, type Draft, str } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { qualifiedName, quantity } from './values.ts';

/** What a downward API path may name at all. */
const CONVERTIBLE = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
  'spec.host',
]);

export function validateObjectFieldSelector(
  selector: Draft,
  allowed: readonly string[],
  at: FieldPath,
  errors: FieldErrors,
): void {
  const text = str(selector, 'fieldPath');
  if (str(selector, 'apiVersion') === '') {
    errors.required(at.child('apiVersion'));
    return;
  }
  if (text === '') {
    errors.required(at.child('fieldPath'));
    return;
  }
  const subscripted = /^([^[]+)\['(.*)'\]$/.exec(text);
  if (subscripted !== null) {
    const [, base = '', key = ''] = subscripted;
    if (base === 'metadata.annotations') qualifiedName(key.toLowerCase(), at, errors);
    else if (base === 'metadata.labels') qualifiedName(key, at, errors);
    else errors.invalid(at, base, 'does not support subscript');
    return;
  }
  if (!CONVERTIBLE.has(text)) {
    errors.invalid(at.child('fieldPath'), text, `error converting fieldPath: field label not supported: ${text}`);
    return;
  }
  const name = text === 'spec.host' ? 'spec.nodeName' : text;
  if (!allowed.includes(name)) errors.notSupported(at.child('fieldPath'), name, [...allowed].sort(byCodePoint));
}

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const DIVISORS: Readonly<Record<string, readonly string[]>> = {
  cpu: ['1m', '1'],
  memory: ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
};

export function validateResourceFieldSelector(
  selector: Draft,
  at: FieldPath,
  errors: FieldErrors,
  inVolume: boolean,
): void {
  const resource = str(selector, 'resource');
  const hugePages = /^(limits|requests)\.hugepages-/.test(resource);
  if (inVolume && str(selector, 'containerName') === '') errors.required(at.child('containerName'));
  else if (resource === '') errors.required(at.child('resource'));
  else if (!RESOURCES.includes(resource) && !hugePages) errors.notSupported(at.child('resource'), resource, RESOURCES);
  const divisor = quantity(selector['divisor']);
  if (divisor === undefined || divisor.sign === 0) return;
  const name = resource.split('.')[1] ?? '';
  const fitting = name === 'cpu' ? DIVISORS['cpu']! : DIVISORS['memory']!;
  if (fitting.includes(divisor.toString())) return;
  const what =
    name === 'cpu'
      ? 'cpu'
      : name === 'memory'
        ? 'memory'
        : name === 'ephemeral-storage'
          ? 'ephemeral-storage'
          : 'hugepages';
  if (!RESOURCES.includes(resource) && !hugePages) return;
  const choice =
    name === 'cpu'
      ? "only divisor's values 1m and 1 are supported with the cpu resource"
      : `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${what} resource`;
  errors.invalid(at.child('divisor'), divisor.toString(), choice);
}
