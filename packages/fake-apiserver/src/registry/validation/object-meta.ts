// What every object's metadata must be.
// Upstream: apimachinery@v0.30.3:pkg/api/validation/objectmeta.go, kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateObjectMeta
import { isDNS1035Label, isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '@kube-rx/apimachinery';
import { byCodePoint, type Draft, dict, dicts, entries, get, num, semanticEqual, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringList, path } from './field-errors.ts';
import { validateLabels, validateManagedFields } from './labels.ts';

export const IMMUTABLE = 'field is immutable';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** What is wrong with a name; `prefix` means it is a generateName, which may end in a dash. */
export type NameCheck = (name: string, prefix: boolean) => readonly string[];

const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

const masked =
  (check: (name: string) => readonly string[]): NameCheck =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name);

export const nameIsDnsSubdomain: NameCheck = masked(isDNS1123Subdomain);
export const nameIsDnsLabel: NameCheck = masked(isDNS1123Label);
export const nameIsDns1035Label: NameCheck = masked(isDNS1035Label);

/** The least a name must be to stand in a path. */
export const nameIsPathSegment: NameCheck = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

export function validateAnnotations(meta: Draft, at: FieldPath, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of entries(meta, 'annotations')) {
    for (const text of isQualifiedName(key.toLowerCase())) errors.invalid(at, key, text);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATIONS_BYTES) errors.tooLong(at, MAX_ANNOTATIONS_BYTES);
}

function validateOwnerReferences(meta: Draft, at: FieldPath, errors: FieldErrors): void {
  let controller: string | undefined;
  for (const owner of dicts(meta, 'ownerReferences')) {
    const apiVersion = str(owner, 'apiVersion');
    if (apiVersion === '' || apiVersion.endsWith('/') || apiVersion.split('/').length > 2)
      errors.invalid(at.child('apiVersion'), apiVersion, 'version must not be empty');
    for (const field of ['kind', 'name', 'uid']) {
      if (str(owner, field) === '') errors.invalid(at.child(field), '', `${field} must not be empty`);
    }
    if (apiVersion === 'v1' && str(owner, 'kind') === 'Event')
      errors.invalid(at, go(goOwnerReference(owner)), '/v1, Kind=Event is disallowed from being an owner');
    if (get(owner, 'controller') !== true) continue;
    const name = `${str(owner, 'kind')}/${str(owner, 'name')}`;
    if (controller === undefined) controller = name;
    else {
      const all = dicts(meta, 'ownerReferences').map(goOwnerReference).join(', ');
      errors.invalid(
        at,
        go(`[]v1.OwnerReference{${all}}`),
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
      );
    }
  }
}

/** The address of a pointer is nothing anybody can predict. */
const goPointer = (owner: Draft, field: string): string =>
  `(*bool)(${get(owner, field) === undefined ? 'nil' : '0xc000000000'})`;

function goOwnerReference(owner: Draft): string {
  const text = (field: string): string => JSON.stringify(str(owner, field));
  return `v1.OwnerReference{APIVersion:${text('apiVersion')}, Kind:${text('kind')}, Name:${text('name')}, UID:${text('uid')}, Controller:${goPointer(owner, 'controller')}, BlockOwnerDeletion:${goPointer(owner, 'blockOwnerDeletion')}}`;
}

function validateFinalizers(meta: Draft, at: FieldPath, errors: FieldErrors): void {
  const finalizers = strings(meta, 'finalizers');
  for (const name of finalizers) for (const text of isQualifiedName(name)) errors.invalid(at, name, text);
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.invalid(at, go(goStringList(finalizers)), 'finalizer orphan and foregroundDeletion cannot be both set');
  }
}

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly name: NameCheck;
}

/** The rules of every API object, custom ones included. */
export function validateObjectMeta(
  meta: Draft,
  rules: ObjectMetaRules,
  errors: FieldErrors,
  at: FieldPath = path('metadata'),
): void {
  const name = str(meta, 'name');
  const generateName = str(meta, 'generateName');
  const namespace = str(meta, 'namespace');
  if (generateName !== '') {
    for (const text of rules.name(generateName, true)) errors.invalid(at.child('generateName'), generateName, text);
  }
  if (name === '') errors.required(at.child('name'), 'name or generateName is required');
  else for (const text of rules.name(name, false)) errors.invalid(at.child('name'), name, text);
  if (!rules.namespaced) {
    if (namespace !== '') errors.forbidden(at.child('namespace'), 'not allowed on this type');
  } else if (namespace === '') errors.required(at.child('namespace'));
  else for (const text of nameIsDnsLabel(namespace, false)) errors.invalid(at.child('namespace'), namespace, text);
  const generation = num(meta, 'generation') ?? 0;
  if (generation < 0) errors.invalid(at.child('generation'), generation, 'must be greater than or equal to 0');
  validateLabels(meta, 'labels', at.child('labels'), errors);
  validateAnnotations(meta, at.child('annotations'), errors);
  validateOwnerReferences(meta, at.child('ownerReferences'), errors);
  validateFinalizers(meta, at.child('finalizers'), errors);
  validateManagedFields(meta, at.child('managedFields'), errors);
}

/** The rules of built-in kinds: finalizers are standard ones or qualified. */
export function validateBuiltInObjectMeta(
  meta: Draft,
  rules: ObjectMetaRules,
  errors: FieldErrors,
  at: FieldPath = path('metadata'),
): void {
  validateObjectMeta(meta, rules, errors, at);
  validateFinalizerNames(meta, errors, at);
}

export function validateFinalizerNames(meta: Draft, errors: FieldErrors, at: FieldPath = path('metadata')): void {
  strings(meta, 'finalizers').forEach((name, index) => {
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return;
    errors.invalid(
      at.child('finalizers').index(index),
      name,
      'name is neither a standard finalizer name nor is it fully qualified',
    );
  });
}

/** An update may not touch what the server owns. */
export function validateObjectMetaUpdate(
  meta: Draft,
  old: Draft,
  errors: FieldErrors,
  at: FieldPath = path('metadata'),
): void {
  if (get(old, 'deletionTimestamp') !== undefined) {
    const had = new Set(strings(old, 'finalizers'));
    const extra = [...new Set(strings(meta, 'finalizers'))].filter((name) => !had.has(name)).sort(byCodePoint);
    if (extra.length > 0) {
      errors.forbidden(
        at.child('finalizers'),
        `no new finalizers can be added if the object is being deleted, found new finalizers ${goStringList(extra)}`,
      );
    }
  }
  if (str(meta, 'resourceVersion') === '')
    errors.invalid(at.child('resourceVersion'), '', 'must be specified for an update');
  const generation = num(meta, 'generation') ?? 0;
  if (generation < (num(old, 'generation') ?? 0))
    errors.invalid(at.child('generation'), generation, 'must not be decremented');
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]) {
    validateImmutable(get(meta, field), get(old, field), errors, at.child(field));
  }
  validateLabels(meta, 'labels', at.child('labels'), errors);
  validateAnnotations(meta, at.child('annotations'), errors);
  validateOwnerReferences(meta, at.child('ownerReferences'), errors);
  validateManagedFields(meta, at.child('managedFields'), errors);
}

export function validateImmutable(value: unknown, old: unknown, errors: FieldErrors, at: FieldPath): void {
  if (!semanticEqual(value, old)) errors.invalid(at, value ?? null, IMMUTABLE);
}

/** `metadata` of an object; decoding made sure that it is there. */
export function metadata(object: Draft): Draft {
  return dict(object, 'metadata') ?? {};
}
