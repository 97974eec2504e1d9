import { describe, expect, it } from 'vitest';
import { keyElement, printPathElement, valueElement } from './path-element.ts';

describe('printPathElement', () => {
  it.each([
    ['c', '[name="c"]'],
    [3, '[name=3]'],
    [null, '[name=null]'],
    [['x', 1], '[name=["x",1]]'],
    [{ b: 1, a: 'x' }, '[name=a="x"b=1]'],
    // Its own toString is a text, not a function.
    [{ toString: 'b' }, '[name=toString="b"]'],
    [JSON.parse('{"__proto__":true}'), '[name=__proto__=true]'],
  ])('prints a key of %j as %s', (value, text) => {
    expect(printPathElement(keyElement([['name', value]]))).toBe(text);
  });

  it('prints a member of a set', () => {
    expect(printPathElement(valueElement('x'))).toBe('[="x"]');
  });
});
