import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './labels.ts';
import type { LabelRequirement, LabelSelector, StringSet } from './selector.ts';
import { SelectorParseError } from './selector.ts';

const key = fc.constantFrom('a', 'b', 'in', 'notin', 'x.io/c', 'constructor');
const value = fc.constantFrom('', '1', '-5', '20', 'v', 'in', 'A.b_c-d');
const realValue = value.filter((text) => !text.startsWith('-'));
const integer = fc.integer({ min: 0, max: 30 }).map(String);

const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.uniqueArray(realValue, { minLength: 1, maxLength: 4 }).map((values) => values.sort()),
  }),
  fc.record({
    key,
    operator: fc.constantFrom('=' as const, '==' as const, '!=' as const),
    values: fc.tuple(realValue),
  }),
  fc.record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.tuple(integer) }),
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
);

function write({ key: name, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return name;
  if (operator === '!') return `! ${name}`;
  if (operator === 'in' || operator === 'notin') return `${name} ${operator} ( ${values.join(' ,')} )`;
  return `${name}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${values[0]}`;
}

/** The meaning of a requirement, said as plainly as possible. */
function holds({ key: name, operator, values }: LabelRequirement, labels: StringSet): boolean {
  const has = Object.hasOwn(labels, name);
  const actual = has ? labels[name]! : '';
  const number = /^-?[0-9]+$/.test(actual) ? Number(actual) : Number.NaN;
  switch (operator) {
    case 'exists':
      return has;
    case '!':
      return !has;
    case 'gt':
      return has && number > Number(values[0]);
    case 'lt':
      return has && number < Number(values[0]);
    case '!=':
    case 'notin':
      return !has || !values.includes(actual);
    default:
      return has && values.includes(actual);
  }
}

const labelSet = fc.dictionary(key, value, { noNullPrototype: false });

function readOrRefuse(text: string): LabelSelector | undefined {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SelectorParseError);
    return undefined;
  }
}

describe('label selectors', () => {
  it('match exactly what their requirements say', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 5 }), labelSet, (requirements, labels) => {
        const selector = parseLabelSelector(requirements.map(write).join(','));
        expect(selector.matches(labels)).toBe(requirements.every((one) => holds(one, labels)));
      }),
    );
  });

  it('mean the same after they are written and read again', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 5 }), (requirements) => {
        const selector = parseLabelSelector(requirements.map(write).join(', '));
        const again = parseLabelSelector(selector.toString());
        expect(again.requirements).toEqual(selector.requirements);
        expect(selector.requirements).toHaveLength(requirements.length);
      }),
    );
  });

  it('are either read or refused with SelectorParseError, whatever the text', () => {
    const piece = fc.constantFrom(
      'a',
      ' in ',
      ' notin ',
      '(',
      ')',
      ',',
      '=',
      '!',
      '<',
      '>',
      '-',
      '"',
      '\0',
      'é',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map((list) => list.join('')),
        ),
        (text) => {
          const selector = readOrRefuse(text);
          if (selector !== undefined)
            expect(parseLabelSelector(selector.toString()).toString()).toBe(selector.toString());
        },
      ),
      { numRuns: 500 },
    );
  });
});
