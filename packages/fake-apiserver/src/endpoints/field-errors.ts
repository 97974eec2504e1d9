// Causes of a 422, with upstream's wording.
// Upstream: apimachinery@v0.30.3:pkg/util/validation/field/errors.go
import type { FieldErrorCause } from '@kube-rx/apimachinery';

export const forbidden = (field: string, detail: string): FieldErrorCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${detail}`,
  field,
});

/** `value` as Go prints it, e.g. `"Foo"`. */
export const invalid = (field: string, value: string, detail: string): FieldErrorCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${value}: ${detail}`,
  field,
});

export const notSupported = (field: string, value: string, supported: readonly string[]): FieldErrorCause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${value}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
  field,
});

export const required = (field: string, detail: string): FieldErrorCause => ({
  reason: 'FieldValueRequired',
  message: `Required value: ${detail}`,
  field,
});

export const tooLong = (field: string, maxBytes: number): FieldErrorCause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: must have at most ${maxBytes} bytes`,
  field,
});
