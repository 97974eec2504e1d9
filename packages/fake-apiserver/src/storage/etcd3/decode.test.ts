import { describe, expect, it } from 'vitest';
import type { KeyValue } from '../../etcd/client.ts';
import type { ApiObject } from '../api-object.ts';
import { noMetrics } from '../metrics.ts';
import { Decoder } from './decode.ts';

const object: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', uid: 'u' } };
const data = Buffer.from(JSON.stringify(object));
const kv = (key: string, modRevision: number): KeyValue => ({
  key,
  value: data,
  createRevision: 1,
  modRevision,
  version: 1,
  lease: '',
});

function setUp() {
  let decoded = 0;
  const decoder = new Decoder(
    {
      encode: () => data,
      decode: (bytes) => {
        decoded++;
        return JSON.parse(bytes.toString()) as ApiObject;
      },
    },
    noMetrics.counter('errors'),
  );
  return { decoder, count: () => decoded };
}

describe('Decoder', () => {
  it('decodes a buffer once, however often it is read', () => {
    const { decoder, count } = setUp();
    const first = decoder.decode(kv('/a', 2));
    expect(decoder.decode(kv('/a', 2))).toBe(first);
    expect([count(), first.object.metadata.resourceVersion]).toEqual([1, '2']);
  });

  it('keeps states apart that have the same bytes', () => {
    const { decoder } = setUp();
    decoder.decode(kv('/a', 2));
    expect(decoder.decode(kv('/a', 3))).toMatchObject({ key: '/a', revision: 3 });
    expect(decoder.decode(kv('/b', 3))).toMatchObject({ key: '/b', revision: 3 });
  });

  it('gives watchers what the writer wrote, before the writer has the answer', () => {
    const { decoder, count } = setUp();
    decoder.writing(object, data);
    const told = decoder.decode(kv('/a', 2));
    expect(decoder.written('/a', object, 2, data)).toBe(told);
    expect(count()).toBe(0);
  });

  it('reads a state again that was shrunk, when somebody asks for it', () => {
    const { decoder, count } = setUp();
    const stored = decoder.decode(kv('/a', 2));
    const before = stored.object;
    const encode = () => Buffer.from('form');
    stored.encoding('form', encode);
    stored.shrink();
    expect([count(), stored.made('form')]).toEqual([1, undefined]);
    expect(stored.object).toEqual(before);
    expect(stored.object).toBe(stored.object);
    expect(Object.isFrozen(stored.object)).toBe(true);
    expect(count()).toBe(2);
  });

  it('keeps an object that it could not read again', () => {
    const { decoder } = setUp();
    const deleted = decoder.deleted(kv('/a', 2), 9);
    deleted.shrink();
    expect(deleted.object.metadata.resourceVersion).toBe('9');
  });

  it('shows a deleted object with the version of its deletion', () => {
    const { decoder } = setUp();
    const deleted = decoder.deleted(kv('/a', 2), 9);
    expect(deleted).toMatchObject({
      key: '/a',
      revision: 9,
      object: { metadata: { name: 'a', resourceVersion: '9' } },
    });
    expect(decoder.decode(kv('/a', 2)).object.metadata.resourceVersion).toBe('2');
  });
});
