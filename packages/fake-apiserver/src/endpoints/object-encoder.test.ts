import { describe, expect, it } from 'vitest';
import type { ResourceStore } from '../registry/rest.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { MetadataEncoder, makeFrame, PlainJsonEncoder } from './object-encoder.ts';
import { TableEncoder } from './table-encoder.ts';

const stored = (more: Record<string, unknown> = {}): StoredObject =>
  new StoredObject(
    '/registry/configmaps/default/a',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '5' }, ...more },
    5,
  );

describe('makeFrame', () => {
  it('wraps a message as one chunk of HTTP/1.1 and shares its bytes', () => {
    const frame = makeFrame(['{"a":', Buffer.from('"ü"'), '}\n']);
    expect(frame.bytes.toString()).toBe('{"a":"ü"}\n');
    expect(frame.chunk.toString()).toBe('b\r\n{"a":"ü"}\n\r\n');
    expect(frame.bytes.buffer).toBe(frame.chunk.buffer);
  });
});

describe('PlainJsonEncoder', () => {
  const encoder = new PlainJsonEncoder(false);

  it('escapes as Go does', () => {
    expect(encoder.encode(stored({ data: { h: '<&>\u2028' } })).toString()).toContain(
      String.raw`{"h":"\u003c\u0026\u003e\u2028"}`,
    );
  });

  it('shows kind and version on an object and not on an item of a list', () => {
    const object = stored({ data: { k: '1' } });
    expect(encoder.encode(object).toString()).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"},"data":{"k":"1"}}',
    );
    expect(encoder.itemStart + encoder.encodeItem(object).toString()).toBe(
      '{"metadata":{"name":"a","resourceVersion":"5"},"data":{"k":"1"}}',
    );
  });

  it('encodes an event once for all watchers', () => {
    const object = stored();
    const first = encoder.frame('ADDED', object);
    expect(new PlainJsonEncoder(false).frame('ADDED', object).chunk).toBe(first.chunk);
    expect(encoder.frame('MODIFIED', object).bytes.toString()).toContain('"type":"MODIFIED"');
  });

  it.each([false, true])('gives the writer what its watchers got, custom: %s', (custom) => {
    const content = { data: { k: '<ü>' } };
    const shared = new PlainJsonEncoder(custom);
    const fresh = shared.encode(stored(content));
    for (const type of ['ADDED', 'MODIFIED'] as const) {
      const object = stored(content);
      const frame = shared.frame(type, object);
      const bytes = shared.encode(object);
      expect(bytes.toString()).toBe(fresh.toString());
      // A part of the frame, not a copy.
      expect(bytes.byteOffset).toBe(frame.bytes.byteOffset + frame.bytes.indexOf(bytes));
    }
  });

  it.each([false, true])('gives lists what the watchers got, custom: %s', (custom) => {
    const content = { data: { k: '<ü>' } };
    const shared = new PlainJsonEncoder(custom);
    const fresh = shared.encodeItem(stored(content)).toString();
    for (const type of ['ADDED', 'MODIFIED'] as const) {
      const object = stored(content);
      const frame = shared.frame(type, object);
      const bytes = shared.encodeItem(object);
      expect(bytes.toString()).toBe(fresh);
      expect(bytes.buffer).toBe(frame.bytes.buffer);
    }
  });

  it('sorts the keys of custom resources and leaves a missing creation time out', () => {
    const custom = new PlainJsonEncoder(true);
    const object = stored({ spec: {}, metadata: { creationTimestamp: null, resourceVersion: '9' } });
    expect(custom.encode(object).toString()).toBe(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"9"},"spec":{}}',
    );
  });

  it('keeps keys that mean something to JavaScript', () => {
    const data = JSON.parse('{"__proto__":"x","constructor":"y"}');
    expect(encoder.encode(stored({ data })).toString()).toContain('"data":{"__proto__":"x","constructor":"y"}');
  });
});

describe('MetadataEncoder', () => {
  it('sends the metadata under the kind of the transformation', () => {
    expect(new MetadataEncoder('v1').encode(stored({ data: {} })).toString()).toBe(
      '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"5"}}',
    );
  });
});

describe('TableEncoder', () => {
  const column = { name: 'Name', type: 'string', format: 'name', description: 'd', priority: 0 };
  const store = {
    info: { version: 'v1' },
    tableColumns: [column],
    tableCells: (object: { metadata: { name?: string } }) => [object.metadata.name],
  } as unknown as ResourceStore;

  it('shows the columns in the first event only', () => {
    const table = new TableEncoder(store, 'v1', 'None');
    const read = (first: boolean) => JSON.parse(table.frame('ADDED', stored(), first).bytes.toString()).object;
    expect(read(true)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '5' },
      columnDefinitions: [column],
      rows: [{ cells: ['a'], object: null }],
    });
    expect(read(false).columnDefinitions).toBeNull();
  });

  it.each([
    ['Metadata', 'PartialObjectMetadata'],
    ['Object', 'ConfigMap'],
  ] as const)('with includeObject=%s shows a %s in each row', (include, kind) => {
    const table = JSON.parse(new TableEncoder(store, 'v1beta1', include).encode(stored()).toString());
    expect(table.apiVersion).toBe('meta.k8s.io/v1beta1');
    expect(table.rows[0].object.kind).toBe(kind);
  });
});
