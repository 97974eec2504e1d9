// The small modules that hold little more than shapes.
import { describe, expect, it } from 'vitest';
import { assertNever } from './assert-never.ts';
import { formatGroupResource, formatGroupVersion, parseGroupVersion } from './group-version.ts';
import { OptionsError } from './options-error.ts';
import { compareResourceVersions, resourceVersionOf } from './resource-version.ts';
import { isStatus } from './status.ts';
import type { WatchEvent } from './watch-event.ts';
import { INITIAL_EVENTS_END_ANNOTATION, isInitialEventsEnd } from './watch-event.ts';

describe('group versions', () => {
  it.each([
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['apps/', { group: 'apps', version: '' }],
    ['a/b/c', undefined],
  ])('parses %j', (text, expected) => {
    expect(parseGroupVersion(text)).toEqual(expected);
  });

  it('writes the core group without a name', () => {
    expect(formatGroupVersion({ group: '', version: 'v1' })).toBe('v1');
    expect(formatGroupVersion({ group: 'apps', version: 'v1' })).toBe('apps/v1');
    expect(formatGroupResource({ group: '', resource: 'pods' })).toBe('pods');
    expect(formatGroupResource({ group: 'apps', resource: 'deployments' })).toBe('deployments.apps');
  });
});

describe('resource versions', () => {
  it.each([
    ['5', '5', 0],
    ['9', '10', -1],
    ['10', '9', 1],
    ['99999999999999999999', '100000000000000000000', -1],
  ])('compares %s and %s as integers of any size', (a, b, expected) => {
    expect(Math.sign(compareResourceVersions(a, b)!)).toBe(expected);
  });

  it.each(['', '0', '05', '-1', '1.5', 'abc', '１'])('does not compare %j', (text) => {
    expect(compareResourceVersions(text, '1')).toBeUndefined();
    expect(compareResourceVersions('1', text)).toBeUndefined();
  });

  it('are empty for an object without one', () => {
    expect(resourceVersionOf({})).toBe('');
    expect(resourceVersionOf({ metadata: { resourceVersion: '7' } })).toBe('7');
  });
});

describe('isInitialEventsEnd', () => {
  const bookmark = (annotations?: Record<string, string>): WatchEvent => ({
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: '1', ...(annotations === undefined ? {} : { annotations }) } },
  });

  it('wants a bookmark with the annotation and its value', () => {
    expect(isInitialEventsEnd(bookmark({ [INITIAL_EVENTS_END_ANNOTATION]: 'true' }))).toBe(true);
    expect(isInitialEventsEnd(bookmark({ [INITIAL_EVENTS_END_ANNOTATION]: 'false' }))).toBe(false);
    expect(isInitialEventsEnd(bookmark())).toBe(false);
    const metadata = { annotations: { [INITIAL_EVENTS_END_ANNOTATION]: 'true' } };
    expect(isInitialEventsEnd({ type: 'ADDED', object: { metadata } })).toBe(false);
  });
});

describe('isStatus', () => {
  it('knows a Status by its kind and version', () => {
    expect(isStatus({ kind: 'Status', apiVersion: 'v1' })).toBe(true);
    expect(isStatus({ kind: 'Status' })).toBe(true);
    for (const value of [{ kind: 'Status', apiVersion: 'v2' }, { kind: 'Pod' }, null, 'Status', []]) {
      expect(isStatus(value)).toBe(false);
    }
  });
});

describe('OptionsError', () => {
  it.each([
    ['ten', '"ten"'],
    [-1, 'number -1'],
    [undefined, 'undefined'],
    [null, 'null'],
    [[1], 'an array'],
    [Object.create(null), 'an object'],
    [Symbol('s'), 'symbol Symbol(s)'],
  ])('names the option, what is wanted and what was given', (value, described) => {
    const error = new OptionsError('limit', value, 'a positive integer');
    expect(error.message).toBe(`option limit must be a positive integer, got ${described}`);
    expect([error.code, error.option]).toEqual(['INVALID_OPTION', 'limit']);
  });
});

describe('assertNever', () => {
  it('throws with the value it got', () => {
    expect(() => assertNever('x' as never)).toThrow('unexpected value "x"');
  });
});
