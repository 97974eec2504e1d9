import { describe, expect, it } from 'vitest';
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufList,
  encodeWatchEventProtobuf,
  hasProtobuf,
  ProtobufError,
} from './index.ts';

// Bytes written by k8s.io/api v0.30.3.
const RECORDED = [
  [
    {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'a',
        namespace: 'ns',
        uid: 'u',
        resourceVersion: '5',
        creationTimestamp: '2024-01-01T00:00:00Z',
        labels: { a: '1', b: '2' },
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            apiVersion: 'v1',
            time: '2024-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {}, 'f:k': {} } },
          },
        ],
      },
      data: { k: 'ü' },
      binaryData: { b: 'AAH/' },
    },
    'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEooBCnUKAWESABoCbnMiACoBdTIBNTgAQggIgIHIrAYQAFoGCgFhEgExWgYKAWISATKKAUUKAW0SBlVwZGF0ZRoCdjEiCAiAgcisBhAAMghGaWVsZHNWMToeChx7ImY6ZGF0YSI6eyIuIjp7fSwiZjprIjp7fX19QgASBwoBaxICw7waCAoBYhIDAAH/GgAiAA==',
  ],
  [
    {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 's', creationTimestamp: null },
      spec: {
        ports: [
          { port: 80, targetPort: 'http' },
          { port: 81, targetPort: 8081, nodePort: 30000 },
        ],
        externalTrafficPolicy: 'Local',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      },
      status: { loadBalancer: {} },
    },
    'azhzAAoNCgJ2MRIHU2VydmljZRJfChEKAXMSABoAIgAqADIAOABCABJGChQKABIAGFAiCggBEAAaBGh0dHAoAAoTCgASABhRIgcIABCRPxoAKLDqARoAIgA6AEIAUgBaBUxvY2FsYABoAHIECgIIABoCCgAaACIA',
  ],
  [
    {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: 'e', creationTimestamp: null },
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: '1969-12-31T23:59:59Z',
      count: -1,
      eventTime: '2024-01-01T00:00:00.123456Z',
      reportingComponent: '',
      reportingInstance: '',
    },
    'azhzAAoLCgJ2MRIFRXZlbnQSXgoRCgFlEgAaACIAKgAyADgAQgASDgoAEgAaACIAKgAyADoAGgAiACoECgASADIAOg0I////////////ARAAQP///////////wFKAFILCICByKwGEICU7zpiAHIAegAaACIA',
  ],
] as const;

describe('encodeProtobuf', () => {
  it.each(RECORDED)('writes the bytes upstream writes for %o', (object, base64) => {
    expect(encodeProtobuf(object).toString('base64')).toBe(base64);
  });

  it('has no form for custom kinds and Table', () => {
    expect(hasProtobuf({ apiVersion: 'x.io/v1', kind: 'Foo' })).toBe(false);
    expect(hasProtobuf({ apiVersion: 'meta.k8s.io/v1', kind: 'Table' })).toBe(false);
    expect(hasProtobuf({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' })).toBe(true);
    expect(hasProtobuf({ apiVersion: 'v1', kind: 'Status' })).toBe(true);
    expect(() => encodeProtobuf({ apiVersion: 'x.io/v1', kind: 'Foo' })).toThrow(ProtobufError);
  });
});

describe('decodeProtobuf', () => {
  it.each(RECORDED)('reads %o', (object, base64) => {
    const bytes = Buffer.from(base64, 'base64');
    expect(JSON.stringify(decodeProtobuf(bytes))).toBe(JSON.stringify(object));
  });

  it('takes kind and version from the caller when the envelope has none', () => {
    const anonymous = Buffer.concat([
      Buffer.from('k8s\0'),
      Buffer.from([0x0a, 0x00]),
      encodeProtobuf(RECORDED[1][0]).subarray(4 + 15),
    ]);
    expect(decodeProtobuf(anonymous, { apiVersion: 'v1', kind: 'Service' })).toMatchObject({
      kind: 'Service',
      spec: { ports: [{ port: 80 }, { port: 81 }] },
    });
  });

  it.each([
    ['', 'empty data'],
    ['{}', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['k8s\0\x12\x05a', 'unexpected EOF'],
    ['k8s\0\x0f', 'proto: illegal wireType 7'],
    ['k8s\0\x0a\x06\x0a\x02v1\x12\x00', 'does not implement the protobuf marshalling interface'],
  ])('refuses %j', (text, message) => {
    expect(() => decodeProtobuf(Buffer.from(text, 'latin1'))).toThrow(message);
  });

  it('passes over fields of the future and survives cut bytes', () => {
    const bytes = Buffer.from(RECORDED[0][1], 'base64');
    for (let end = 5; end < bytes.length; end++) {
      try {
        decodeProtobuf(bytes.subarray(0, end));
      } catch (error) {
        expect(error).toBeInstanceOf(ProtobufError);
      }
    }
  });
});

describe('lists and watches', () => {
  it('makes the same list from kept items as from the whole', () => {
    const item = { ...RECORDED[0][0] };
    const { kind: _, apiVersion: __, ...bare } = item;
    const head = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
    const fromParts = Buffer.concat(encodeProtobufList(head, [encodeProtobufItem(item), encodeProtobufItem(item)]));
    expect(fromParts.equals(encodeProtobuf({ ...head, items: [bare, bare] } as never))).toBe(true);
    expect(decodeProtobuf(fromParts)).toEqual({ ...head, items: [bare, bare] });
  });

  it('frames an event with its length', () => {
    const body = encodeProtobuf(RECORDED[0][0]);
    const frame = encodeWatchEventProtobuf('ADDED', body);
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    expect(frame.subarray(4, 11).toString('latin1')).toBe('\x0a\x05ADDED');
    expect(frame.subarray(-body.length).equals(body)).toBe(true);
  });
});
