import { describe, expect, it } from 'vitest';
import { applyMergePatch, decodePatch } from './index.ts';

describe('applyMergePatch', () => {
  // Examples of RFC 7386, appendix A, as far as the document is an object.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ a: 'foo' }, { b: { c: null, d: 1 } }, { a: 'foo', b: { d: 1 } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('merges %j and %j', (document, patch, expected) => {
    expect(applyMergePatch(document, patch)).toEqual(expected);
  });

  it('refuses what is no document', () => {
    expect(() => applyMergePatch({}, null)).toThrow('Invalid JSON Patch');
    expect(() => applyMergePatch({}, 'x')).toThrow('Invalid JSON Patch');
  });

  it('does not reach the prototype', () => {
    applyMergePatch({}, JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('decodePatch', () => {
  it.each([
    ['strategic-merge-patch', '[]', true, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['strategic-merge-patch', '{', true, 'unexpected end of JSON input'],
    ['merge-patch', '{', true, 'error decoding patch: unexpected end of JSON input'],
    ['merge-patch', '{', false, 'Invalid JSON Patch'],
    [
      'merge-patch',
      '[]',
      true,
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'json-patch',
      '{}',
      true,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [
      'json-patch',
      '[{"op":1}]',
      true,
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
  ] as const)('refuses %s %s (strict %s)', (format, text, strict, message) => {
    expect(() => decodePatch(format, text, strict)).toThrow(message);
  });

  it('finds doubles and unknown fields of the patch itself', () => {
    expect(decodePatch('merge-patch', '{"a":1,"a":2}', true)).toEqual({
      patch: { a: 2 },
      strictErrors: ['duplicate field "a"'],
    });
    expect(decodePatch('json-patch', '[{"op":"add","x":1}]', true).strictErrors).toEqual([
      'json patch unknown field "[0].x"',
    ]);
    expect(decodePatch('merge-patch', '{"a":1,"a":2}', false).strictErrors).toEqual([]);
  });
});
