// Environment variables of a container and where their values come from.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateEnv
import { isConfigMapKey, isDNS1123Subdomain, isEnvVarName } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, str } from '../draft.ts';
import { validateObjectFieldSelector, validateResourceFieldSelector } from './downward-api.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { messages } from './values.ts';

function validateKeyRef(ref: Draft, at: FieldPath, errors: FieldErrors): void {
  const name = str(ref, 'name');
  messages(name, isDNS1123Subdomain(name), at.child('name'), errors);
  const key = str(ref, 'key');
  if (key === '') errors.required(at.child('key'));
  else messages(key, isConfigMapKey(key), at.child('key'), errors);
}

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

function validateEnvSource(variable: Draft, at: FieldPath, errors: FieldErrors): void {
  const source = dict(variable, 'valueFrom');
  if (source === undefined) return;
  let sources = 0;
  const fieldRef = dict(source, 'fieldRef');
  if (fieldRef !== undefined) {
    sources += 1;
    validateObjectFieldSelector(fieldRef, ENV_FIELDS, at.child('fieldRef'), errors);
  }
  const resource = dict(source, 'resourceFieldRef');
  if (resource !== undefined) {
    sources += 1;
    validateResourceFieldSelector(resource, at.child('resourceFieldRef'), errors, false);
  }
  for (const field of ['configMapKeyRef', 'secretKeyRef']) {
    const ref = dict(source, field);
    if (ref === undefined) continue;
    sources += 1;
    validateKeyRef(ref, at.child(field), errors);
  }
  if (sources === 0)
    errors.invalid(at, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`');
  else if (str(variable, 'value') !== '') errors.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) errors.invalid(at, '', 'may not have more than one field specified at a time');
}

export function validateEnv(container: Draft, at: FieldPath, errors: FieldErrors): void {
  dicts(container, 'env').forEach((variable, index) => {
    const here = at.child('env').index(index);
    const name = str(variable, 'name');
    if (name === '') errors.required(here.child('name'));
    else messages(name, isEnvVarName(name), here.child('name'), errors);
    validateEnvSource(variable, here.child('valueFrom'), errors);
  });
  dicts(container, 'envFrom').forEach((source, index) => {
    const here = at.child('envFrom').index(index);
    const prefix = str(source, 'prefix');
    if (prefix !== '') messages(prefix, isEnvVarName(prefix), here.child('prefix'), errors);
    const refs = ['configMapRef', 'secretRef'].filter((field) => has(source, field));
    for (const field of refs) {
      const name = str(dict(source, field), 'name');
      if (name === '') errors.required(here.child(field, 'name'));
      else messages(name, isDNS1123Subdomain(name), here.child(field, 'name'), errors);
    }
    if (refs.length === 0)
      errors.invalid(at.child('envFrom'), '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (refs.length > 1)
      errors.invalid(at.child('envFrom'), '', 'may not have more than one field specified at a time');
  });
}
