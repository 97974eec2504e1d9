import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError, decodeJson, jsonSyntaxError, loadSchemaRegistry, normalizeBuiltin } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const schemas = [
  ['', 'v1', 'Pod'],
  ['apps', 'v1', 'Deployment'],
  ['', 'v1', 'Secret'],
  ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
].map(([group, version, kind]) => registry.byKind(group!, version!, kind!)!);

const key = fc.constantFrom(
  'metadata',
  'spec',
  'containers',
  'data',
  'template',
  'name',
  'labels',
  'resources',
  'limits',
  'ports',
  'versions',
  'schema',
  'openAPIV3Schema',
  'items',
  'properties',
  '__proto__',
  'creationTimestamp',
  'x"y\\',
);
const scalar = fc.constantFrom(
  'null',
  'true',
  '1',
  '-1.5e3',
  '99999999999999999999',
  '""',
  '"a"',
  '"\\ud800"',
  '"2024-01-01T00:00:00Z"',
  '"1Gi"',
  '"aGk="',
  '"\\u0000"',
);
/** JSON text, so that keys can come twice; sometimes cut or garbled. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'medium' },
    scalar,
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(key, tie('text')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',\n')}}`),
  ),
}));
const damaged = fc
  .tuple(text, fc.nat(), fc.constantFrom('', '}', '"', ',', 'x', '\u0001', 'ü'))
  .map(([whole, at, extra]) => whole.slice(0, at % (whole.length + 1)) + extra);

describe('decodeJson', () => {
  it('decodes or refuses any text, with and without a type', () => {
    fc.assert(
      fc.property(fc.oneof(text, damaged, fc.string()), fc.constantFrom(undefined, ...schemas), (body, schema) => {
        try {
          decodeJson(body, schema);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
        return ({} as { name?: unknown }).name === undefined;
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with JavaScript on what is JSON', () => {
    const parses = (body: string): boolean => {
      try {
        JSON.parse(body);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(
        fc.oneof(text, damaged, fc.string()),
        (body) => (jsonSyntaxError(body) === undefined) === parses(body),
      ),
      { numRuns: 1000 },
    );
  });

  it('gives what it made back unchanged, in either form', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...schemas), (body, schema) => {
        let value: unknown;
        try {
          ({ value } = decodeJson(body, schema));
        } catch {
          return;
        }
        expect(decodeJson(JSON.stringify(value), schema)).toEqual({ value, strictErrors: [] });
        const stored = normalizeBuiltin(value, schema);
        expect(normalizeBuiltin(stored, schema)).toEqual(stored);
      }),
      { numRuns: 1000 },
    );
  });

  it('without a type is JSON.parse, duplicates apart', () => {
    fc.assert(
      fc.property(text, (body) => {
        expect(decodeJson(body).value).toEqual(JSON.parse(body));
      }),
    );
  });
});
