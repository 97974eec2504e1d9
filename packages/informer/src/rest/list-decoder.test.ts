import { describe, expect, it } from 'vitest';
import { ListDecoder } from './list-decoder.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(text: string) {
  const batches: unknown[][] = [];
  const decoder = new ListDecoder((batch) => batches.push(batch));
  decoder.push(bytes(text));
  return { batches, ...decoder.finish() };
}

describe('ListDecoder', () => {
  it('finds the items only at the top level', () => {
    const { batches, value } = decode('{"metadata":{"items":[1]},"items":[{"a":1}],"x":{"items":[2]}}');
    expect(batches).toEqual([[{ a: 1 }]]);
    expect(value).toEqual({ metadata: { items: [1] }, items: [], x: { items: [2] } });
  });

  it('is not misled by a value "items"', () => {
    expect(decode('{"a":"items","b":[1],"items":[]}')).toEqual({
      batches: [],
      value: { a: 'items', b: [1], items: [] },
      hasItems: true,
    });
  });

  it.each([['{"items":null}'], ['{"items":{}}'], ['{"kind":"Status"}'], ['{}'], ['[1]'], ['"x"']])(
    'leaves %s to the caller',
    (text) => {
      expect(decode(text)).toEqual({ batches: [], value: JSON.parse(text), hasItems: false });
    },
  );

  it('gives items while the rest is still on its way, and the head with them', () => {
    const batches: unknown[][] = [];
    const decoder = new ListDecoder((batch) => batches.push(batch));
    decoder.push(bytes('{"kind":"PodList","ite'));
    expect(decoder.head).toBeUndefined();
    decoder.push(bytes('ms":[{"n":1},{"n":2},{"n"'));
    expect(batches).toEqual([[{ n: 1 }, { n: 2 }]]);
    expect(decoder.head).toEqual({ kind: 'PodList', items: [] });
    decoder.push(bytes(':3}]}'));
    expect(batches.flat()).toHaveLength(3);
  });

  it('cuts a long list into batches', () => {
    const items = Array.from({ length: 200 }, (_, n) => ({ n, pad: 'x'.repeat(1000) }));
    const { batches } = decode(JSON.stringify({ items }));
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.flat()).toEqual(items);
  });

  it.each([
    ['{"items":[{"a":1}'],
    ['{"items":['],
    ['{"kind":'],
    ['<html>'],
    [''],
    ['{"items":[1,,2]}'],
    ['{"items":[]} x'],
  ])('refuses %j', (text) => {
    expect(() => decode(text)).toThrow(/list answer/);
  });
});
