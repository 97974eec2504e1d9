import { describe, expect, it } from 'vitest';
import { typedMetadata } from './typed-metadata.ts';

describe('typedMetadata', () => {
  it('brings sorted metadata and its entries into the order of the structs', () => {
    const sorted = {
      annotations: { a: 'b' },
      creationTimestamp: '2024-01-01T00:00:00Z',
      managedFields: [{ apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {}, manager: 'm', operation: 'Update' }],
      name: 'x',
      ownerReferences: [{ apiVersion: 'v1', controller: true, kind: 'Pod', name: 'p', uid: 'q' }],
      resourceVersion: '1',
      uid: 'u',
    } as const;
    expect(JSON.stringify(typedMetadata({ apiVersion: 'a/v1', kind: 'A', metadata: sorted } as never))).toBe(
      '{"name":"x","uid":"u","resourceVersion":"1","creationTimestamp":"2024-01-01T00:00:00Z","annotations":{"a":"b"},' +
        '"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"q","controller":true}],' +
        '"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]}',
    );
  });

  it('hands metadata back that begins with a name', () => {
    const metadata = { name: 'x', uid: 'u' };
    expect(typedMetadata({ apiVersion: 'v1', kind: 'Pod', metadata })).toBe(metadata);
  });

  it.each([
    [{}, undefined],
    [{ a: 'b' }, { a: 'b' }],
  ])('leaves the annotation of conversion out of that of a daemon set, next to %j', (others, expected) => {
    const annotations = { ...others, 'deprecated.daemonset.template.generation': '1' };
    const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'x', annotations } };
    expect(typedMetadata(object).annotations).toEqual(expected);
  });
});
