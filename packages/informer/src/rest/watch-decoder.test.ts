import { describe, expect, it } from 'vitest';
import { decodeWatchEvent } from './watch-decoder.ts';

const pod = { kind: 'Pod', apiVersion: 'v1', metadata: {} };

describe('decodeWatchEvent', () => {
  it.each(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])('takes %s as it is', (type) => {
    const document = { type, object: pod };
    expect(decodeWatchEvent(document, 'tolerant')).toBe(document);
  });

  it('takes an ERROR with any object', () => {
    expect(decodeWatchEvent({ type: 'ERROR', object: { kind: 'Status' } }, 'typed').type).toBe('ERROR');
    expect(decodeWatchEvent({ type: 'ERROR', object: pod }, 'typed').type).toBe('ERROR');
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
    const ingress = { type: 'ADDED', object: { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1' } };
    expect(decodeWatchEvent(ingress, 'typed')).toBe(ingress);
  });
});
