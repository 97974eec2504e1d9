import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { ResourceInfo } from '../registry/rest.ts';
import { loadSchemaRegistry } from '../schema/index.ts';
import { ObjectDecoder, summarizeBody } from './object-decoder.ts';

const schemas = loadSchemaRegistry('v1.30');
const decoder = new ObjectDecoder(schemas);
const info: ResourceInfo = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  namespaced: true,
  verbs: [],
  shortNames: [],
  categories: [],
  subresources: [],
  schema: schemas.byKind('', 'v1', 'ConfigMap'),
  custom: false,
};

function decode(text: string, validation: 'Strict' | 'Warn' | 'Ignore' = 'Warn', yaml = false) {
  const warnings: string[] = [];
  const mediaType = yaml ? 'application/yaml' : 'application/json';
  const object = decoder.decode(Buffer.from(text), mediaType, { info }, validation, { warn: (w) => warnings.push(w) });
  return { object, warnings };
}

const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): ';
const noVersion = `${unrecognized}couldn't get version/kind; json parse error: `;
const struct =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

describe('ObjectDecoder', () => {
  it.each([
    ['', `${noVersion}unexpected end of JSON input (<empty>)`],
    ['hello', `${noVersion}invalid character 'h' looking for beginning of value (68656c6c6f)`],
    ['"x"', `${noVersion}json: cannot unmarshal string into ${struct} (227822)`],
    ['[]', `${noVersion}json: cannot unmarshal array into ${struct} (5b5d)`],
    ['{"apiVersion":', `${noVersion}unexpected end of JSON input ({"apiVersion":)`],
    ['{"apiVersion":"a/b/c"}', `${unrecognized}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`],
    [
      '{"apiVersion":"v1","kind":"Secret"}',
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      '{"apiVersion":"v2","kind":"ConfigMap"}',
      'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:100"',
    ],
    [
      '{"metadata":{"name":5}}',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
  ])('refuses %s', (text, message) => {
    try {
      decode(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(StatusError);
      expect((error as StatusError).status).toMatchObject({ code: 400, reason: 'BadRequest', message });
    }
  });

  it('takes kind and version from the path when the body names none', () => {
    expect(decode('{}').object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { creationTimestamp: null },
    });
    expect(decode('null').object).toMatchObject({ kind: 'ConfigMap' });
  });

  it('warns about, refuses or ignores unknown fields', () => {
    const text = '{"bar":1,"data":{"k":"1","k":"2"}}';
    expect(decode(text).warnings).toEqual(['unknown field "bar"', 'duplicate field "data.k"']);
    expect(decode(text, 'Ignore').warnings).toEqual([]);
    expect(() => decode(text, 'Strict')).toThrow(
      'strict decoding error: unknown field "bar", duplicate field "data.k"',
    );
  });

  it('reads YAML', () => {
    expect(decode('metadata:\n  name: yy\ndata: {k: "1"}\n', 'Warn', true).object['data']).toEqual({ k: '1' });
  });

  it('does not let a body reach the prototype of anything', () => {
    const { object } = decode('{"__proto__":{"polluted":1},"metadata":{"labels":{"__proto__":"x"}}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.keys(object.metadata.labels ?? {})).toEqual(['__proto__']);
  });
});

describe('summarizeBody', () => {
  it('shows the start of JSON as text and of anything else in hex', () => {
    expect(summarizeBody(Buffer.from(`{"a":"${'x'.repeat(50)}"}`))).toBe(`{"a":"${'x'.repeat(24)} ...`);
    expect(summarizeBody(Buffer.from('y'.repeat(50)))).toBe(`${'79'.repeat(15)} ...`);
  });
});
