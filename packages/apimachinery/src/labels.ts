// Label selectors: the text form of queries, the object form of specs, and sets of labels that must all be there.
// Upstream: apimachinery@v0.30.3:pkg/labels/selector.go, pkg/apis/meta/v1/helpers.go#LabelSelectorAsSelector
import { goQuote } from './go-quote.ts';
import { formatLabelRequirement, labelKeyError, labelMatcher, labelRequirementError } from './label-requirement.ts';
import type { LabelOperator, LabelRequirement, LabelSelector, StringSet } from './selector.ts';
import { SelectorParseError } from './selector.ts';
import type { SelectorToken } from './selector-lexer.ts';
import { lexSelector } from './selector-lexer.ts';

const NO_LABELS: StringSet = Object.freeze(Object.create(null) as Record<string, string>);

function makeSelector(unsorted: readonly LabelRequirement[]): LabelSelector {
  const requirements = Object.freeze(
    [...unsorted].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map((one) => Object.freeze(one)),
  );
  const matchers = requirements.map(labelMatcher);
  return Object.freeze<LabelSelector>({
    empty: requirements.length === 0,
    requirements,
    matches(labels) {
      const set = labels ?? NO_LABELS;
      for (const matcher of matchers) if (!matcher(set)) return false;
      return true;
    },
    requiresExactMatch(key) {
      // Only the first requirement of a key counts.
      const first = requirements.find((one) => one.key === key);
      if (first === undefined || first.values.length !== 1) return undefined;
      const exact = first.operator === '=' || first.operator === '==' || first.operator === 'in';
      return exact ? first.values[0] : undefined;
    },
    toString: () => requirements.map(formatLabelRequirement).join(','),
  });
}

/** Matches every object. */
export const everythingLabels: LabelSelector = makeSelector([]);

/** Matches no object: what a spec without a selector selects. */
export const nothingLabels: LabelSelector = Object.freeze<LabelSelector>({
  empty: false,
  requirements: Object.freeze([]),
  matches: () => false,
  requiresExactMatch: () => undefined,
  toString: () => '',
});

