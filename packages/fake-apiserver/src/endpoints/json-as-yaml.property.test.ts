import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simpleJson } from './json-as-yaml.ts';
import { readYaml } from './yaml-reader.ts';

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(
    'yes',
    '~',
    'null',
    '<<',
    '1',
    '0x1f',
    '- a',
    'a: b',
    '# c',
    "it's",
    '&a',
    '*a',
    '!!int',
    '  ',
    '<b>',
  ),
);
const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}));

describe('simpleJson', () => {
  it('gives what reading the document as YAML gives', () => {
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 4 }), (document) => {
        const json = JSON.stringify(document);
        const simple = simpleJson(json);
        // The space keeps the reader from taking the shortcut itself.
        if (simple !== undefined) expect(simple).toBe(readYaml(`${json} `).json);
      }),
      { numRuns: 500 },
    );
  });

  it('takes an ordinary document and sorts its keys', () => {
    expect(simpleJson('{"kind":"A","apiVersion":"v1","n":[1,true,null]}')).toBe(
      '{"apiVersion":"v1","kind":"A","n":[1,true,null]}',
    );
  });

  it.each([
    '{"a":1,"a":2}',
    '{"a":1.5}',
    '{"a":1e3}',
    '{"a": 1}',
    '{"a":"\\n"}',
    '{"a":"ü"}',
    '{a: 1}',
    '[1]',
    '{"a":1}}',
  ])('leaves %s to the reader', (document) => {
    expect(simpleJson(document)).toBeUndefined();
  });
});
