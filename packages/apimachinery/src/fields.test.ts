import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeFieldValue, everythingFields, fieldSelectorFromSet, parseFieldSelector } from './fields.ts';
import type { FieldSelector } from './selector.ts';
import { SelectorParseError } from './selector.ts';

describe('parseFieldSelector', () => {
  it('says what it cannot understand in the words of the server', () => {
    expect(() => parseFieldSelector('a=b,foo')).toThrow(
      new SelectorParseError("invalid selector: 'a=b,foo'; can't understand 'foo'", 'a=b,foo'),
    );
  });

  it('unescapes values', () => {
    const selector = parseFieldSelector('a=x\\,y\\=z\\\\');
    expect(selector.requiresExactMatch('a')).toBe('x,y=z\\');
    expect(selector.matches({ a: 'x,y=z\\' })).toBe(true);
  });

  it('counts a missing field as empty, also one that every JavaScript object has', () => {
    expect(parseFieldSelector('constructor=').matches({})).toBe(true);
    expect(parseFieldSelector('a!=').matches({})).toBe(false);
  });

  it('gives the selector that matches everything when nothing is asked', () => {
    expect(parseFieldSelector('')).toBe(everythingFields);
    expect(parseFieldSelector(',=,')).toBe(everythingFields);
    expect(fieldSelectorFromSet({})).toBe(everythingFields);
  });

  it('round-trips any field value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const text = fieldSelectorFromSet({ 'metadata.name': value }).toString();
        expect(text).toBe(`metadata.name=${escapeFieldValue(value)}`);
        expect(parseFieldSelector(text).requiresExactMatch('metadata.name')).toBe(value);
      }),
    );
  });

  it('either reads or refuses with SelectorParseError, whatever the text', () => {
    const piece = fc.constantFrom('a', '=', '==', '!=', '!', ',', '\\', '\ud83d\ude00', '\ud83d', ' ');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map((list) => list.join('')),
        ),
        (text) => {
          const selector = readOrRefuse(text);
          if (selector === undefined) return;
          // Terms are sorted as they were written, escapes and all, so their order may change.
          const again = parseFieldSelector(selector.toString());
          expect(new Set(again.requirements)).toEqual(new Set(selector.requirements));
        },
      ),
      { numRuns: 500 },
    );
  });
});

function readOrRefuse(text: string): FieldSelector | undefined {
  try {
    return parseFieldSelector(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SelectorParseError);
    return undefined;
  }
}

describe('transform', () => {
  it('maps fields and values and keeps the operators', () => {
    const selector = parseFieldSelector('spec.host=a,x!=b').transform((field, value) => ({
      field: field === 'spec.host' ? 'spec.nodeName' : field,
      value: value.toUpperCase(),
    }));
    expect(selector.toString()).toBe('spec.nodeName=A,x!=B');
    expect(selector.requiresExactMatch('x')).toBeUndefined();
  });

  it('drops what is mapped to nothing', () => {
    const selector = parseFieldSelector('a=1,b=2,c=3');
    const kept = selector.transform((field, value) =>
      field === 'a' ? undefined : field === 'b' ? { field: '', value: '' } : { field, value },
    );
    expect(kept.toString()).toBe('c=3');
    expect(selector.transform(() => undefined)).toBe(everythingFields);
  });

  it('lets the map refuse', () => {
    const refuse = (): never => {
      throw new Error('field label not supported: a');
    };
    expect(() => parseFieldSelector('a=1').transform(refuse)).toThrow('field label not supported: a');
  });
});
