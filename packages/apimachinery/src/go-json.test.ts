import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goJsonBytes, goJsonStringify } from './go-json.ts';

describe('goJsonStringify', () => {
  it('escapes what could end a script element, in keys too', () => {
    expect(goJsonStringify({ '<k>': 'a&b\u2028\u2029' })).toBe('{"\\u003ck\\u003e":"a\\u0026b\\u2028\\u2029"}');
  });

  it('replaces half surrogate pairs and nothing that only looks like one', () => {
    expect(goJsonStringify(['\ud800', '\udfffx', '\ud83d\ude00', '\\ud800', '\\\ud800'])).toBe(
      '["\ufffd","\ufffdx","\ud83d\ude00","\\\\ud800","\\\\\ufffd"]',
    );
  });

  it('indents', () => {
    expect(goJsonStringify({ a: [], b: { c: '<' } }, '  ')).toBe('{\n  "a": [],\n  "b": {\n    "c": "\\u003c"\n  }\n}');
  });

  it('writes null for what JSON cannot say', () => {
    expect(goJsonStringify(undefined)).toBe('null');
  });

  it('changes the text but not the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = goJsonStringify(value);
        expect(text).not.toMatch(/[<>&\u2028\u2029]/);
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('writes UTF-8', () => {
    expect(Buffer.from(goJsonBytes({ a: 'é<' })).toString('utf8')).toBe('{"a":"é\\u003c"}');
  });
});
