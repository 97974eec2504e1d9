import { describe, expect, it } from 'vitest';
import { errorText } from '../field-error.ts';
import type { JsonObject } from '../schema/json.ts';
import { newStructural } from '../schema/structural.ts';
import { CorrelatedObject } from '../validation/correlated-object.ts';
import { CelValidator } from './cel-validator.ts';
import { compileRules } from './compile-rules.ts';

const PROPERTIES: JsonObject = {
  a: { type: 'integer' },
  b: { type: 'integer' },
  d: { type: 'number' },
  s: { type: 'string' },
  t: { type: 'string', format: 'date-time' },
  dur: { type: 'string', format: 'duration' },
  l: { type: 'array', items: { type: 'string' } },
  n: { type: 'array', items: { type: 'integer' } },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  m: { type: 'object', additionalProperties: { type: 'integer' } },
  o: {
    type: 'object',
    properties: { x: { type: 'string' }, namespace: { type: 'string' }, 'a-b': { type: 'string' } },
  },
  ios: { 'x-kubernetes-int-or-string': true },
};
const schemaWith = (rule: object): ReturnType<typeof newStructural> =>
  newStructural({ type: 'object', properties: PROPERTIES, 'x-kubernetes-validations': [rule] });

const compileError = (rule: string): string | undefined => compileRules(schemaWith({ rule }), false)[0]!.error;
const holds = (rule: string, value: unknown): string[] => {
  const schema = schemaWith({ rule });
  return CelValidator.of(schema, false)!.validate('spec', schema, value, {}).map(errorText);
};

