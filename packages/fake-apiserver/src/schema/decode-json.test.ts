import { describe, expect, it } from 'vitest';
import { decodeJson, loadSchemaRegistry, strictDecodingError } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const kind = (group: string, version: string, name: string) => {
  const schema = registry.byKind(group, version, name);
  if (schema === undefined) throw new Error(name);
  return schema;
};
const configMap = kind('', 'v1', 'ConfigMap');
const deployment = kind('apps', 'v1', 'Deployment');
const service = kind('', 'v1', 'Service');

describe('decodeJson', () => {
  it.each([
    ['{"apiVersion":', 'unexpected end of JSON input'],
    ['hello', "invalid character 'h' looking for beginning of value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ['tru', 'unexpected end of JSON input'],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['-a', "invalid character 'a' in numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['ü', "invalid character 'Ã' looking for beginning of value"],
  ])('says of %j what Go says', (text, message) => {
    expect(() => decodeJson(text, configMap)).toThrow(message);
    expect(() => decodeJson(text)).toThrow(message);
  });

  it.each([
    [
      configMap,
      '{"metadata":{"name":"a"},"data":{"k":5}}',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      configMap,
      '{"metadata":{"name":5}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [
      configMap,
      '{"data":[]}',
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [configMap, '[]', 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
    [configMap, '{"binaryData":{"a":"*"}}', 'illegal base64 data at input byte 0'],
    [
      configMap,
      '{"metadata":{"creationTimestamp":"x"}}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      configMap,
      '{"metadata":{"creationTimestamp":1}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
    ],
    [
      deployment,
      '{"spec":{"replicas":"3"}}',
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      deployment,
      '{"spec":{"replicas":1.5}}',
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      deployment,
      '{"spec":{"replicas":3000000000}}',
      'json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      deployment,
      '{"spec":{"template":{"spec":{"containers":{}}}}}',
      'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      deployment,
      '{"spec":{"template":{"spec":{"containers":[{"imagePullPolicy":1}]}}}}',
      'json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.imagePullPolicy of type v1.PullPolicy',
    ],
    [
      deployment,
      '{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      service,
      '{"spec":{"ports":[{"targetPort":true}]}}',
      'json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
  ])('refuses a wrong type in %o: %s', (schema, text, message) => {
    expect(() => decodeJson(text, schema)).toThrow(message);
  });

  it('reports unknown and duplicate fields in the order of the text', () => {
    const text =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a0","foo":1},"bar":{"x":1},"data":{"k":"1","k":"2"}}';
    const { value, strictErrors } = decodeJson(text, configMap);
    expect(strictDecodingError(strictErrors)).toBe(
      'strict decoding error: unknown field "metadata.foo", unknown field "bar", duplicate field "data.k"',
    );
    expect(value).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a0', creationTimestamp: null },
      data: { k: '2' },
    });
  });

  it('merges a map that comes twice and matches names by case', () => {
    const { value, strictErrors } = decodeJson('{"data":{"k":"1"},"data":{"l":"2"},"Data":{"m":"3"}}', configMap);
    expect(value).toMatchObject({ data: { k: '1', l: '2' } });
    expect(strictErrors).toEqual(['duplicate field "data"', 'unknown field "Data"']);
  });

  it('names list items by their index', () => {
    const { strictErrors } = decodeJson('{"spec":{"ports":[{"port":1},{"foo":1,"name":"a","name":"b"}]}}', service);
    expect(strictErrors).toEqual(['unknown field "spec.ports[1].foo"', 'duplicate field "spec.ports[1].name"']);
  });

  it('reports only duplicates where there is no schema', () => {
    const { value, strictErrors } = decodeJson('{"a":{"b":[{"c":1,"c":2}]},"d":1.5e3,"d":null}');
    expect(value).toEqual({ a: { b: [{ c: 2 }] }, d: null });
    expect(strictErrors).toEqual(['duplicate field "a.b[0].c"', 'duplicate field "d"']);
  });

  it('keeps a __proto__ key as data', () => {
    const { value } = decodeJson('{"data":{"__proto__":"x"},"__proto__":{"polluted":true}}', configMap);
    expect(Object.keys((value as { data: object }).data)).toEqual(['__proto__']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(decodeJson('{"__proto__":{"a":1},"b":1,"b":2}').value)).toBe('{"__proto__":{"a":1},"b":2}');
  });

  it('answers deep nesting with an error, not a crash', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect(() => decodeJson(deep)).toThrow('exceeded max depth');
    expect(() => decodeJson(deep, configMap)).toThrow('exceeded max depth');
  });

  it('decodes a null body as an empty object', () => {
    expect(decodeJson('null', configMap).value).toEqual({ metadata: { creationTimestamp: null } });
  });

  it('drops unknown parts of a CRD schema behind a boolean-or-schema silently', () => {
    const crd = registry.byName('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')!;
    const { value, strictErrors } = decodeJson(
      '{"items":{"type":"string","foo":1},"additionalProperties":true,"properties":{"a":{"bar":1}},"default":{"z":[]}}',
      crd,
    );
    expect(value).toEqual({
      items: { type: 'string' },
      additionalProperties: true,
      properties: { a: {} },
      default: { z: [] },
    });
    expect(strictErrors).toEqual(['unknown field "properties.a.bar"']);
  });
});
