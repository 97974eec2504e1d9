// The form of CEL rules: what must be there, and texts without line breaks.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go
import { child, type FieldError, index, invalid, notSupported, required } from '../field-error.ts';
import type { Structural } from '../schema/structural.ts';
import { validFieldPath } from './valid-field-path.ts';

const VALIDATION_REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const hasNewlines = (text: string): boolean => /[\n\r]/.test(text);

/** What is wrong with the rules of a node before any of them is compiled. */
export function ruleShapeErrors(schema: Structural, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [position, rule] of schema.validations.entries()) {
    const at = index(child(path, 'x-kubernetes-validations'), position);
    const message = rule.message.trim();
    if (rule.rule.trim() === '') errors.push(required(child(at, 'rule'), 'rule is not specified'));
    else if (rule.message !== '' && message === '') {
      errors.push(invalid(child(at, 'message'), rule.message, 'message must be non-empty if specified'));
    } else if (hasNewlines(message)) {
      errors.push(invalid(child(at, 'message'), rule.message, 'message must not contain line breaks'));
    } else if (hasNewlines(rule.rule.trim()) && message === '') {
      errors.push(required(child(at, 'message'), 'message must be specified if rule contains line breaks'));
    }
    if (rule.messageExpression !== '' && rule.messageExpression.trim() === '') {
      errors.push(required(child(at, 'messageExpression'), 'messageExpression must be non-empty if specified'));
    }
    if (rule.reason !== undefined && !VALIDATION_REASONS.includes(rule.reason)) {
      errors.push(notSupported(child(at, 'reason'), rule.reason, VALIDATION_REASONS));
    }
    const where = child(at, 'fieldPath');
    if (rule.fieldPath !== '' && rule.fieldPath.trim() === '') {
      errors.push(invalid(where, rule.fieldPath, 'fieldPath must be non-empty if specified'));
    }
    if (hasNewlines(rule.fieldPath))
      errors.push(invalid(where, rule.fieldPath, 'fieldPath must not contain line breaks'));
    if (rule.fieldPath !== '' && 'error' in validFieldPath(rule.fieldPath, schema)) {
      errors.push(invalid(where, rule.fieldPath, 'fieldPath must be a valid path'));
    }
  }
  return errors;
}
