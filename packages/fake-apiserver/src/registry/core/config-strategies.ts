// ConfigMap, Secret and ServiceAccount.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/{configmap,secret,serviceaccount}/strategy.go, pkg/apis/core/validation/validation.go
import { isConfigMapKey } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { bool, type Draft, dict, entries, get, has, semanticEqual, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { type FieldErrors, path } from '../validation/field-errors.ts';
import { metadata, validateImmutable } from '../validation/object-meta.ts';

/** Also the limit of a secret. */
const MAX_DATA_BYTES = 1024 * 1024;
const IMMUTABLE_SET = 'field is immutable when `immutable` is set';

const base64Bytes = (text: string): number => Buffer.from(text, 'base64').length;

function validateConfigMap(object: Draft, errors: FieldErrors): void {
  const binary = dict(object, 'binaryData');
  let bytes = 0;
  for (const [key, value] of entries(object, 'data')) {
    for (const text of isConfigMapKey(key)) errors.invalid(path('data').key(key), key, text);
    if (binary !== undefined && Object.hasOwn(binary, key))
      errors.invalid(path('data').key(key), key, 'duplicate of key present in binaryData');
    bytes += Buffer.byteLength(value);
  }
  for (const [key, value] of entries(object, 'binaryData')) {
    for (const text of isConfigMapKey(key)) errors.invalid(path('binaryData').key(key), key, text);
    bytes += base64Bytes(value);
  }
  // The size is that of both maps, hence the path without a name.
  if (bytes > MAX_DATA_BYTES) errors.tooLong(path('[]'), MAX_DATA_BYTES);
}

function forbidImmutableChange(object: Draft, old: Draft, errors: FieldErrors, fields: readonly string[]): void {
  if (!bool(old, 'immutable')) return;
  if (!bool(object, 'immutable')) errors.forbidden(path('immutable'), IMMUTABLE_SET);
  for (const field of fields) {
    if (!semanticEqual(get(object, field), get(old, field))) errors.forbidden(path(field), IMMUTABLE_SET);
  }
}

export const configMapStrategy: Strategy = {
  namespaced: true,
  validateCreate: validateConfigMap,
  validateUpdate(object, old, errors) {
    forbidImmutableChange(object, old, errors, ['data', 'binaryData']);
    validateConfigMap(object, errors);
  },
};

const TOKEN_TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/** Keys a secret of a known type must hold. */
const REQUIRED_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

function validateDockerConfig(data: Draft | undefined, key: string, errors: FieldErrors): void {
  if (data === undefined || !Object.hasOwn(data, key)) {
    errors.required(path('data').key(key));
    return;
  }
  const text = Buffer.from(str(data, key), 'base64').toString('utf8');
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new SyntaxError('no object');
  } catch {
    const what =
      text === '' ? 'unexpected end of JSON input' : `invalid character '${text[0]}' looking for beginning of value`;
    errors.invalid(path('data').key(key), '<secret contents redacted>', what);
  }
}

function validateSecret(object: Draft, errors: FieldErrors): void {
  const data = dict(object, 'data');
  let bytes = 0;
  for (const [key, value] of entries(object, 'data')) {
    for (const text of isConfigMapKey(key)) errors.invalid(path('data').key(key), key, text);
    bytes += base64Bytes(value);
  }
  if (bytes > MAX_DATA_BYTES) errors.tooLong(path('data'), MAX_DATA_BYTES);
  const type = str(object, 'type');
  if (type === TOKEN_TYPE) {
    if (str(dict(metadata(object), 'annotations'), ACCOUNT_ANNOTATION) === '')
      errors.required(path('metadata', 'annotations').key(ACCOUNT_ANNOTATION));
  } else if (type === 'kubernetes.io/dockercfg') validateDockerConfig(data, '.dockercfg', errors);
  else if (type === 'kubernetes.io/dockerconfigjson') validateDockerConfig(data, '.dockerconfigjson', errors);
  else if (type === 'kubernetes.io/basic-auth') {
    if (data === undefined || (!Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password'))) {
      errors.required(path('data').key('username'));
      errors.required(path('data').key('password'));
    }
  }
  for (const key of REQUIRED_KEYS.get(type) ?? []) {
    if (data === undefined || !Object.hasOwn(data, key)) errors.required(path('data').key(key));
    else if (type === 'kubernetes.io/ssh-auth' && str(data, key) === '') errors.required(path('data').key(key));
  }
}

export const secretStrategy: Strategy = {
  namespaced: true,
  fieldLabels: new Map([
    ['type', 'type'],
    ['metadata.namespace', 'metadata.namespace'],
    ['metadata.name', 'metadata.name'],
  ]),
  selectableFields: (object: ApiObject) => ({ type: str(object as unknown as Draft, 'type') }),
  prepareForUpdate(object, old) {
    // An update without a type keeps the type.
    if (!has(object, 'type') && has(old, 'type')) object['type'] = old['type'];
  },
  validateCreate: validateSecret,
  validateUpdate(object, old, errors) {
    validateImmutable(get(object, 'type'), get(old, 'type'), errors, path('type'));
    forbidImmutableChange(object, old, errors, ['data']);
    validateSecret(object, errors);
  },
};

export const serviceAccountStrategy: Strategy = { namespaced: true, returnDeletedObject: true };
