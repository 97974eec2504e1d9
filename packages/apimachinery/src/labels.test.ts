import { describe, expect, it } from 'vitest';
import {
  everythingLabels,
  labelSelectorFromObject,
  labelSelectorFromSet,
  nothingLabels,
  parseLabelSelector,
} from './labels.ts';
import type { StringSet } from './selector.ts';
import { SelectorParseError } from './selector.ts';

describe('parseLabelSelector', () => {
  it('sorts requirements by key, and the values of a set', () => {
    expect(parseLabelSelector('z in (b,a),!y , a==1').toString()).toBe('a==1,!y,z in (a,b)');
  });

  it('gives the selector that matches everything for an empty text', () => {
    expect(parseLabelSelector('')).toBe(everythingLabels);
    expect(parseLabelSelector('  ')).toBe(everythingLabels);
  });

  it('throws an error with a code and the text, its message being what the server answers', () => {
    let caught: unknown;
    try {
      parseLabelSelector('app in (a');
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(SelectorParseError);
    expect(caught).toMatchObject({
      code: 'INVALID_SELECTOR',
      selector: 'app in (a',
      message: "unable to parse requirement: found '', expected: ',' or ')'",
    });
  });

  it('reports every bad value of a requirement, counted in sorted order', () => {
    expect(() => parseLabelSelector('a in (c,-b,-a)')).toThrow(
      /\[values\[0\]\[a\]: .*"-a".*, values\[1\]\[a\]: .*"-b"/,
    );
  });

  it('takes a key that every JavaScript object has for a label only when it is one', () => {
    expect(parseLabelSelector('constructor').matches({})).toBe(false);
    expect(parseLabelSelector('!constructor').matches({})).toBe(true);
    expect(parseLabelSelector('constructor').matches({ constructor: 'x' } as StringSet)).toBe(true);
    expect(labelSelectorFromSet(JSON.parse('{"__proto__":"x"}')).matches({})).toBe(false);
  });

  it('treats an object without labels as one with none', () => {
    expect(parseLabelSelector('!a').matches(undefined)).toBe(true);
    expect(parseLabelSelector('a').matches(undefined)).toBe(false);
  });

  it('compares as 64 bit integers', () => {
    const selector = parseLabelSelector('n>9007199254740992');
    expect(selector.matches({ n: '9007199254740993' })).toBe(true);
    expect(selector.matches({ n: '9007199254740992' })).toBe(false);
    expect(selector.matches({ n: '9223372036854775808' })).toBe(false);
  });
});

describe('requiresExactMatch', () => {
  it.each([
    ['a=b', 'b'],
    ['a==b', 'b'],
    ['a in (b)', 'b'],
    ['a=', ''],
    ['a in (b,c)', undefined],
    ['a!=b', undefined],
    ['a', undefined],
    ['b=a', undefined],
    ['a,a=b', undefined],
    ['', undefined],
  ])('of a in %s is %s', (text, expected) => {
    expect(parseLabelSelector(text).requiresExactMatch('a')).toBe(expected);
  });
});

describe('labelSelectorFromSet', () => {
  it('requires every label, checked or not, and everything from nothing', () => {
    expect(labelSelectorFromSet({ b: '-', a: '1' }).toString()).toBe('a=1,b=-');
    expect(labelSelectorFromSet({})).toBe(everythingLabels);
    expect(labelSelectorFromSet(undefined)).toBe(everythingLabels);
  });
});

describe('labelSelectorFromObject', () => {
  it('selects nothing when there is no selector, everything when it is empty', () => {
    expect(labelSelectorFromObject(undefined)).toBe(nothingLabels);
    expect(labelSelectorFromObject(null)).toBe(nothingLabels);
    expect(nothingLabels.matches({ a: 'b' })).toBe(false);
    expect(nothingLabels.empty).toBe(false);
    expect(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] })).toBe(everythingLabels);
  });

  it('joins labels and expressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['b', 'a'] },
        { key: 'debug', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.toString()).toBe('app=web,!debug,tier notin (a,b)');
    expect(selector.matches({ app: 'web', tier: 'c' })).toBe(true);
    expect(selector.matches({ app: 'web', tier: 'a' })).toBe(false);
  });
});