/** Each label must be there with that value. Keys and values are not checked; an empty set matches everything. */
export function labelSelectorFromSet(set: StringSet | undefined): LabelSelector {
  const entries = Object.entries(set ?? {});
  if (entries.length === 0) return everythingLabels;
  return makeSelector(entries.map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

/** A `metav1.LabelSelector` as it is in the spec of a Deployment. */
export interface LabelSelectorObject {
  readonly matchLabels?: StringSet | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

const OBJECT_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map<string, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * The selector of a spec: undefined selects nothing, an empty one everything.
 *
 * @throws SelectorParseError for an unknown operator, or a key or values that are not valid.
 */
export function labelSelectorFromObject(selector: LabelSelectorObject | undefined | null): LabelSelector {
  if (selector === undefined || selector === null) return nothingLabels;
  const requirements: LabelRequirement[] = [];
  const add = (requirement: LabelRequirement): void => {
    const error = labelRequirementError(requirement);
    if (error !== undefined) throw new SelectorParseError(error, '');
    requirements.push(requirement);
  };
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) add({ key, operator: '=', values: [value] });
  for (const { key, operator: name, values } of selector.matchExpressions ?? []) {
    const operator = OBJECT_OPERATORS.get(name);
    if (operator === undefined) {
      throw new SelectorParseError(`${goQuote(name)} is not a valid label selector operator`, '');
    }
    add({ key, operator, values: [...(values ?? [])] });
  }
  return requirements.length === 0 ? everythingLabels : makeSelector(requirements);
}

/**
 * Reads a selector such as `app=web,tier in (a,b),!debug,size>3`. The empty text matches everything.
 *
 * @throws SelectorParseError with the words of the API server.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everythingLabels;
  const requirements = new LabelParser(text).parse();
  return requirements.length === 0 ? everythingLabels : makeSelector(requirements);
}

const BINARY_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map<string, LabelOperator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** Recursive descent over the tokens. `in` and `notin` are words except in the place of an operator. */
class LabelParser {
  readonly #text: string;
  readonly #tokens: readonly SelectorToken[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = lexSelector(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return requirements;
    if (!this.#startsRequirement()) throw this.#unexpected(this.#peek(), "!, identifier, or 'end of string'");
    for (;;) {
      requirements.push(this.#requirement());
      const separator = this.#next();
      if (separator.kind === 'end') return requirements;
      if (separator.kind !== ',') throw this.#unexpected(separator, "',' or 'end of string'");
      if (!this.#startsRequirement()) throw this.#unexpected(this.#peek(), "identifier after ','");
    }
  }

  #startsRequirement(): boolean {
    const token = this.#peek();
    return isWord(token) || token.kind === '!';
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!';
    if (negated) this.#next();
    const key = this.#next();
    if (!isWord(key)) throw this.#badRequirement(`found '${key.text}', expected: identifier`);
    const keyError = labelKeyError('<nil>', key.text);
    if (keyError !== undefined) throw this.#badRequirement(keyError);
    if (negated) return { key: key.text, operator: '!', values: [] };
    const after = this.#peek().kind;
    if (after === 'end' || after === ',') return { key: key.text, operator: 'exists', values: [] };

    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#valueList() : [this.#exactValue()];
    const requirement: LabelRequirement = { key: key.text, operator, values: [...new Set(values)].sort() };
    const error = labelRequirementError(requirement);
    if (error !== undefined) throw this.#badRequirement(error);
    return requirement;
  }

  #operator(): LabelOperator {
    const token = this.#next();
    const operator = BINARY_OPERATORS.get(token.kind);
    if (operator === undefined) {
      throw this.#badRequirement(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    return operator;
  }

  /** Nothing before a comma or the end is the empty value. */
  #exactValue(): string {
    const token = this.#peek();
    if (token.kind === 'end' || token.kind === ',') return '';
    this.#next();
    if (!isWord(token)) throw this.#badRequirement(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /**
   * `(a,b)`; a missing element, also of `()`, is the empty value.
   *
   * NB: as upstream, two commas in a row count as one separator around an empty value, which `)` may not follow:
   * `(a,)` and `(a,,,)` are fine, `(a,,)` is not.
   */
  #valueList(): string[] {
    const open = this.#next();
    if (open.kind !== '(') throw this.#badRequirement(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#next();
      return [''];
    }
    if (first.kind !== ',' && !isWord(first)) {
      throw this.#badRequirement(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      const token = this.#next();
      const after = this.#peek();
      if (isWord(token)) {
        values.push(token.text);
        if (after.kind !== ',' && after.kind !== ')') {
          throw this.#badRequirement(`found '${after.text}', expected: ',' or ')'`);
        }
      } else if (token.kind === ',') {
        if (values.length === 0 || after.kind === ',' || after.kind === ')') values.push('');
        if (after.kind === ',') {
          this.#next();
          continue;
        }
      } else {
        throw this.#badRequirement(`found '${token.text}', expected: ',', or identifier`);
      }
      if (after.kind === ')') {
        this.#next();
        return values;
      }
    }
  }

  #peek(): SelectorToken {
    return this.#tokens[this.#position]!;
  }

  /** The end is never passed: asking again gives the end again. */
  #next(): SelectorToken {
    const token = this.#tokens[this.#position]!;
    if (token.kind !== 'end') this.#position++;
    return token;
  }

  #unexpected(token: SelectorToken, expected: string): SelectorParseError {
    return new SelectorParseError(`found '${token.text}', expected: ${expected}`, this.#text);
  }

  #badRequirement(why: string): SelectorParseError {
    return new SelectorParseError(`unable to parse requirement: ${why}`, this.#text);
  }
}

function isWord(token: SelectorToken): boolean {
  return token.kind === 'word' || token.kind === 'in' || token.kind === 'notin';
}
