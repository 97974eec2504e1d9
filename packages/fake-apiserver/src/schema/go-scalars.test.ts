import { describe, expect, it } from 'vitest';
import { canonicalBase64, canonicalDuration, ScalarError } from './go-scalars.ts';
import { canonicalMicroTime, canonicalTime } from './go-time.ts';

describe('canonicalTime', () => {
  it.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-02-29T23:59:59.999+01:30', '2024-02-29T22:29:59Z'],
    ['2024-01-01T2:00:00Z', '2024-01-01T02:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T00:00:00.000000001Z', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z'],
  ])('reads %s as %s', (text, printed) => {
    expect(canonicalTime(text)).toBe(printed);
  });

  it.each([
    ['x', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    [
      '2024-01-01T00:00:00',
      'parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
    ],
    ['2024-01-01T00:00:00Zü', 'parsing time "2024-01-01T00:00:00Z\\xc3\\xbc": extra text: "\\xc3\\xbc"'],
    ['2024-01-01T00:00:00+25:00', 'parsing time "2024-01-01T00:00:00+25:00": time zone offset hour out of range'],
  ])('refuses %s', (text, message) => {
    expect(() => canonicalTime(text)).toThrow(new ScalarError(message));
  });
});

describe('canonicalMicroTime', () => {
  it('wants six digits of a second', () => {
    expect(canonicalMicroTime('2024-01-01T00:00:00.123456+02:00')).toBe('2023-12-31T22:00:00.123456Z');
    expect(() => canonicalMicroTime('2024-01-01T00:00:00Z')).toThrow('cannot parse "Z" as ".000000"');
    expect(() => canonicalMicroTime('2024-01-01T00:00:00.1234567Z')).toThrow('cannot parse "7Z" as "Z07:00"');
  });
});

describe('canonicalBase64', () => {
  it('keeps what is canonical and drops line breaks', () => {
    expect(canonicalBase64('aGk=')).toBe('aGk=');
    expect(canonicalBase64('aG\nk=\r\n')).toBe('aGk=');
    expect(canonicalBase64('')).toBe('');
  });

  it.each([
    ['*', 0],
    ['aGk', 0],
    ['aGkaG', 4],
    ['aGk=x', 4],
    ['a===', 1],
    ['aG=x', 2],
    ['YQ==\n.', 5],
  ])('says where %j goes wrong', (text, at) => {
    expect(() => canonicalBase64(text)).toThrow(`illegal base64 data at input byte ${at}`);
  });
});

describe('canonicalDuration', () => {
  it('prints as Go prints', () => {
    expect(['90m', '1.5h', '0', '-1s500ms', '100us'].map(canonicalDuration)).toEqual([
      '1h30m0s',
      '1h30m0s',
      '0s',
      '-1.5s',
      '100µs',
    ]);
    expect(() => canonicalDuration('5')).toThrow('time: invalid duration "5"');
  });
});
