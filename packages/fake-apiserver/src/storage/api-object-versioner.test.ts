// Upstream test: apiserver@v0.30.3:pkg/storage/api_object_versioner_test.go
import { describe, expect, it } from 'vitest';
import type { ApiObject } from './api-object.ts';
import { canonicalResourceVersion, parseResourceVersion, withResourceVersion } from './api-object-versioner.ts';

describe('parseResourceVersion', () => {
  it.each([
    ['', 0],
    ['0', 0],
    ['1', 1],
    ['007', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['18446744073709551615', 18_446_744_073_709_552_000],
  ])('reads %j', (text, expected) => {
    expect(parseResourceVersion(text)).toBe(expected);
  });

  it.each([
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['+1', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    [' 1', 'invalid syntax'],
    ['1_000', 'invalid syntax'],
    ['0x10', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
    ['99999999999999999999999', 'value out of range'],
  ])('refuses %j as Go does', (text, why) => {
    expect(() => parseResourceVersion(text)).toThrow(
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`,
    );
  });

  it('keeps the digits of a version that no number can hold for messages', () => {
    expect(canonicalResourceVersion('18446744073709551615')).toBe('18446744073709551615');
    expect(canonicalResourceVersion('007')).toBe('7');
  });
});

describe('withResourceVersion', () => {
  const object = JSON.parse(
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","__proto__":{"x":1},"resourceVersion":"1","selfLink":"/a","labels":{"__proto__":"v"}},"__proto__":{"y":2}}',
  ) as ApiObject;

  it('replaces the version behind the uid, drops the self link, and leaves the rest and the original alone', () => {
    const versioned = withResourceVersion(object, '7');
    expect(JSON.stringify(versioned)).toBe(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"7","__proto__":{"x":1},"labels":{"__proto__":"v"}},"__proto__":{"y":2}}',
    );
    expect(object.metadata.resourceVersion).toBe('1');
    expect(Object.isFrozen(versioned) && Object.isFrozen(versioned.metadata)).toBe(true);
  });

  it('puts the version in order where the fields are sorted, as those of custom resources', () => {
    const sorted = JSON.parse(
      '{"apiVersion":"a/v1","kind":"A","metadata":{"creationTimestamp":"t","name":"a","uid":"u"}}',
    ) as ApiObject;
    expect(JSON.stringify(withResourceVersion(sorted, '7').metadata)).toBe(
      '{"creationTimestamp":"t","name":"a","resourceVersion":"7","uid":"u"}',
    );
  });

  it('takes names of user data as names, also that of the prototype', () => {
    const versioned = withResourceVersion(object, '7');
    expect(Object.getPrototypeOf(versioned)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(versioned.metadata)).toBe(Object.prototype);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('gives a version to metadata that has nothing else', () => {
    const bare = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
    expect(withResourceVersion(bare, '7').metadata).toEqual({ resourceVersion: '7' });
  });
});
