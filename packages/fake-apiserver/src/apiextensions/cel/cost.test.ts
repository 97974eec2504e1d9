// Worst-case and real costs of rules. The numbers are those of cel-go under Kubernetes 1.30.3.
import { describe, expect, it } from 'vitest';
import { newStructural } from '../schema/structural.ts';
import { compileRules } from './compile-rules.ts';
import { withTypeAndObjectMeta } from './decl-type.ts';
import { RuleBindings } from './rule-bindings.ts';

const TEXT = { type: 'string' };
const PROPERTIES = {
  a: { type: 'integer' },
  s: TEXT,
  bounded: { type: 'string', maxLength: 10 },
  bo: { type: 'boolean' },
  l: { type: 'array', items: TEXT },
  lm: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 4 } },
  m: { type: 'object', additionalProperties: { type: 'integer' } },
  lo: { type: 'array', maxItems: 4, items: { type: 'object', properties: { v: { type: 'integer' } } } },
};
const OBJECT = { a: 1, s: 'text', bounded: 'sm', bo: true, l: ['a', 'b'], lm: ['q', 'r'], m: { k: 5 }, lo: [{ v: 1 }] };

function costsOf(rule: string): { readonly worst: number; readonly real: number } {
  const schema = newStructural({
    type: 'object',
    properties: PROPERTIES,
    'x-kubernetes-validations': [{ rule }],
  });
  const [compiled] = compileRules(schema, true);
  if (compiled?.program === undefined) throw new Error(compiled?.error);
  const bindings = new RuleBindings(withTypeAndObjectMeta(schema), OBJECT, undefined);
  return { worst: compiled.maxCost, real: bindings.evaluate(compiled.program, false).cost };
}

describe('the cost of a rule', () => {
  it.each<[string, number, number]>([
    ['self.a == 1', 2, 3],
    ['self.bo ? self.a == 1 : self.a > 2', 5, 5],
    ["has(self.s) && self.s == 'text'", 4, 4],
    ["self.s.contains('ex')", 314575, 3],
    ["self.bounded.matches('^s')", 7, 3],
    ["self.s.matches('^t.*t$')", 629148, 4],
    ['self.a in [1, 2, 3]', 15, 2],
    ['self.bounded in self.lm', 9, 6],
    ['self.lm.all(x, x.size() == 1)', 33, 15],
    ['self.lm.all(x, self.lm.exists(y, x == y))', 233, 39],
    ["self.lm.map(x, x + 'y') == ['qy', 'ry']", 99, 32],
    ["self.lm.filter(x, x == 'q') == ['q']", 99, 21],
    ['self.lo.exists_one(x, x.v == 1)', 20, 9],
    ["self.lm.join(',').size() < 100", 13, 5],
    ["self.bounded.split('m').size() == 2", 12, 5],
    ["self.bounded.replace('s', 'tt') == 'ttm'", 11, 4],
    ['self.m.all(k, self.m[k] > 0)', 3595115, 10],
    ["sets.contains(self.lm, ['q'])", 18, 5],
    ['quantity(self.bounded).isInteger()', 7, 4],
    ["self.?bounded.orValue('') == 'sm'", 4, 3],
    ["timestamp('2020-01-01T00:00:00Z') < timestamp('2021-01-01T00:00:00Z')", 3, 1],
    ["self.l[9] == 'a'", 4, 4],
    ["{'k': self.a}['k'] == 1", 33, 35],
    ['[self.a].map(x, x + 1)[0] == 2', 38, 30],
  ])('%s', (rule, worst, real) => {
    expect(costsOf(rule)).toEqual({ worst, real });
  });
});
