import { describe, expect, it } from 'vitest';
import { isDecodeError } from '../errors.ts';
import type { FrameDecoderOptions } from './frame-decoder.ts';
import { FrameDecoder } from './frame-decoder.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(
  chunks: readonly string[],
  options: FrameDecoderOptions = {},
): { documents: unknown[]; whole: boolean } {
  const documents: unknown[] = [];
  const decoder = new FrameDecoder((document) => documents.push(document), options);
  for (const chunk of chunks) decoder.push(bytes(chunk));
  return { documents, whole: decoder.end() };
}

describe('FrameDecoder', () => {
  it.each<[string, string[], unknown[]]>([
    ['one frame', ['{"a":1}\n'], [{ a: 1 }]],
    ['several frames in one chunk', ['{"a":1}\n{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    ['a frame over several chunks', ['{"a"', ':', '1}', '\n'], [{ a: 1 }]],
    ['blank lines and carriage returns between frames', ['\n\r\n{"a":1}\r\n \n{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    ['a frame over several lines', ['{\n  "a": [\n    1\n  ]\n}\n{"a":2}\n'], [{ a: [1] }, { a: 2 }]],
    ['frames without a newline between them', ['{"a":1}{"a":2}\n'], [{ a: 1 }, { a: 2 }]],
    ['braces and quotes inside strings', ['{"a":"}\\"{\\\\"}{"b":"]"}'], [{ a: '}"{\\' }, { b: ']' }]],
    ['U+2028 inside a frame', ['{"a":"x\u2028y"}\n'], [{ a: 'x\u2028y' }]],
    ['a key called __proto__ as plain data', ['{"__proto__":{"x":1}}\n'], [JSON.parse('{"__proto__":{"x":1}}')]],
  ])('reads %s', (_, chunks, expected) => {
    expect(decode(chunks).documents).toEqual(expected);
  });

  it('gives a frame without its newline as soon as it is complete', () => {
    const documents: unknown[] = [];
    const decoder = new FrameDecoder((document) => documents.push(document));
    decoder.push(bytes('{"a":{"b":1}'));
    expect(documents).toEqual([]);
    decoder.push(bytes('}'));
    expect(documents).toEqual([{ a: { b: 1 } }]);
    decoder.push(bytes('\n{"c":2}\n'));
    expect(documents).toEqual([{ a: { b: 1 } }, { c: 2 }]);
  });

  it.each([
    ['{"a":1}{"a":', [{ a: 1 }]],
    ['{"a":1}{"a":2}{"b', [{ a: 1 }, { a: 2 }]],
    ['{"a":{"b":1', []],
  ])('gives at the end what is complete of %s', (text, expected) => {
    expect(decode([text])).toEqual({ documents: expected, whole: false });
  });

  it('says whether the stream ended inside a frame', () => {
    expect(decode(['{"a":1}\n']).whole).toBe(true);
    expect(decode(['{"a":1}\n{"b']).whole).toBe(false);
  });

  it.each([
    ['this is not json\n'],
    ['this is not json'],
    ['<html>'],
    ['{"a":1}\noops\n'],
    ['{a:1}\n'],
    ['{"a":1,}\n'],
    ['{"a" 1}\n'],
    ['{"a":"\u0001"}\n'],
    ['{]\n'],
  ])('refuses %j at once', (text) => {
    let error: unknown;
    try {
      decode([text]);
    } catch (thrown) {
      error = thrown;
    }
    expect(isDecodeError(error, 'BAD_JSON')).toBe(true);
  });

  it('gives the frames before the garbage first', () => {
    const documents: unknown[] = [];
    const decoder = new FrameDecoder((document) => documents.push(document));
    expect(() => decoder.push(bytes('{"a":1}\nnope\n{"a":2}\n'))).toThrow(/unexpected byte 0x6e/);
    expect(documents).toEqual([{ a: 1 }]);
  });

  it.each([['{"a":"0123456789"}\n'], ['{"a":"0123456789'], ['{"a":\n"0123456789"}\n']])(
    'refuses a frame above the limit: %j',
    (text) => {
      expect(() => decode([text], { maxFrameBytes: 12 })).toThrow(/longer than 12 bytes/);
    },
  );

  it('reads a frame of exactly the limit', () => {
    expect(decode(['{"a":"0123"}\n'], { maxFrameBytes: 12 }).documents).toEqual([{ a: '0123' }]);
  });
});
