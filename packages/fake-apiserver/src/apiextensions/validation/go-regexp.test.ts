import { describe, expect, it } from 'vitest';
import { compileGoRegexp } from './go-regexp.ts';

describe('compileGoRegexp', () => {
  it.each([
    ['^[a-z]([-a-z0-9]*[a-z0-9])?$', ['a', 'a-1'], ['-a', 'A']],
    ['(?i)^abc$', ['ABC', 'abc'], ['ab']],
    ['^\\d{3}-\\w+\\z', ['123-a_b'], ['12-a', '123-']],
    ['^[[:alpha:]]+$', ['abC'], ['a1']],
    ['^(?P<year>\\d+)$', ['2024'], ['x']],
    ['\\Qa.b\\E', ['a.b'], ['axb']],
    ['^\\pL+$', ['ähß'], ['1']],
    ['^[^\\s/]+$', ['ab'], ['a b', 'a/b']],
    ['^[\\w.-]+$', ['a.b-c'], ['a b']],
    ['^https?:\\/\\/', ['http://x', 'https://x'], ['ftp://x']],
    ['^a{2,3}?$', ['aa', 'aaa'], ['a']],
    ['^[]a]$', [']', 'a'], ['b']],
    ['^(?s:.)$', ['\n'], ['ab']],
    ['^.$', ['x', '💥'], ['\n']],
    ['^\\x41\\x{1F600}$', ['A😀'], ['B']],
    ['^[+-]?[0-9]+\\.?$', ['+1.', '-2'], ['x']],
  ] as const)('matches as Go does: %s', (pattern, yes, no) => {
    for (const text of yes) expect(compileGoRegexp(pattern).test(text), text).toBe(true);
    for (const text of no) expect(compileGoRegexp(pattern).test(text), text).toBe(false);
  });

  it.each([
    ['a(', 'missing closing ): `a(`'],
    ['a)', 'unexpected ): `a)`'],
    ['[a', 'missing closing ]: `[a`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['\\8', 'invalid escape sequence: `\\8`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
  ])('refuses %s', (pattern, text) => {
    expect(() => compileGoRegexp(pattern)).toThrow(`error parsing regexp: ${text}`);
  });

  it('finds matches as Go does, also empty ones', () => {
    expect(compileGoRegexp('a*').findAll('baac')).toEqual(['', 'aa', '']);
    expect(compileGoRegexp('[0-9]+').find('ab12cd3')).toBe('12');
    expect(compileGoRegexp('x').find('ab')).toBeUndefined();
  });

  it('takes time linear in the text where a backtracking engine would hang', () => {
    const text = `${'a'.repeat(5_000)}!`;
    expect(compileGoRegexp('^(a+)+$').test(text)).toBe(false);
    expect(compileGoRegexp('^(a|aa)+$').test(text)).toBe(false);
  });
});