describe('CEL rules', () => {
  it.each([
    ['self.none > 1', "undefined field 'none'", 5],
    ["self.a + 'x' == 1", "found no matching overload for '_+_' applied to '(int, string)'", 8],
    ['other == 1', "undeclared reference to 'other' (in container '')", 1],
    ["self.s.foo('x')", "undeclared reference to 'foo' (in container '')", 11],
    ['self.s.contains(1)', "found no matching overload for 'contains' applied to 'string.(int)'", 16],
    ['self.a.x == 1', "type 'int' does not support field selection", 7],
    [
      'self.a.all(x, x > 1)',
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
      5,
    ],
    ['self.l.all(x, x)', "expected type 'bool' but found 'string'", 15],
    ["[1, 'a'] == []", "expected type 'int' but found 'string'", 5],
    ["self.s.matches('[')", 'invalid matches argument', 16],
    ["duration('x') == self.dur", 'invalid duration argument', 10],
  ])('says where %s is wrong', (rule, message, column) => {
    const dots = '.'.repeat(column - 1);
    expect(compileError(rule)).toBe(
      `compilation failed: ERROR: <input>:1:${column}: ${message}\n | ${rule}\n | ${dots}^`,
    );
  });

  it('refuses text that is no expression, and rules that are no condition', () => {
    expect(compileError('self.a >')).toContain(
      "ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{',",
    );
    expect(compileError('self.a')).toBe('cel expression must evaluate to a bool');
    expect(compileError('self.a == 1 self')).toContain("extraneous input 'self' expecting <EOF>");
    // An operator alone is told of, and what lacks behind it.
    for (const text of ["1:1: Syntax error: mismatched input '*'", "1:2: Syntax error: mismatched input '<EOF>'"])
      expect(compileError('*')).toContain(text);
  });

  it.each([
    ['self.a <= self.b && self.d > 1.0'],
    ["has(self.s) && !has(self.o) && self.s == 'text'"],
    ["self.s.startsWith('te') && self.s.endsWith('xt') && self.s.contains('ex') && self.s.matches('^[a-z]+$')"],
    ["self.l.all(x, x.size() == 1) && self.l.exists(x, x == 'b') && self.l.exists_one(x, x == 'a')"],
    [
      "self.l.map(x, x + '!') == ['a!', 'b!'] && self.n.filter(x, x > 1).size() == 2 && self.n.map(x, x > 1, x * 2) == [4, 6]",
    ],
    ["self.n.sum() == 6 && self.n.max() == 3 && self.n.isSorted() && self.l.indexOf('b') == 1"],
    ["'k' in self.m && self.m.k == 5 && self.m['k'] == 5 && self.m.all(k, self.m[k] > 0)"],
    ['type(self.ios) == int && self.ios > 1 && self.ios == 2.0'],
    ['self.a / 2 == 0 && self.a % 2 == 1 && -self.a == -1 && self.n[0] == 1'],
    ["self.t > timestamp('2020-01-01T00:00:00Z') && self.t.getFullYear() == 2021 && self.dur == duration('90m')"],
    ["self.s.split('e')[1] == 'xt' && self.l.join('-') == 'a-b' && self.s.replace('t', 'T', 1) == 'Text'"],
    [
      "self.s.charAt(1) == 'e' && self.s.substring(1, 3) == 'ex' && self.s.upperAscii() == 'TEXT' && ' x '.trim() == 'x'",
    ],
    ["self.set == ['b', 'a'] && sets.contains(self.set, ['a'])"],
    ["quantity('1Ki').isGreaterThan(quantity('1k')) && isQuantity('5') && !isQuantity('x')"],
    ["url('https://h.test:80/p?q=1').getHostname() == 'h.test' && isURL('/x') && !isURL('x')"],
    ["'abc123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']"],
    ["string(self.a) == '1' && int('5') == 5 && double(self.a) == 1.0 && dyn(self.a) == 1"],
    ["self.?s.orValue('none') == 'text' && !self.?o.hasValue() && optional.of(1).value() == 1"],
    ["'%s is %d'.format([dyn('x'), dyn(1)]) == 'x is 1'"],
    ['self.a > 0 ? true : self.none_is_not_looked_at'.replace('self.none_is_not_looked_at', 'self.n[9] > 1')],
    ['self.n[9] > 1 || self.a == 1'],
    ["r'\\d' == '\\\\d' && b'ab' == b'ab' && 0x10 == 16 && 1u == 1u"],
  ])('holds: %s', (rule) => {
    const value = {
      a: 1,
      b: 2,
      d: 1.5,
      s: 'text',
      t: '2021-05-01T10:00:00Z',
      dur: '1h30m',
      l: ['a', 'b'],
      n: [1, 2, 3],
      set: ['a', 'b'],
      m: { k: 5 },
      ios: 2,
    };
    expect(compileError(rule)).toBeUndefined();
    expect(holds(rule, value)).toEqual([]);
  });

  it.each([
    ['self.a <= self.b', { b: 1 }, 'no such key: a evaluating rule: self.a <= self.b'],
    ['self.n[5] == 1', { n: [1] }, 'index out of bounds: 5 evaluating rule: self.n[5] == 1'],
    ['self.a / 0 == 1', { a: 1 }, 'division by zero evaluating rule: self.a / 0 == 1'],
    [
      'self.a + 9223372036854775807 > 0',
      { a: 1 },
      'integer overflow evaluating rule: self.a + 9223372036854775807 > 0',
    ],
    ['self.n.max() > 0', { n: [] }, 'max called on empty list evaluating rule: self.n.max() > 0'],
    ['int(self.s) > 0', { s: 'x' }, "type conversion error from 'string' to 'int' evaluating rule: int(self.s) > 0"],
    [
      'self.ios.size() > 0',
      { ios: 5 },
      "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.ios.size() > 0",
    ],
    ['self.a == 2', { a: 1 }, 'failed rule: self.a == 2'],
  ])('tells how %s fails', (rule, value, detail) => {
    expect(holds(rule, value)).toEqual([`spec: Invalid value: "object": ${detail}`]);
  });

  it('reaches fields whose names are no identifiers', () => {
    const value = { o: { x: '1', namespace: '2', 'a-b': '3' } };
    expect(holds("self.o.__namespace__ == '2' && self.o.a__dash__b == '3'", value)).toEqual([]);
  });

  it('uses message, messageExpression, reason and fieldPath', () => {
    const rule = {
      rule: 'self.a < 5',
      messageExpression: "'a is ' + string(self.a)",
      reason: 'FieldValueForbidden',
      fieldPath: '.a',
    };
    const schema = schemaWith(rule);
    const validate = (value: unknown): string[] =>
      CelValidator.of(schema, false)!.validate('spec', schema, value, {}).map(errorText);
    expect(validate({ a: 7 })).toEqual(['spec.a: Forbidden: a is 7']);
    const plain = schemaWith({ rule: 'self.a < 5', message: ' too large ' });
    expect(CelValidator.of(plain, false)!.validate('spec', plain, { a: 7 }, {}).map(errorText)).toEqual([
      'spec: Invalid value: "object": too large',
    ]);
  });

  it('runs a rule on oldSelf only when there is an old value', () => {
    const schema = newStructural({
      type: 'object',
      properties: {
        im: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cannot change' }] },
      },
    });
    const validator = CelValidator.of(schema, false)!;
    expect(validator.validate('spec', schema, { im: 'a' }, {})).toEqual([]);
    expect(validator.validate('spec', schema, { im: 'a' }, { old: {} })).toEqual([]);
    expect(validator.validate('spec', schema, { im: 'a' }, { old: { im: 'b' } }).map(errorText)).toEqual([
      'spec.im: Invalid value: "string": cannot change',
    ]);
  });

  it('turns the errors of unchanged parts into warnings', () => {
    const schema = newStructural({
      type: 'object',
      properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5' }] }, b: { type: 'string' } },
    });
    const validator = CelValidator.of(schema, false)!;
    const warnings: string[] = [];
    const check = (value: unknown): string[] => {
      const old = { a: 9, b: 'x' };
      const correlation = new CorrelatedObject(value, old, schema);
      const warn = (text: string): void => void warnings.push(text);
      return validator.validate(undefined, schema, value, { old, correlation, warn }).map(errorText);
    };
    expect(check({ a: 9, b: 'y' })).toEqual([]);
    expect(warnings).toEqual(['a: Invalid value: "integer": failed rule: self < 5']);
    expect(check({ a: 8, b: 'y' })).toEqual(['a: Invalid value: "integer": failed rule: self < 5']);
  });

  it('stops when a rule costs too much', () => {
    const value = { n: Array.from({ length: 1500 }, (_, at) => at) };
    const rule = 'self.n.all(x, self.n.exists(y, y == x + 5000) || true)';
    expect(holds(rule, value)).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
    ]);
  });
});
