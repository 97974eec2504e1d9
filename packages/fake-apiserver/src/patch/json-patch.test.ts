import { describe, expect, it } from 'vitest';
import { applyJsonPatch, PatchError } from './index.ts';

const reason = (document: unknown, patch: unknown): string => {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  return 'applied';
};

describe('applyJsonPatch', () => {
  it('tests, replaces, adds, copies, moves and removes', () => {
    const first = applyJsonPatch({ data: { k: '1' }, metadata: {} }, [
      { op: 'test', path: '/data/k', value: '1' },
      { op: 'replace', path: '/data/k', value: '2' },
      { op: 'add', path: '/data/l', value: '3' },
      { op: 'add', path: '/metadata/labels', value: { 'a/b': 'c' } },
    ]);
    expect(first).toEqual({ data: { k: '2', l: '3' }, metadata: { labels: { 'a/b': 'c' } } });
    expect(
      applyJsonPatch(first, [
        { op: 'copy', from: '/data/k', path: '/data/m' },
        { op: 'move', from: '/data/l', path: '/data/n' },
        { op: 'remove', path: '/metadata/labels/a~1b' },
      ]),
    ).toEqual({ data: { k: '2', m: '2', n: '3' }, metadata: { labels: {} } });
  });

  it('counts negative indices from the end and appends at -', () => {
    expect(applyJsonPatch([1, 2, 3], [{ op: 'replace', path: '/-1', value: 9 }])).toEqual([1, 2, 9]);
    expect(applyJsonPatch({ a: [1, 2] }, [{ op: 'add', path: '/a/-1', value: 9 }])).toEqual({ a: [1, 2, 9] });
    expect(applyJsonPatch({ a: [1, 2] }, [{ op: 'add', path: '/a/-', value: 9 }])).toEqual({ a: [1, 2, 9] });
    expect(applyJsonPatch({ a: [1, 2] }, [{ op: 'remove', path: '/a/-2' }])).toEqual({ a: [2] });
  });

  it('adds a missing key on replace, as upstream does', () => {
    expect(applyJsonPatch({ a: {} }, [{ op: 'replace', path: '/a/b', value: 1 }])).toEqual({ a: { b: 1 } });
  });

  it.each([
    [[{ op: 'test', path: '/a', value: 2 }], 'unprocessable: testing value /a failed: test failed'],
    [
      [{ op: 'remove', path: '/x' }],
      "unprocessable: error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      [{ op: 'add', path: '/x/y', value: 1 }],
      'unprocessable: add operation does not apply: doc is missing path: "/x/y": missing value',
    ],
    [
      [{ op: 'add', path: '/l/9', value: 1 }],
      "unprocessable: error in add for path: '/l/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [
      [{ op: 'replace', path: '/l/9', value: 1 }],
      'unprocessable: replace operation does not apply: doc is missing key: /l/9: missing value',
    ],
    [[{ op: 'fly' }], 'unprocessable: Unexpected kind: fly'],
    [[{}], 'unprocessable: Unexpected kind: unknown'],
    [
      [{ op: 'move', path: '/a' }],
      'unprocessable: move operation failed to decode from: operation, missing from field: missing value',
    ],
    [{ op: 'add' }, 'bad-request: json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    [
      Array.from({ length: 10_001 }, () => ({})),
      'too-large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ],
  ])('refuses %j', (patch, message) => {
    expect(reason({ a: 1, l: [] }, patch)).toBe(message);
  });

  it('takes 10,000 operations', () => {
    const patch = Array.from({ length: 10_000 }, (_, index) => ({ op: 'add', path: '/a', value: index }));
    expect(applyJsonPatch({}, patch)).toEqual({ a: 9999 });
  });

  it('takes a missing key for null in a test', () => {
    expect(reason({}, [{ op: 'test', path: '/a', value: null }])).toBe('applied');
    expect(reason({}, [{ op: 'test', path: '/a', value: 0 }])).toContain('test failed');
  });

  it('handles __proto__ as a plain key', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { x: 1 } }]) as object;
    expect(Object.getOwnPropertyDescriptor(patched, '__proto__')?.value).toEqual({ x: 1 });
    expect(reason({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }])).toContain('doc is missing path');
    expect(reason({}, [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }])).toContain(
      'doc is missing path',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('writes the objects on its way with sorted keys and leaves others as they were', () => {
    const document = { kind: 'x', metadata: { name: 'a', annotations: {} }, apiVersion: 'v1' };
    expect(JSON.stringify(applyJsonPatch(document, [{ op: 'add', path: '/foo', value: 1 }]))).toBe(
      '{"apiVersion":"v1","foo":1,"kind":"x","metadata":{"name":"a","annotations":{}}}',
    );
  });
});
