import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadDiscovery, loadSchemaRegistry, normalizeBuiltin, type Schema } from '../schema/index.ts';
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufList,
  hasProtobuf,
  ProtobufError,
} from './index.ts';

const registry = loadSchemaRegistry('v1.30');

/** Any value of a type, a few levels deep; keys and texts beyond ASCII included. */
function anyOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const name = schema.name?.split('.').at(-1);
  if (name === 'Time') return fc.constantFrom('2024-02-29T12:00:00Z', '1969-12-31T23:59:59Z');
  if (name === 'MicroTime') return fc.constantFrom('2024-02-29T12:00:00.000001Z', '2024-02-29T12:00:00.999999Z');
  if (name === 'Quantity') return fc.constantFrom('1', '500m', '1Gi', '0');
  if (name === 'IntOrString') return fc.oneof(fc.integer({ min: -5, max: 70_000 }), fc.constantFrom('http', '25%', ''));
  if (name === 'RawExtension' || name === 'FieldsV1' || name === 'JSON')
    return fc.constantFrom({ a: [1, 'ü'] }, { 'f:x': {} });
  if (name?.startsWith('JSONSchemaPropsOr')) return name.endsWith('Bool') ? fc.boolean() : fc.constant({ type: 'x' });
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte'
        ? fc.constantFrom('', 'AAH/', 'aGk=')
        : fc.constantFrom('', 'a', 'ü€😀', `${'long'.repeat(20)}ü`, 'x'.repeat(33));
    case 'integer':
      return schema.format === 'int32' ? fc.integer() : fc.maxSafeInteger();
    case 'number':
      return fc.constantFrom(0, 1.5, -2e300);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return depth <= 0 ? fc.constant([]) : fc.array(anyOf(schema.items!, depth - 1), { maxLength: 2 });
    default:
      return objectOf(schema, depth);
  }
}

function objectOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth <= 0) return fc.constant({});
  const values = schema.additionalProperties;
  if (values !== undefined && values !== true)
    return fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'ü'), anyOf(values, depth - 1), {
      maxKeys: 2,
      noNullPrototype: true,
    });
  const fields = Object.fromEntries(
    [...(schema.properties ?? [])].map(([key, property]) => [
      key,
      fc
        .option(fc.constant(property), { nil: undefined, freq: 1 })
        .chain((one) => (one === undefined ? fc.constant(undefined) : anyOf(one, depth - 1))),
    ]),
  );
  return fc.record(fields, { requiredKeys: [] });
}

const kinds = loadDiscovery('v1.30')
  .flatMap((group) =>
    group.versions.flatMap((version) =>
      version.resources.map(({ kindGroup, kindVersion, kind }) => ({ kindGroup, kindVersion, kind })),
    ),
  )
  .map(({ kindGroup, kindVersion, kind }) => ({
    apiVersion: kindGroup === '' ? kindVersion : `${kindGroup}/${kindVersion}`,
    kind,
    schema: registry.byKind(kindGroup, kindVersion, kind)!,
  }));

const object = fc
  .constantFrom(...kinds)
  .chain(({ apiVersion, kind, schema }) =>
    anyOf(schema, 6).map((value) => normalizeBuiltin({ ...(value as object), apiVersion, kind }, schema)),
  );

describe('protobuf', () => {
  it('has a message for every served kind', () => {
    expect(kinds.filter((one) => !hasProtobuf(one)).map((one) => one.kind)).toEqual([]);
  });

  it('puts the items of every list under the number two', () => {
    const lists = kinds.flatMap(({ apiVersion, kind }) => {
      const list = { apiVersion, kind: `${kind}List`, metadata: {}, items: [{}] };
      return hasProtobuf(list) ? [list] : [];
    });
    expect(lists.length).toBeGreaterThan(50);
    for (const list of lists) {
      const { apiVersion, kind } = list;
      const item = encodeProtobufItem({ apiVersion, kind: kind.slice(0, -'List'.length) });
      expect(Buffer.concat(encodeProtobufList(list, [item]))).toEqual(encodeProtobuf(list));
    }
  });

  it('gives any object back as it was', () => {
    fc.assert(
      fc.property(object, (one) => {
        expect(decodeProtobuf(encodeProtobuf(one))).toEqual(one);
      }),
      { numRuns: 300 },
    );
  });

  it('answers damaged bytes with its own error', () => {
    fc.assert(
      fc.property(object, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (one, damage) => {
        const bytes = encodeProtobuf(one);
        for (const [at, byte] of damage) bytes[4 + (at % (bytes.length - 4))] = byte;
        try {
          decodeProtobuf(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
