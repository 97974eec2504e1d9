import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { yamlToJson } from './yaml-reader.ts';
import { writeYaml } from './yaml-writer.ts';

describe('writeYaml', () => {
  it.each([
    [{ b: 1, a: [] }, 'a: []\nb: 1\n'],
    [{ list: [{ x: 1, y: {} }, 'z'] }, 'list:\n- x: 1\n  "y": {}\n- z\n'],
    [{ a: { b: { c: null } } }, 'a:\n  b:\n    c: null\n'],
    [
      { t: 'true', n: '123', e: '', d: '2024-01-01T00:00:00Z' },
      'd: "2024-01-01T00:00:00Z"\ne: ""\n"n": "123"\nt: "true"\n',
    ],
    [{ c: 'a: b', h: 'x #y', q: "it's: so" }, "c: 'a: b'\nh: 'x #y'\nq: 'it''s: so'\n"],
    [{ m: 'one\ntwo\n', k: 'x\ny' }, 'k: |-\n  x\n  y\nm: |\n  one\n  two\n'],
    [[[1, 2], []], '- - 1\n  - 2\n- []\n'],
  ])('writes %j', (value, expected) => {
    expect(writeYaml(value)).toBe(expected);
  });

  it('breaks a long line at the first space past the width', () => {
    const message = 'only the following media types are accepted: application/json;stream=watch, application/x';
    expect(writeYaml({ message })).toBe(
      "message: 'only the following media types are accepted: application/json;stream=watch,\n  application/x'\n",
    );
  });

  it('is read back as the same value', () => {
    const value = {
      s: ['- a', '? b', '@c', ' lead', 'trail ', '\t', '\u0007', 'ünï', 'a\n\n', '=', '<<', '0x1f', '1_000'],
    };
    expect(parse(writeYaml(value), { version: '1.1' })).toEqual(value);
  });
});

describe('yamlToJson', () => {
  it.each([
    ['a: yes', '{"a":true}'],
    ['a: "yes"', '{"a":"yes"}'],
    ['1: x', '{"1":"x"}'],
    ['a: 2001-01-01', '{"a":"2001-01-01"}'],
    ['', 'null'],
    ['{"a": [1, 2]}', '{"a":[1,2]}'],
    ['__proto__: {a: 1}', '{"__proto__":{"a":1}}'],
  ])('reads %s', (text, expected) => {
    expect(yamlToJson(text)).toBe(expected);
  });

  it('names the line of what cannot be read', () => {
    expect(() => yamlToJson('{')).toThrow('yaml: line 1: did not find expected node content');
  });

  it('refuses a bomb of aliases', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++)
      lines.push(
        `b${i}: &b${i} [${Array(9)
          .fill(i === 1 ? '*a' : `*b${i - 1}`)
          .join(',')}]`,
      );
    expect(() => yamlToJson(lines.join('\n'))).toThrow();
  });
});
