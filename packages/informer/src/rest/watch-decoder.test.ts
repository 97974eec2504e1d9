import { describe, expect, it } from 'vitest';
import { decodeWatchEvent } from './watch-decoder.ts';

const pod = { kind: 'Pod', apiVersion: 'v1', metadata: {} };

describe('decodeWatchEvent', () => {
  it.each(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])('takes %s as it is', (type) => {
    const document = { type, object: pod };
    expect(decodeWatchEvent(document, 'tolerant')).toBe(document);
  });

  it('takes an ERROR with any object', () => {
    expect(decodeWatchEvent({ type: 'ERROR', object: { kind: 'Status' } }, 'tolerant').type).toBe('ERROR');
    expect(decodeWatchEvent({ type: 'ERROR', object: pod }, 'typed').type).toBe('ERROR');
  });

  it.each(['tolerant', 'typed', 'dynamic'] as const)('refuses an ERROR whose Status is malformed (%s)', (decoding) => {
    const object = { kind: 'Status', apiVersion: 'v1', code: 500, details: { causes: {} } };
    expect(() => decodeWatchEvent({ type: 'ERROR', object }, decoding)).toThrow(/another type/);
  });

  it('takes a Status of any version for one', () => {
    const object = { kind: 'Status', apiVersion: 'acme.test/v2', code: 429 };
    expect(decodeWatchEvent({ type: 'ERROR', object }, 'typed')).toEqual({ type: 'ERROR', object });
  });

  it.each<[unknown, object]>([
    [undefined, {}],
    [null, {}],
    ['x', {}],
    [[], {}],
    [{ name: 5, namespace: null, resourceVersion: 7, uid: {}, labels: { a: 'b' } }, { labels: { a: 'b' } }],
  ])('leaves of metadata %j only what a cache can read', (metadata, expected) => {
    for (const decoding of ['tolerant', 'dynamic'] as const) {
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: structuredClone(metadata) };
      expect(decodeWatchEvent({ type: 'ADDED', object }, decoding).object).toMatchObject({ metadata: expected });
      expect(object.metadata).toEqual(expected);
    }
  });

  it.each<[string, unknown]>([
    ['no object at all', 5],
    ['null', null],
    ['an unknown type', { type: 'SYNC', object: pod }],
    ['no type', { object: pod }],
    ['a null object', { type: 'ADDED', object: null }],
    ['an array', { type: 'ADDED', object: [] }],
  ])('refuses %s', (_, document) => {
    expect(() => decodeWatchEvent(document, 'tolerant')).toThrow(/unable to decode an event/);
  });

  it('takes an object without a kind only when tolerant', () => {
    const document = { type: 'ADDED', object: { metadata: {} } };
    expect(decodeWatchEvent(document, 'tolerant')).toBe(document);
    expect(() => decodeWatchEvent(document, 'dynamic')).toThrow(/'Kind' is missing/);
    expect(() => decodeWatchEvent(document, 'typed')).toThrow(/'Kind' is missing/);
    const unversioned = { type: 'ADDED', object: { kind: 'Pod', metadata: {} } };
    expect(decodeWatchEvent(unversioned, 'tolerant')).toBe(unversioned);
    expect(() => decodeWatchEvent(unversioned, 'dynamic')).toThrow(/'apiVersion' is missing/);
  });

  it('refuses a frame that calls itself something else than a watch event, unless tolerant', () => {
    const frame = (fields: object) => ({ ...fields, type: 'ADDED', object: pod });
    for (const fields of [{ kind: 'PodList' }, { apiVersion: 'v7' }]) {
      expect(() => decodeWatchEvent(frame(fields), 'typed')).toThrow(/another (kind|version)/);
      expect(() => decodeWatchEvent(frame(fields), 'dynamic')).toThrow(/another (kind|version)/);
      expect(decodeWatchEvent(frame(fields), 'tolerant').type).toBe('ADDED');
    }
    expect(decodeWatchEvent(frame({ kind: 'WatchEvent', apiVersion: 'v1' }), 'dynamic').type).toBe('ADDED');
    expect(decodeWatchEvent(frame({ apiVersion: 'apps/v1' }), 'typed').type).toBe('ADDED');
  });

  it('refuses fields of another type as a generated client would', () => {
    const map = (fields: object) => ({ type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', ...fields } });
    for (const fields of [{ data: 'x' }, { data: { a: 5 } }, { metadata: { name: 5 } }, { immutable: 'yes' }]) {
      expect(() => decodeWatchEvent(map(fields), 'typed')).toThrow(/another type/);
      expect(decodeWatchEvent(map(fields), 'dynamic').type).toBe('ADDED');
    }
    expect(decodeWatchEvent(map({ data: { a: null }, metadata: null }), 'typed').type).toBe('ADDED');
  });

  it('refuses a foreign group only as a generated client would', () => {
    const widget = { type: 'ADDED', object: { kind: 'Widget', apiVersion: 'acme.test/v1' } };
    expect(() => decodeWatchEvent(widget, 'typed')).toThrow(/registered/);
    expect(decodeWatchEvent(widget, 'dynamic')).toBe(widget);
    const later = { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v2' } };
    expect(() => decodeWatchEvent(later, 'typed')).toThrow(/registered/);
    const secret = (data: unknown) => ({ type: 'ADDED', object: { kind: 'Secret', apiVersion: 'v1', data } });
    expect(() => decodeWatchEvent(secret({ a: '5' }), 'typed')).toThrow(/base64/);
    expect(decodeWatchEvent(secret({ a: 'YQ==' }), 'typed').type).toBe('ADDED');
    const unknown = { type: 'ADDED', object: { kind: 'Widget', apiVersion: 'v1' } };
    expect(() => decodeWatchEvent(unknown, 'typed')).toThrow(/registered/);
    const ingress = { type: 'ADDED', object: { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1' } };
    expect(decodeWatchEvent(ingress, 'typed')).toBe(ingress);
  });
});
