import { describe, expect, it } from 'vitest';
import { Query } from '../endpoints/query.ts';
import { parseDuration, requestTimeoutMs } from './deadline.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['5s', 5000],
    ['1h2m3.5s', 3_723_500],
    ['-1s', -1000],
    ['100ms', 100],
    ['.5s', 500],
    ['1µs', 0.001],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each([
    ['abc', 'time: invalid duration "abc"'],
    ['', 'time: invalid duration ""'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['.s', 'time: invalid duration ".s"'],
  ])('refuses %s', (text, message) => {
    expect(() => parseDuration(text)).toThrow(message);
  });
});

describe('requestTimeoutMs', () => {
  it.each([
    ['', 60_000],
    ['timeout=5s', 5_000],
    ['timeout=0s', 60_000],
    ['timeout=-1s', 60_000],
    ['timeout=70s', 60_000],
  ])('of "%s" is %d', (query, ms) => {
    expect(requestTimeoutMs(new Query(query), 60_000)).toBe(ms);
  });

  it('refuses what is no duration', () => {
    expect(() => requestTimeoutMs(new Query('timeout=abc'), 1)).toThrow(
      'invalid timeout specified in the request URL - time: invalid duration "abc"',
    );
  });
});
