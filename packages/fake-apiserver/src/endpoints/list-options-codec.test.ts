import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { decodeListOptions, defaultListOptions, validateListOptions } from './list-options-codec.ts';
import { Query } from './query.ts';

const decode = (query: string) => decodeListOptions(new Query(query));

function refusal(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('decodeListOptions', () => {
  it.each([
    ['watch=true', true],
    ['watch=', true],
    ['watch=yes', true],
    ['watch=0', false],
    ['watch=FALSE', false],
    ['', false],
  ])('reads the boolean in "%s" as %s', (query, expected) => {
    expect(decode(query).watch).toBe(expected);
  });

  it('keeps the difference between an absent and a false sendInitialEvents', () => {
    expect(decode('').sendInitialEvents).toBeUndefined();
    expect(decode('sendInitialEvents=false').sendInitialEvents).toBe(false);
    expect(decode('sendInitialEvents=').sendInitialEvents).toBe(true);
  });

  it.each([
    ['limit=abc', 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['timeoutSeconds=1s', 'strconv.ParseInt: parsing "1s": invalid syntax'],
    ['limit=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    ['labelSelector=a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['fieldSelector=foo', "invalid selector: 'foo'; can't understand 'foo'"],
    // Of two mistakes the number is seen first.
    ['fieldSelector=foo&limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
  ])('answers %s with a 400', (query, message) => {
    expect(refusal(() => decode(query)).status).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });
});

describe('validateListOptions', () => {
  const invalid = (body: string) => `ListOptions.meta.k8s.io "" is invalid: ${body}`;
  const forbidden = 'Forbidden: resourceVersionMatch is forbidden';

  it.each([
    ['resourceVersionMatch=Exact', `resourceVersionMatch: ${forbidden} unless resourceVersion is provided`],
    [
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      `resourceVersionMatch: ${forbidden} when continue is provided`,
    ],
    [
      'resourceVersionMatch=Foo&resourceVersion=1',
      'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [
      'resourceVersionMatch=Foo',
      `[resourceVersionMatch: ${forbidden} unless resourceVersion is provided, resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""]`,
    ],
  ])('refuses the list %s', (query, body) => {
    const { status } = refusal(() => validateListOptions(decode(query), true));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', message: invalid(body) });
    expect(status.details).toMatchObject({ group: 'meta.k8s.io', kind: 'ListOptions' });
  });

  it.each([
    [
      'sendInitialEvents=true',
      true,
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
      false,
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    ],
    [
      'resourceVersionMatch=NotOlderThan',
      true,
      `resourceVersionMatch: ${forbidden} for watch unless sendInitialEvents is provided`,
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x',
      true,
      `resourceVersionMatch: ${forbidden} when continue is provided`,
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=Exact',
      true,
      '[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
    ],
  ])('refuses the watch %s with the gate %s', (query, gate, body) => {
    const { status } = refusal(() => validateListOptions(decode(`watch=1&${query}`), gate));
    expect(status.message).toBe(invalid(body));
  });

  it.each(['', 'resourceVersion=5&resourceVersionMatch=Exact', 'watch=1&resourceVersion=0', 'watch=1&continue=abc'])(
    'accepts "%s"',
    (query) => {
      expect(() => validateListOptions(decode(query), false)).not.toThrow();
    },
  );
});

describe('defaultListOptions', () => {
  it.each([
    ['watch=1', true],
    ['watch=1&resourceVersion=0', true],
    ['watch=1&resourceVersion=5', undefined],
    ['watch=1&sendInitialEvents=false', false],
    ['', undefined],
  ])('makes sendInitialEvents of "%s" %s when the gate is on', (query, expected) => {
    expect(defaultListOptions(decode(query), true).sendInitialEvents).toBe(expected);
  });

  it('changes nothing when the gate is off', () => {
    const options = decode('watch=1');
    expect(defaultListOptions(options, false)).toBe(options);
  });
});
