import { describe, expect, it } from 'vitest';
import { applyDefaults, dropNulls } from './defaulting.ts';
import { newStructural } from './structural.ts';

const schema = newStructural({
  type: 'object',
  properties: {
    n: { type: 'integer', default: 5 },
    o: { type: 'object', default: {}, properties: { s: { type: 'string', default: 'x' } } },
    opt: { type: 'string', nullable: true, default: 'd' },
    plain: { type: 'string' },
    list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string', default: 'v' } } } },
    map: { type: 'object', additionalProperties: { type: 'string', default: 'm' } },
  },
});

describe('defaulting', () => {
  it('fills absent fields in, and the defaults inside of a default', () => {
    expect(applyDefaults({}, schema)).toEqual({ n: 5, o: { s: 'x' }, opt: 'd' });
  });

  it('replaces a null that may not be null and keeps one that may', () => {
    expect(applyDefaults({ n: null, opt: null }, schema)).toEqual({ n: 5, o: { s: 'x' }, opt: null });
  });

  it('reaches into lists and maps', () => {
    const value = applyDefaults({ n: 1, o: {}, opt: '', list: [{}, { k: 'own' }], map: { a: null, b: 'own' } }, schema);
    expect(value).toEqual({
      n: 1,
      o: { s: 'x' },
      opt: '',
      list: [{ k: 'v' }, { k: 'own' }],
      map: { a: 'm', b: 'own' },
    });
  });

  it('returns the same object when every field is there', () => {
    const value = { n: 1, o: { s: '' }, opt: 'x' };
    expect(applyDefaults(value, schema)).toBe(value);
  });

  it('drops nulls without a default, but not inside of lists', () => {
    expect(dropNulls({ n: null, plain: null, opt: null, unknown: null, list: [null] }, schema)).toEqual({
      n: null,
      opt: null,
      unknown: null,
      list: [null],
    });
  });
});
