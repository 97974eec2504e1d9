import { describe, expect, it } from 'vitest';
import { Query, unescapeComponent } from './query.ts';

describe('Query', () => {
  it('takes the first of duplicates and keeps all', () => {
    const query = new Query('a=1&a=2&b=');
    expect(query.first('a')).toBe('1');
    expect(query.all('a')).toEqual(['1', '2']);
    expect(query.first('b')).toBe('');
    expect(query.first('c')).toBeUndefined();
  });

  it('decodes escapes and plus signs in names and values', () => {
    expect(new Query('label%53elector=a+in+%28x%2Cy%29').first('labelSelector')).toBe('a in (x,y)');
  });

  it('drops pairs with a semicolon or a broken escape and keeps the others', () => {
    const query = new Query('a=1;b=2&c=%zz&d=%&e=5');
    expect(query.has('a')).toBe(false);
    expect(query.has('c')).toBe(false);
    expect(query.has('d')).toBe(false);
    expect(query.first('e')).toBe('5');
  });

  it('has no inherited parameters', () => {
    const query = new Query('__proto__=1&constructor=2');
    expect(query.first('__proto__')).toBe('1');
    expect(new Query('').has('toString')).toBe(false);
  });
});

describe('unescapeComponent', () => {
  it.each([
    ['a%2Fb', 'a/b'],
    ['a+b', 'a+b'],
    ['%e2%82%ac', '€'],
    ['%ff', '\ufffd'],
    ['100%', undefined],
  ])('turns %s into %s', (text, expected) => {
    expect(unescapeComponent(text, false)).toBe(expected);
  });
});
