import { describe, expect, it } from 'vitest';
import { isObjectMeta, soundStatus } from './json-shape.ts';

const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 };

describe('soundStatus', () => {
  it('takes a Status as it is, without what is null', () => {
    expect(soundStatus(failure)).toEqual(failure);
    expect(soundStatus({ ...failure, details: null, message: null })).toEqual(failure);
    const details = { kind: null, causes: [null, { reason: 'ResourceVersionTooLarge', field: null }] };
    expect(soundStatus({ ...failure, details })?.details).toEqual({
      causes: [{}, { reason: 'ResourceVersionTooLarge' }],
    });
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['an array', []],
    ['a code in words', { ...failure, code: '410' }],
    ['half a code', { ...failure, code: 410.5 }],
    ['a code beyond 32 bits', { ...failure, code: 2 ** 32 + 410 }],
    ['a reason that is a number', { ...failure, reason: 5 }],
    ['details that are text', { ...failure, details: 'x' }],
    ['causes that are no list', { ...failure, details: { causes: {} } }],
    ['a cause that is a number', { ...failure, details: { causes: [5] } }],
    ['a time to wait in words', { ...failure, details: { retryAfterSeconds: '3' } }],
    ['metadata that are a list', { ...failure, metadata: [] }],
  ])('refuses %s', (_, value) => {
    expect(soundStatus(value)).toBeUndefined();
  });
});

describe('isObjectMeta', () => {
  it.each<[boolean, unknown]>([
    [true, undefined],
    [true, null],
    [true, { name: 'a', labels: { x: 'y' }, creationTimestamp: null, ownerReferences: [{ kind: 'Pod' }] }],
    [true, { creationTimestamp: '2024-01-02T03:04:05Z', managedFields: [{ time: '2024-01-02T03:04:05.6+02:00' }] }],
    [false, 'x'],
    [false, { name: 5 }],
    [false, { resourceVersion: 7 }],
    [false, { labels: { x: 5 } }],
    [false, { finalizers: 'x' }],
    [false, { creationTimestamp: 'yesterday' }],
    [false, { generation: 1.5 }],
    [false, { ownerReferences: ['x'] }],
  ])('is %s for %j', (expected, value) => {
    expect(isObjectMeta(value)).toBe(expected);
  });
});
