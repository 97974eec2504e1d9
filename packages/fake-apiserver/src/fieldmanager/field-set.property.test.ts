import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldSet } from './field-set.ts';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { fieldElement, keyElement, type Path, printPath, valueElement } from './path-element.ts';

const scalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer({ min: -5, max: 99 }), fc.boolean());
const element = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '__proto__', 'ü').map(fieldElement),
  fc.tuple(scalar, scalar).map(([x, y]) =>
    keyElement([
      ['name', x],
      ['b', y],
    ]),
  ),
  scalar.map(valueElement),
);
const path: fc.Arbitrary<Path> = fc.array(element, { minLength: 1, maxLength: 4 });
const set = fc.array(path, { maxLength: 12 }).map((paths) => FieldSet.of(...paths));
const texts = (one: FieldSet) => one.paths().map(printPath).sort();

describe('FieldSet', () => {
  it('survives fieldsV1 in canonical order', () => {
    fc.assert(
      fc.property(set, (one) => {
        const text = JSON.stringify(toFieldsV1(one));
        const read = fromFieldsV1(JSON.parse(text));
        expect(read.equals(one)).toBe(true);
        expect(JSON.stringify(toFieldsV1(read))).toBe(text);
      }),
    );
  });

  it('does set algebra on its paths', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [left, right] = [new Set(texts(a)), new Set(texts(b))];
        expect(texts(a.union(b))).toEqual([...new Set([...left, ...right])].sort());
        expect(texts(a.intersection(b))).toEqual([...left].filter((one) => right.has(one)).sort());
        expect(texts(a.difference(b))).toEqual([...left].filter((one) => !right.has(one)).sort());
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
      }),
    );
  });

  it('stays the very same set when nothing is gained or lost', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(a.union(a.intersection(b))).toBe(a);
        expect(a.difference(b.difference(a))).toBe(a);
      }),
    );
  });

  it('removes what lies below a member recursively', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const gone = b.paths();
        const kept = a
          .paths()
          .filter((one) => !gone.some((prefix) => prefix.every((step, index) => one[index] === step)));
        expect(texts(a.recursiveDifference(b))).toEqual(kept.map(printPath).sort());
      }),
    );
  });

  it('answers membership path by path', () => {
    fc.assert(
      fc.property(set, path, (one, probe) => {
        expect(one.has(probe)).toBe(texts(one).includes(printPath(probe)));
      }),
    );
  });
});
