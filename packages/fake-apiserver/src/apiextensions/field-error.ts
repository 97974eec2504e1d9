// Field paths and field errors with upstream's texts, ready to become the causes of a 422.
// Upstream: apimachinery@v0.30.3:pkg/util/validation/field/errors.go
import { type FieldErrorCause, goQuote } from '@kube-rx/apimachinery';
import { goSyntax } from './go-format.ts';

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

export interface FieldError extends FieldErrorCause {
  readonly reason: FieldErrorType;
}

/** Undefined is upstream's nil path: its children have no leading dot, and it prints as `<nil>`. */
export type FieldPath = string | undefined;

export const child = (path: FieldPath, ...names: readonly string[]): string =>
  [...(path === undefined || path === '' ? [] : [path]), ...names].join('.');
export const key = (path: FieldPath, name: string): string => `${path ?? ''}[${name}]`;
export const index = (path: FieldPath, position: number): string => `${path ?? ''}[${position}]`;

function make(reason: FieldErrorType, text: string, path: FieldPath, detail: string): FieldError {
  return { reason, message: detail === '' ? text : `${text}: ${detail}`, field: path ?? '<nil>' };
}

/** How a bad value is shown: plain for scalars, quoted for strings, Go syntax for the rest. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number' || typeof value === 'boolean') return goSyntax(value);
  if (value instanceof RawValue) return value.text;
  return goSyntax(value);
}

/** A bad value whose Go syntax is known by the caller, such as a struct. */
export class RawValue {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const required = (path: FieldPath, detail: string): FieldError =>
  make('FieldValueRequired', 'Required value', path, detail);
export const forbidden = (path: FieldPath, detail: string): FieldError =>
  make('FieldValueForbidden', 'Forbidden', path, detail);
export const invalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', `Invalid value: ${shown(value)}`, path, detail);
export const typeInvalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueTypeInvalid', `Invalid value: ${shown(value)}`, path, detail);
export const duplicate = (path: FieldPath, value: unknown): FieldError =>
  make('FieldValueDuplicate', `Duplicate value: ${shown(value)}`, path, '');
export const internalError = (path: FieldPath, detail: string): FieldError =>
  make('InternalError', 'Internal error', path, detail);
export const tooLongMaxLength = (path: FieldPath, maxLength: number): FieldError =>
  make('FieldValueTooLong', 'Too long', path, `may not be longer than ${maxLength}`);
export const tooMany = (path: FieldPath, actual: number, maximum: number): FieldError =>
  make('FieldValueTooMany', `Too many: ${actual}`, path, `must have at most ${maximum} items`);
export const notSupported = (path: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  make(
    'FieldValueNotSupported',
    `Unsupported value: ${shown(value)}`,
    path,
    supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`,
  );

/** `FIELD: BODY`, as it stands in the message of the Status. */
export const errorText = (error: FieldError): string => `${error.field}: ${error.message}`;
