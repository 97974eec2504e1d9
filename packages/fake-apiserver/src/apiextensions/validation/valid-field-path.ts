// Paths as the `fieldPath` of a CEL rule writes them: `.a.b`, `.a['b c']`, checked against the schema.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#ValidFieldPath
import { child, type FieldPath, key } from '../field-error.ts';
import type { Structural } from '../schema/structural.ts';

export type ValidFieldPath = { readonly path: FieldPath; readonly schema: Structural } | { readonly error: string };

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/** Delimiters are tokens of their own, quoted strings keep their delimiters. */
const tokensOf = (text: string): readonly string[] =>
  text.match(/'(?:[^'\\]|\\[\s\S])*'|[.[\]]|[^.[\]']+|'[\s\S]*$/g) ?? [];

/** The normalized path of a field that the schema has. */
export function validFieldPath(text: string, root: Structural, allowArrayNotation = true): ValidFieldPath {
  const tokens = tokensOf(text);
  let schema = root;
  let path: FieldPath;
  let at = 0;
  const enter = (name: string): string | undefined => {
    if (schema.properties !== undefined) {
      const property = schema.properties.get(name);
      if (property === undefined) return 'does not refer to a valid field';
      path = child(path, name);
      schema = property;
      return undefined;
    }
    const values = schema.additionalProperties;
    if (values === undefined || values === true) return 'does not refer to a valid field';
    path = key(path, name);
    schema = values;
    return undefined;
  };
  while (at < tokens.length) {
    const token = tokens[at]!;
    let name = tokens[at + 1];
    if (token === '[') {
      if (!allowArrayNotation) return { error: 'array notation is not allowed' };
      if (name === undefined) return { error: 'unexpected end of JSON path' };
      if (name.length < 2 || !name.startsWith("'") || !name.endsWith("'")) {
        return { error: `expected single quoted string but got ${name}` };
      }
      const wrong = /\\[^abfnrtv'\\]/.exec(name);
      if (wrong !== null) return { error: `invalid string literal: invalid escape char ${wrong[0]}` };
      name = name.slice(1, -1).replace(/\\([\s\S])/g, (_, char: string) => ESCAPES[char]!);
    } else if (token !== '.') return { error: `expected [ or . but got: ${token}` };
    else if (name === undefined) return { error: 'unexpected end of JSON path' };
    const problem = enter(name);
    if (problem !== undefined) return { error: problem };
    at += 2;
    if (token === '[') {
      const close = tokens[at];
      if (close === undefined) return { error: 'unexpected end of JSON path' };
      if (close !== ']') return { error: `expected ] but got ${close}` };
      at += 1;
    }
  }
  return { path, schema };
}
