// CEL expressions of admission policies must compile.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go#validateCELCondition
import { compileExpression, type Wanted } from '../../admission/policies/expressions.ts';
import type { CelType } from '../../apiextensions/cel/types.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';

/** The type of the expression; undefined when it does not compile. */
export function validateExpression(
  source: string,
  wanted: Wanted,
  names: ReadonlyMap<string, CelType>,
  at: FieldPath,
  errors: FieldErrors,
): CelType | undefined {
  const compiled = compileExpression(source, names, wanted);
  if ('type' in compiled) return compiled.type;
  errors.invalid(at, source, compiled.problem);
  return undefined;
}
