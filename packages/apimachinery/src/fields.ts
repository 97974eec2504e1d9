// Field selectors: equality and inequality of the few fields a kind offers.
// Upstream: apimachinery@v0.30.3:pkg/fields/selector.go
import type { FieldRequirement, FieldSelector, StringSet } from './selector.ts';
import { SelectorParseError } from './selector.ts';

function makeSelector(given: readonly FieldRequirement[]): FieldSelector {
  const requirements = Object.freeze(given.map((one) => Object.freeze(one)));
  return Object.freeze<FieldSelector>({
    empty: requirements.length === 0,
    requirements,
    matches(fields) {
      for (const { field, operator, value } of requirements) {
        const actual = Object.hasOwn(fields, field) ? fields[field]! : '';
        if ((actual === value) !== (operator === '=')) return false;
      }
      return true;
    },
    requiresExactMatch: (field) => requirements.find((one) => one.operator === '=' && one.field === field)?.value,
    transform(map) {
      const mapped = requirements.flatMap(({ field, operator, value }) => {
        const result = map(field, value);
        return result === undefined || isBlank(result) ? [] : [{ field: result.field, operator, value: result.value }];
      });
      return mapped.length === 0 ? everythingFields : makeSelector(mapped);
    },
    toString: () =>
      requirements.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(','),
  });
}

/** A requirement that says nothing is dropped, as upstream does when it transforms one. */
function isBlank({ field, value }: { readonly field: string; readonly value: string }): boolean {
  return field === '' && value === '';
}

/** Matches every object. */
export const everythingFields: FieldSelector = makeSelector([]);

/** Each field must have that value; an empty or absent set matches everything. */
export function fieldSelectorFromSet(set: StringSet | undefined): FieldSelector {
  const entries = Object.entries(set ?? {});
  if (entries.length === 0) return everythingFields;
  return makeSelector(entries.map(([field, value]) => ({ field, operator: '=', value })));
}

/** Escapes a value for use in the text of a field selector: `\`, `,` and `=` get a backslash. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/**
 * Reads a selector such as `metadata.name=web,status.phase!=Running`. The empty text matches everything.
 * Which fields exist is not known here: pass the result through `transform`.
 *
 * @throws SelectorParseError with the words of the API server.
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everythingFields;
  const requirements: FieldRequirement[] = [];
  // Sorted, so that equal selectors have equal texts, and the first error is always the same.
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const requirement = parseTerm(text, term);
    if (!isBlank(requirement)) requirements.push(requirement);
  }
  return requirements.length === 0 ? everythingFields : makeSelector(requirements);
}

/** At commas without a backslash; the backslashes stay in the terms. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') {
      index++;
    } else if (text[index] === ',') {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** The first operator splits: a field name has no escapes. */
function parseTerm(selector: string, term: string): FieldRequirement {
  const parts = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
  if (parts === null) {
    throw new SelectorParseError(`invalid selector: '${selector}'; can't understand '${term}'`, selector);
  }
  const [, field, operator, escaped] = parts;
  return { field: field!, operator: operator === '!=' ? '!=' : '=', value: unescapeFieldValue(escaped!, selector) };
}

/** The value an escaped text stands for; what is not escaped correctly is refused. */
function unescapeFieldValue(escaped: string, selector: string): string {
  return escaped.replace(/\\(.?)|[,=]/gsu, (piece, after: string | undefined) => {
    if (after === undefined) {
      // Upstream prints the number of the character.
      const text = `invalid field selector: unescaped character in value: ${piece.charCodeAt(0)}`;
      throw new SelectorParseError(text, selector);
    }
    if (after === '\\' || after === ',' || after === '=') return after;
    throw new SelectorParseError(`invalid field selector: invalid escape sequence: ${piece}`, selector);
  });
}
