import { describe, expect, it } from 'vitest';
import { errorText } from '../field-error.ts';
import type { JsonObject } from '../schema/json.ts';
import { newStructural } from '../schema/structural.ts';
import { CorrelatedObject } from './correlated-object.ts';
import { validateListTypes } from './list-type.ts';
import { validateValue } from './value-validator.ts';

const texts = (value: unknown, properties: JsonObject): string[] => {
  const schema = newStructural({ type: 'object', properties: { spec: { type: 'object', properties } } });
  return validateValue({ spec: value }, schema).map(errorText);
};

describe('value validation', () => {
  it.each([
    [
      { a: 'x' },
      { a: { type: 'integer' } },
      'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
    ],
    [
      { a: 1.5 },
      { a: { type: 'integer' } },
      'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
    ],
    [
      { a: null },
      { a: { type: 'string' } },
      'spec.a: Invalid value: "null": spec.a in body must be of type string: "null"',
    ],
    [
      { a: [] },
      { a: { 'x-kubernetes-int-or-string': true } },
      'spec.a: Invalid value: "array": spec.a in body must be of type integer,string: "array"',
    ],
    [{ a: 'abc' }, { a: { type: 'string', maxLength: 2 } }, 'spec.a: Too long: may not be longer than 2'],
    [
      { a: '' },
      { a: { type: 'string', minLength: 1 } },
      'spec.a: Invalid value: "": spec.a in body should be at least 1 chars long',
    ],
    [
      { a: 'B' },
      { a: { type: 'string', pattern: '^[a-z]+$' } },
      'spec.a: Invalid value: "B": spec.a in body should match \'^[a-z]+$\'',
    ],
    [
      { a: 8 },
      { a: { type: 'integer', maximum: 5 } },
      'spec.a: Invalid value: 8: spec.a in body should be less than or equal to 5',
    ],
    [
      { a: 1 },
      { a: { type: 'integer', minimum: 1, exclusiveMinimum: true } },
      'spec.a: Invalid value: 1: spec.a in body should be greater than 1',
    ],
    [
      { a: 7 },
      { a: { type: 'integer', multipleOf: 2 } },
      'spec.a: Invalid value: 7: spec.a in body should be a multiple of 2',
    ],
    [
      { a: 'z' },
      { a: { type: 'string', enum: ['x', 'y'] } },
      'spec.a: Unsupported value: "z": supported values: "x", "y"',
    ],
    [
      { a: [1, 2] },
      { a: { type: 'array', items: { type: 'integer' }, maxItems: 1 } },
      'spec.a: Too many: 2: must have at most 1 items',
    ],
    [
      { a: [] },
      { a: { type: 'array', items: { type: 'integer' }, minItems: 1 } },
      'spec.a: Invalid value: 0: spec.a in body should have at least 1 items',
    ],
    [
      { a: { x: 1, y: 1 } },
      { a: { type: 'object', additionalProperties: {}, maxProperties: 1 } },
      'spec.a: Too many: 2: must have at most 1 items',
    ],
    [{ a: {} }, { a: { type: 'object', required: ['k'] } }, 'spec.a.k: Required value'],
    [
      { a: 'no' },
      { a: { type: 'string', format: 'date-time' } },
      'spec.a: Invalid value: "no": spec.a in body must be of type date-time: "no"',
    ],
    [
      { a: [{ b: 1 }] },
      { a: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } } },
      'spec.a[0].b: Invalid value: "integer": spec.a[0].b in body must be of type string: "integer"',
    ],
  ])('tells what is wrong with %j', (value, properties, text) => {
    expect(texts(value, properties as JsonObject)).toEqual([text]);
  });

  it('accepts integers as numbers, whole floats as integers and formats nobody knows', () => {
    expect(
      texts(
        { a: 5, b: 5.0, c: 'x' },
        { a: { type: 'number' }, b: { type: 'integer' }, c: { type: 'string', format: 'strange' } },
      ),
    ).toEqual([]);
  });

  it('reports junctors at the root and shows the nearest alternative of anyOf', () => {
    expect(texts({ a: 'x' }, { a: { type: 'string', anyOf: [{ minLength: 3 }, { pattern: '^y' }] } })).toEqual([
      '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
      'spec.a: Invalid value: "x": spec.a in body should be at least 3 chars long',
    ]);
    expect(texts({ a: 'x' }, { a: { type: 'string', oneOf: [{ minLength: 1 }, { maxLength: 3 }] } })).toEqual([
      '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]);
    expect(texts({ a: 'x' }, { a: { type: 'string', not: { enum: ['x'] } } })).toEqual([
      '<nil>: Invalid value: "": "spec.a" must not validate the schema (not)',
    ]);
    expect(texts({ a: 'x' }, { a: { type: 'string', allOf: [{ minLength: 2 }] } })).toEqual([
      'spec.a: Invalid value: "x": spec.a in body should be at least 2 chars long',
      '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None validated',
    ]);
  });

  it('forgives what did not change, by field and by the key of a map list', () => {
    const schema = newStructural({
      type: 'object',
      properties: {
        n: { type: 'integer', maximum: 5 },
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer', maximum: 5 } } },
        },
      },
    });
    const old = {
      n: 9,
      l: [
        { k: 'a', v: 9 },
        { k: 'b', v: 1 },
      ],
    };
    const check = (value: unknown): string[] =>
      validateValue(value, schema, { correlation: new CorrelatedObject(value, old, schema) }).map(errorText);
    expect(
      check({
        n: 9,
        l: [
          { k: 'b', v: 2 },
          { k: 'a', v: 9 },
        ],
      }),
    ).toEqual([]);
    expect(check({ n: 8, l: [{ k: 'b', v: 9 }] })).toEqual([
      'n: Invalid value: 8: n in body should be less than or equal to 5',
      'l[0].v: Invalid value: 9: l[0].v in body should be less than or equal to 5',
    ]);
  });

  it('finds a repeated element once, at its second place', () => {
    const schema = newStructural({
      type: 'object',
      properties: {
        s: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        m: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object' },
        },
      },
    });
    expect(validateListTypes({ s: ['x', 'x', 'x'], m: [{ k: 'a' }, { k: 'a' }] }, schema).map(errorText)).toEqual([
      's[1]: Duplicate value: "x"',
      'm[1]: Duplicate value: map[string]interface {}{"k":"a"}',
    ]);
  });
});
