// CEL expressions of admission policies must compile.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go#validateCELCondition
// Differs: expressions that ask the authorizer are taken as they are.
import { compileExpression } from '../../admission/policies/expressions.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';

export function validateExpression(
  source: string,
  wanted: 'bool' | 'string' | undefined,
  hasParams: boolean,
  at: FieldPath,
  errors: FieldErrors,
): void {
  if (/\bauthorizer\b/.test(source)) return;
  const compiled = compileExpression(source, hasParams, wanted);
  if ('problem' in compiled) errors.invalid(at, source, compiled.problem);
}
