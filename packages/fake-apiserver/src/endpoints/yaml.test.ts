import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DecodeError } from '../schema/decode-error.ts';
import { readYaml, yamlToJson } from './yaml-reader.ts';
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
    ['b: 1\na: 2\nb: 3', '{"a":2,"b":3}'],
    ['b: &b {x: 1, z: 2}\nc:\n  <<: *b\n  z: 3', '{"b":{"x":1,"z":2},"c":{"x":1,"z":3}}'],
    ['<<: [{a: 1}, {a: 2, b: 2}]', '{"a":1,"b":2}'],
    ['a: !foo b', '{"a":"b"}'],
    ['a: !!binary aGVsbG8=', '{"a":"hello"}'],
    ['a: !!str 5\nb: !!int "5"', '{"a":"5","b":5}'],
    ['a: 1\n---\nb: 2', '{"a":1}'],
    ['1.50: f\n010: o\non: t', '{"1.5":"f","8":"o","true":"t"}'],
  ])('reads %j', (text, expected) => {
    expect(yamlToJson(text)).toBe(expected);
  });

  // Every line was held against sigs.k8s.io/yaml 1.3.0.
  it.each([
    ['010', '8'],
    ['0o10', '8'],
    ['08', '8'],
    ['-0x1f', '-31'],
    ['0b11', '3'],
    ['0b12', '"0b12"'],
    ['1_000', '1000'],
    ['_1', '"_1"'],
    ['1:30', '"1:30"'],
    ['+1', '1'],
    ['-0', '0'],
    ['-0.0', '-0'],
    ['1.10', '1.1'],
    ['12e03', '12000'],
    ['1e21', '1e+21'],
    ['1e400', '"1e400"'],
    ['9223372036854775807', '9223372036854775807'],
    ['18446744073709551615', '18446744073709551615'],
    ['-9223372036854775809', '-9223372036854776000'],
    ['~', 'null'],
    ['N', 'false'],
    ['~x', '"~x"'],
  ])('takes the scalar %s for %s', (text, expected) => {
    expect(yamlToJson(`a: ${text}`)).toBe(`{"a":${expected}}`);
  });

  it.each([
    ['{', 'yaml: line 1: did not find expected node content'],
    [']', 'yaml: did not find expected node content'],
    ['a: [1, 2', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a: 1\n b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
    ['m:\n  n: a\n l: b', 'yaml: line 2: did not find expected key'],
    ['a: "x', 'yaml: found unexpected end of stream'],
    ['a: @x', 'yaml: found character that cannot start any token'],
    ['a:\n\tb: c', 'yaml: line 2: found character that cannot start any token'],
    ['a: - b', 'yaml: block sequence entries are not allowed in this context'],
    ['a: \u0001', 'yaml: control characters are not allowed'],
    ['a: &a [*a]', "yaml: anchor 'a' value contains itself"],
    ['a: *zz', "yaml: unknown anchor 'zz' referenced"],
    ['<<: 5', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: .inf', 'json: unsupported value: +Inf'],
    ['null: 1', 'Unsupported map key of type: %!s(<nil>), key: <nil>, value: 1'],
    ['['.repeat(20_000), 'yaml: exceeded max depth of 10000'],
    ['['.repeat(20_000) + ']'.repeat(20_000), 'yaml: exceeded max depth of 10000'],
    ['- '.repeat(5000), 'yaml: exceeded max depth of 10000'],
  ])('refuses %.30s', (text, message) => {
    expect(() => yamlToJson(text)).toThrow(new DecodeError(message));
  });

  it('tells strict validation of keys that are there twice', () => {
    expect(readYaml('a: {x: 1, x: 2}\nb: 1\nb: 2').duplicates).toBe(
      'yaml: unmarshal errors:\n  line 1: key "x" already set in map\n  line 3: key "b" already set in map',
    );
    expect(readYaml('a: 1').duplicates).toBeUndefined();
  });

  it('refuses a bomb of aliases', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++) {
      const before = i === 1 ? '*a' : `*b${i - 1}`;
      lines.push(`b${i}: &b${i} [${Array(9).fill(before).join(',')}]`);
    }
    expect(() => yamlToJson(lines.join('\n'))).toThrow('yaml: document contains excessive aliasing');
  });

  it('bounds what long texts unfold to', () => {
    const text = `a: &a ${'x'.repeat(1_000_000)}\nb: [${Array(100).fill('*a').join(',')}]`;
    expect(() => yamlToJson(text)).toThrow('yaml: document contains excessive aliasing');
  });
});
