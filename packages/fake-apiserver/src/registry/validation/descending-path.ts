// Paths that must stay below the directory they begin in.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateLocalDescendingPath
import type { FieldErrors, FieldPath } from './field-errors.ts';

/** A path inside a volume. */
export function validateDescendingPath(text: string, at: FieldPath, errors: FieldErrors): void {
  if (text.startsWith('/')) errors.invalid(at, text, 'must be a relative path');
  if (text.split('/').includes('..')) errors.invalid(at, text, "must not contain '..'");
}
