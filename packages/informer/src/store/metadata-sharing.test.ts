import type { KubernetesObject } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MetadataSharing } from './metadata-sharing.ts';
import { sameJson } from './same-json.ts';

const entry = (manager: string, time: string, field = 'f:data'): object => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { [field]: { '.': {}, 'f:x': {} } },
});
const object = (name: string, more: object): KubernetesObject =>
  JSON.parse(JSON.stringify({ metadata: { name, namespace: 'shop', ...more } })) as KubernetesObject;

function shared(objects: readonly KubernetesObject[]): Record<string, unknown>[] {
  const sharing = new MetadataSharing();
  for (const each of objects) sharing.share(each);
  return objects.map(({ metadata }) => metadata as Record<string, unknown>);
}

describe('MetadataSharing', () => {
  it('keeps equal labels, owners and managed fields once, and guards them', () => {
    const parts = {
      labels: { app: 'a' },
      ownerReferences: [{ uid: 'u' }],
      managedFields: [entry('m', 't')],
    };
    const [one, two] = shared([object('a', parts), object('b', parts)]);
    for (const part of ['labels', 'ownerReferences', 'managedFields']) {
      expect(two![part]).toBe(one![part]);
      expect(Object.isFrozen(two![part])).toBe(true);
    }
    expect(() => Object.assign(two!['labels'] as object, { app: 'b' })).toThrow(TypeError);
  });

  it('keeps the fields of entries once that differ in their time', () => {
    const [one, two] = shared([
      object('a', { managedFields: [entry('m', '1')] }),
      object('b', { managedFields: [entry('m', '2')] }),
    ]);
    const fieldsOf = (metadata: Record<string, unknown>) => (metadata['managedFields'] as { fieldsV1: object }[])[0]!;
    expect(fieldsOf(two!)).not.toBe(fieldsOf(one!));
    expect(fieldsOf(two!).fieldsV1).toBe(fieldsOf(one!).fieldsV1);
  });

  it('leaves what only one object has as it was, unfrozen', () => {
    const [one] = shared([object('a', { labels: { app: 'a' } }), object('b', { labels: { app: 'b' } })]);
    expect(Object.isFrozen(one!['labels'])).toBe(false);
  });

  it('gives up on a place where nothing repeats', () => {
    const objects = Array.from({ length: 700 }, (_, n) => object(`o${n}`, { labels: { n: String(n) } }));
    const late = [object('x', { labels: { n: '699' } }), object('y', { labels: { n: '699' } })];
    const metadata = shared([...objects, ...late]);
    expect(metadata.at(-1)!['labels']).not.toBe(metadata.at(-2)!['labels']);
  });

  it('never changes what an object says, whatever its metadata is', () => {
    const small = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), fc.constantFrom('', 'x', 'y'));
    const fields = fc.oneof(small, fc.constantFrom(null, 1, 'x', []), fc.array(small, { maxLength: 2 }));
    const managed = fc.record({
      manager: fc.constantFrom('m', 'n', 3),
      time: fc.constantFrom('1', '2'),
      fieldsV1: fields,
    });
    const metadata = fc.record(
      {
        namespace: fc.constantFrom('a', 'b', null, 7),
        creationTimestamp: fc.constantFrom(null, 't', 'u'),
        labels: fields,
        ownerReferences: fields,
        managedFields: fc.oneof(fc.array(fc.oneof(managed, fields), { maxLength: 3 }), fields),
      },
      { requiredKeys: [] },
    );
    const objects = fc.array(fc.record({ metadata: fc.oneof(metadata, fc.constantFrom(null, 1, 'x')) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(objects, (list) => {
        const sharing = new MetadataSharing();
        const texts = list.map((each) => JSON.stringify(each));
        const decoded = texts.map((text) => JSON.parse(text) as KubernetesObject);
        for (const each of decoded) sharing.share(each);
        decoded.forEach((each, index) => {
          expect(each).toEqual(JSON.parse(texts[index]!));
        });
      }),
    );
  });
});

describe('sameJson', () => {
  it.each([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [{ a: 1, b: 1 }, { a: 1 }, false],
    [[1, 2], [1], false],
    [[], {}, false],
    [{}, null, false],
    ['1', 1, false],
    [JSON.parse('{"__proto__":{}}'), { x: 1 }, false],
    [JSON.parse('{"toString":1}'), {}, false],
  ])('compares %j and %j: %s', (one, other, same) => {
    expect(sameJson(one, other)).toBe(same);
    expect(sameJson(other, one)).toBe(same);
  });
});
