import { describe, expect, it } from 'vitest';
import { pruneResource, pruneUnknownFields } from './pruning.ts';
import { newStructural } from './structural.ts';

const schema = newStructural({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object' } },
        },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
        emb: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      },
    },
  },
});

describe('pruning', () => {
  it('drops what the schema does not know and names it, sorted', () => {
    const object = {
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: { name: 'a', whatever: 1 },
      spec: { z: 1, n: 2, list: [{ a: 'x', b: 1 }], map: { k: { a: 'x', c: 1 } } },
      extra: true,
    };
    const { object: pruned, unknownFields } = pruneResource(object, schema);
    expect(pruned).toEqual({
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: { name: 'a', whatever: 1 },
      spec: { n: 2, list: [{ a: 'x' }], map: { k: { a: 'x' } } },
    });
    expect(unknownFields).toEqual(['extra', 'spec.list[0].b', 'spec.map.k.c', 'spec.z']);
  });

  it('keeps everything below x-kubernetes-preserve-unknown-fields except inside of what is named there', () => {
    const { object } = pruneResource({ spec: { free: { any: { deep: 1 }, known: { gone: 1 } } } }, schema);
    expect(object).toEqual({ spec: { free: { any: { deep: 1 }, known: {} } } });
  });

  it('leaves type and object metadata of an embedded resource alone', () => {
    const emb = { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: { a: 1 }, more: 1 };
    const { object } = pruneResource({ spec: { emb } }, schema);
    expect(object).toEqual({ spec: { emb: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: {} } } });
  });

  it('returns the very same object when there is nothing to drop', () => {
    const object = { spec: { n: 1, list: [{ a: 'x' }] } };
    expect(pruneResource(object, schema).object).toBe(object);
  });

  it('treats a field named __proto__ as any other', () => {
    const value = JSON.parse('{"__proto__": {"x": 1}, "a": 1}');
    const { value: pruned, unknownFields } = pruneUnknownFields(value, newStructural({ type: 'object' }), false);
    expect(Object.keys(pruned as object)).toEqual([]);
    expect(unknownFields).toEqual(['__proto__', 'a']);
    const kept = pruneUnknownFields(value, newStructural({ type: 'object', properties: { a: {} } }), false).value;
    expect(kept).toEqual({ a: 1 });
  });
});
