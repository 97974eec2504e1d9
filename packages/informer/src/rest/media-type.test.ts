import { describe, expect, it } from 'vitest';
import { parseMediaType } from './media-type.ts';

describe('parseMediaType', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON; Charset="utf-8"', 'application/json'],
    ['application/json;stream=watch', 'application/json'],
    ['application/json;', 'application/json'],
    ['application', 'application'],
  ])('reads %s', (header, type) => {
    expect(parseMediaType(header)).toEqual({ type });
  });

  it.each(['', ';', 'two words', 'a/b, c/d', '"application/json"', 'a/', 'a/b/c'])('finds no type in %j', (header) => {
    expect(parseMediaType(header)).toMatchObject({ type: '', problem: expect.any(String) });
  });

  it('keeps the type beside a malformed parameter, but not beside two that contradict each other', () => {
    expect(parseMediaType('application/json; charset')).toEqual({
      type: 'application/json',
      problem: 'malformed parameter',
    });
    expect(parseMediaType('application/json; a=1; a=2')).toEqual({ type: '', problem: 'duplicate parameter' });
    expect(parseMediaType('application/json; a=1; a=1')).toEqual({ type: 'application/json' });
  });
});
