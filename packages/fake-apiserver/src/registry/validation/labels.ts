// Labels, label selectors and managed fields.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/validation/validation.go
import { isQualifiedName, isValidLabelValue } from '@kube-rx/apimachinery';
import { type Draft, dicts, entries, str, strings } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';

const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

export function validateLabelName(name: string, at: FieldPath, errors: FieldErrors): void {
  for (const text of isQualifiedName(name)) errors.invalid(at, name, text);
}

export function validateLabels(parent: Draft | undefined, field: string, at: FieldPath, errors: FieldErrors): void {
  for (const [key, value] of entries(parent, field)) {
    validateLabelName(key, at, errors);
    for (const text of isValidLabelValue(value)) errors.invalid(at, value, text);
  }
}

export interface LabelSelectorRules {
  /** Old objects may hold values that are no label values. Default false. */
  readonly allowInvalidValues?: boolean;
}

export function validateLabelSelector(
  selector: Draft | undefined,
  at: FieldPath,
  errors: FieldErrors,
  rules: LabelSelectorRules = {},
): void {
  if (selector === undefined) return;
  validateLabels(selector, 'matchLabels', at.child('matchLabels'), errors);
  dicts(selector, 'matchExpressions').forEach((requirement, index) => {
    validateRequirement(requirement, at.child('matchExpressions').index(index), errors, rules);
  });
}

function validateRequirement(requirement: Draft, at: FieldPath, errors: FieldErrors, rules: LabelSelectorRules): void {
  const operator = str(requirement, 'operator');
  const values = strings(requirement, 'values');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
  validateLabelName(str(requirement, 'key'), at.child('key'), errors);
  if (rules.allowInvalidValues === true) return;
  values.forEach((value, index) => {
    for (const text of isValidLabelValue(value)) errors.invalid(at.child('values').index(index), value, text);
  });
}

/** True for a selector without any requirement. */
export function selectorIsEmpty(selector: Draft | undefined): boolean {
  return entries(selector, 'matchLabels').length === 0 && dicts(selector, 'matchExpressions').length === 0;
}

/** Whether every requirement can be turned into one of a label selector. */
export function selectorIsValid(selector: Draft | undefined): boolean {
  return (
    dicts(selector, 'matchExpressions').every((requirement) => {
      const values = strings(requirement, 'values');
      if (isQualifiedName(str(requirement, 'key')).length > 0) return false;
      if (values.some((value) => isValidLabelValue(value).length > 0)) return false;
      switch (str(requirement, 'operator')) {
        case 'In':
        case 'NotIn':
          return values.length > 0;
        case 'Exists':
        case 'DoesNotExist':
          return values.length === 0;
        default:
          return false;
      }
    }) &&
    entries(selector, 'matchLabels').every(
      ([key, value]) => isQualifiedName(key).length === 0 && isValidLabelValue(value).length === 0,
    )
  );
}

/** Whether a LabelSelector object selects the labels; an invalid one selects nothing. */
export function selectorMatches(selector: Draft | undefined, labels: Draft | undefined): boolean {
  if (selector === undefined) return false;
  for (const [key, value] of entries(selector, 'matchLabels')) if (str(labels, key) !== value) return false;
  return dicts(selector, 'matchExpressions').every((requirement) => {
    const key = str(requirement, 'key');
    const there = labels !== undefined && Object.hasOwn(labels, key);
    const values = strings(requirement, 'values');
    switch (str(requirement, 'operator')) {
      case 'In':
        return there && values.includes(str(labels, key));
      case 'NotIn':
        return !there || !values.includes(str(labels, key));
      case 'Exists':
        return there;
      case 'DoesNotExist':
        return !there;
      default:
        return false;
    }
  });
}

export function validateManagedFields(meta: Draft, at: FieldPath, errors: FieldErrors): void {
  dicts(meta, 'managedFields').forEach((entry, index) => {
    const here = at.index(index);
    const operation = str(entry, 'operation');
    if (operation !== 'Apply' && operation !== 'Update')
      errors.invalid(here.child('operation'), operation, 'must be `Apply` or `Update`');
    const type = str(entry, 'fieldsType');
    if (type !== '' && type !== 'FieldsV1') errors.invalid(here.child('fieldsType'), type, 'must be `FieldsV1`');
    if (Buffer.byteLength(str(entry, 'manager')) > MAX_MANAGER_BYTES)
      errors.tooLong(here.child('manager'), MAX_MANAGER_BYTES);
    if (Buffer.byteLength(str(entry, 'subresource')) > MAX_SUBRESOURCE_BYTES)
      errors.tooLong(here.child('subresource'), MAX_SUBRESOURCE_BYTES);
  });
}
