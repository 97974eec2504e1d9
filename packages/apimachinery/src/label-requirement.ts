// One condition of a label selector: checked when made, cheap to evaluate.
// Upstream: apimachinery@v0.30.3:pkg/labels/selector.go#NewRequirement
import { goQuote } from './go-quote.ts';
import type { LabelOperator, LabelRequirement, StringSet } from './selector.ts';
import { isQualifiedName, isValidLabelValue } from './validation.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** What is wrong with a key, in the form `PATH: Invalid value: ...`; undefined when nothing is. */
export function labelKeyError(path: string, key: string): string | undefined {
  const messages = isQualifiedName(key);
  return messages.length === 0 ? undefined : invalid(path, goQuote(key), messages.join('; '));
}

/**
 * All that is wrong with a requirement, as one text: errors are joined as `[A, B]`, equal ones given once.
 * Undefined when nothing is.
 */
export function labelRequirementError({ key, operator, values }: LabelRequirement): string | undefined {
  const errors: (string | undefined)[] = [labelKeyError('key', key), operandsError(operator, values)];
  if (operator === 'gt' || operator === 'lt') {
    values.forEach((value, index) => {
      if (parseInt64(value) !== undefined) return;
      const text = "for 'Gt', 'Lt' operators, the value must be an integer";
      errors.push(invalid(`values[${index}]`, goQuote(value), text));
    });
  }
  values.forEach((value, index) => {
    const messages = isValidLabelValue(value);
    if (messages.length > 0) errors.push(invalid(`values[${index}][${key}]`, goQuote(value), messages.join('; ')));
  });
  const distinct = [...new Set(errors.filter((error) => error !== undefined))];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : distinct[0];
}

function operandsError(operator: LabelOperator, values: readonly string[]): string | undefined {
  const text = wrongCountText(operator, values.length);
  return text === undefined ? undefined : invalid('values', goStringSlice(values), text);
}

function wrongCountText(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case '=':
    case '==':
    case '!=':
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case 'gt':
    case 'lt':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
  }
}

function invalid(path: string, value: string, text: string): string {
  return `${path}: Invalid value: ${value}: ${text}`;
}

/** Go's `%#v` of a string slice. */
function goStringSlice(values: readonly string[]): string {
  return values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`;
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** The requirement as a function, with all that can be worked out beforehand worked out. */
export function labelMatcher({ key, operator, values }: LabelRequirement): (labels: StringSet) => boolean {
  switch (operator) {
    case '=':
    case '==':
    case 'in': {
      if (values.length !== 1) return (labels) => Object.hasOwn(labels, key) && values.includes(labels[key]!);
      const only = values[0]!;
      return (labels) => labels[key] === only && Object.hasOwn(labels, key);
    }
    case '!=':
    case 'notin':
      return (labels) => !Object.hasOwn(labels, key) || !values.includes(labels[key]!);
    case 'exists':
      return (labels) => Object.hasOwn(labels, key);
    case '!':
      return (labels) => !Object.hasOwn(labels, key);
    case 'gt':
    case 'lt': {
      const bound = values.length === 1 ? parseInt64(values[0]!) : undefined;
      return (labels) => {
        const value = Object.hasOwn(labels, key) ? parseInt64(labels[key]!) : undefined;
        if (value === undefined || bound === undefined) return false;
        return operator === 'gt' ? value > bound : value < bound;
      };
    }
  }
}

/** `app=web`, `app in (a,b)`, `!app`: values are sorted, so that equal requirements have equal texts. */
export function formatLabelRequirement({ key, operator, values }: LabelRequirement): string {
  const sorted = values.length > 1 ? [...values].sort() : values;
  const list = sorted.join(',');
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`;
    case 'gt':
      return `${key}>${list}`;
    case 'lt':
      return `${key}<${list}`;
    case '=':
    case '==':
    case '!=':
      return `${key}${operator}${list}`;
  }
}
