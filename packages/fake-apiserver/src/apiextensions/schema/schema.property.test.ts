// Pruning and defaulting of any value under any schema.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDefaults, dropNulls } from './defaulting.ts';
import type { JsonObject } from './json.ts';
import { pruneUnknownFields } from './pruning.ts';
import { newStructural } from './structural.ts';

const NAMES = ['a', 'b', 'c'];
const name = fc.constantFrom(...NAMES);

const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.record({ type: fc.constant('string'), default: fc.constant('d') }, { requiredKeys: ['type'] }),
    fc.record(
      { type: fc.constant('integer'), nullable: fc.boolean(), default: fc.constant(1) },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(name, tie('schema')),
        'x-kubernetes-preserve-unknown-fields': fc.constant(true),
        default: fc.constant({}),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
}));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 1, 'x', true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, 'z'), tie('value')),
  ),
}));

const prune = (of: unknown, under: JsonObject): unknown => pruneUnknownFields(of, newStructural(under), false).value;
const defaulted = (of: unknown, under: JsonObject): unknown => applyDefaults(of, newStructural(under));

describe('any value under any schema', () => {
  it('is pruned once and for all, and told what went', () => {
    fc.assert(
      fc.property(schema, value, (under, of) => {
        const before = JSON.stringify(of);
        const { value: pruned, unknownFields } = pruneUnknownFields(of, newStructural(under), false);
        expect(JSON.stringify(of)).toBe(before);
        expect(pruneUnknownFields(pruned, newStructural(under), false)).toEqual({ value: pruned, unknownFields: [] });
        expect(unknownFields.length === 0).toBe(JSON.stringify(pruned) === before);
      }),
    );
  });

  it('takes defaults once, and keeps what it had', () => {
    fc.assert(
      fc.property(schema, value, (under, of) => {
        const before = JSON.stringify(of);
        const full = defaulted(of, under);
        expect(JSON.stringify(of)).toBe(before);
        expect(defaulted(full, under)).toEqual(full);
        if (JSON.stringify(full) === before) expect(full).toBe(of);
      }),
    );
  });

  it('has no nulls left where the schema knows none, and pruning does not bring any back', () => {
    fc.assert(
      fc.property(schema, value, (under, of) => {
        const dropped = dropNulls(prune(of, under), newStructural(under));
        expect(dropNulls(dropped, newStructural(under))).toEqual(dropped);
        expect(prune(dropped, under)).toEqual(dropped);
      }),
    );
  });
});
