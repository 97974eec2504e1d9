// Values as structured merge handles them: plain JSON, undefined for absent.
import { isObject } from '../patch/json-value.ts';
import { goDynamicType } from '../schema/go-dynamic-type.ts';
import { type PathElement, printPathElement } from './path-element.ts';

export type JsonMap = Readonly<Record<string, unknown>>;

/** An object that breaks the rules of its type; the message has upstream's form. */
export class SmdError extends Error {
  override readonly name = 'SmdError';
}

/** An object that exists in no such version: its managedFields cannot be kept. */
export class VersionError extends SmdError {}

export interface SmdIssue {
  readonly path: string;
  readonly message: string;
}

/** One issue stands alone, several are listed under `errors:`. */
export function printIssues(issues: readonly SmdIssue[]): string {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return texts.length === 1 ? texts[0]! : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}

export const issue = (message: string): SmdIssue[] => [{ path: '', message }];

/** The issues as seen from above; the element is only printed when there are any. */
export function prefixed(element: PathElement, issues: readonly SmdIssue[]): readonly SmdIssue[] {
  if (issues.length === 0) return issues;
  const prefix = printPathElement(element);
  return issues.map(({ path, message }) => ({ path: prefix + path, message }));
}

export const NO_ISSUES: readonly SmdIssue[] = [];

/** Undefined for anything but an object. */
export function asMap(value: unknown): JsonMap | undefined {
  return isObject(value) ? value : undefined;
}

export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A value in Go syntax, as `%#v` prints it. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isObject(value)) {
    const entries = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
    return `map[string]interface {}{${entries.join(', ')}}`;
  }
  return String(value);
}

/** Dynamic Go type of a decoded JSON value. */
export function goTypeOf(value: unknown): string {
  return value === null || value === undefined ? '<nil>' : goDynamicType(value);
}
