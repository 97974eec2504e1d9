import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameDecoder } from './frame-decoder.ts';
import { ListDecoder } from './list-decoder.ts';

const json = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
  noNullPrototype: true,
});
const cuts = fc.array(fc.nat(), { maxLength: 12 });

function chunksOf(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(positions.map((position) => position % (bytes.length + 1)))].sort((a, b) => a - b);
  const ends = [...sorted, bytes.length];
  let from = 0;
  return ends.map((end) => {
    const chunk = bytes.slice(from, end);
    from = end;
    return chunk;
  });
}
const normal = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('FrameDecoder under any chunking', () => {
  it('gives the documents that were written, however they are spaced and cut', () => {
    const written = fc.array(fc.tuple(json, fc.constantFrom('\n', '', '\r\n', '\n\n', '  \n'), fc.constantFrom(0, 2)), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(written, cuts, (frames, positions) => {
        const text = frames
          .map(([value, separator, indent]) => JSON.stringify(value, null, indent) + separator)
          .join('');
        const seen: unknown[] = [];
        const decoder = new FrameDecoder((document) => seen.push(document));
        for (const chunk of chunksOf(new TextEncoder().encode(text), positions)) decoder.push(chunk);
        expect(decoder.end()).toBe(true);
        expect(seen).toEqual(frames.map(([value]) => normal(value)));
      }),
    );
  });

  it('gives the same when every byte comes alone', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 3 }), (values) => {
        const bytes = new TextEncoder().encode(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
        const seen: unknown[] = [];
        const decoder = new FrameDecoder((document) => seen.push(document));
        for (let index = 0; index < bytes.length; index++) decoder.push(bytes.slice(index, index + 1));
        expect(seen).toEqual(values.map(normal));
      }),
    );
  });
});

describe('ListDecoder under any chunking', () => {
  it('gives items and envelope as JSON.parse would, wherever the items stand and the text is cut', () => {
    const envelope = fc.record({
      before: json,
      after: json,
      items: fc.array(json, { maxLength: 8 }),
      indent: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(envelope, cuts, ({ before, after, items, indent }, positions) => {
        const list: Record<string, unknown> = {};
        for (const [key, value] of Object.entries(before))
          if (key !== 'items' && key !== '__proto__') list[key] = value;
        list['items'] = items;
        for (const [key, value] of Object.entries(after)) if (!(key in list) && key !== '__proto__') list[key] = value;
        const bytes = new TextEncoder().encode(JSON.stringify(list, null, indent));
        const seen: unknown[] = [];
        const decoder = new ListDecoder((batch) => seen.push(...batch));
        for (const chunk of chunksOf(bytes, positions)) decoder.push(chunk);
        const { value, hasItems } = decoder.finish();
        expect(hasItems).toBe(true);
        expect(seen).toEqual(normal(items));
        expect(value).toEqual({ ...(normal(list) as object), items: [] });
      }),
    );
  });

  it('reads long strings full of quotes and backslashes, cut anywhere', () => {
    const nasty = fc
      .array(fc.constantFrom('\\', '"', 'x', '{', ']', ',', 'é', '😀'), { minLength: 60, maxLength: 200 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), cuts, (texts, positions) => {
        const items = texts.map((text) => ({ [text]: text }));
        const bytes = new TextEncoder().encode(JSON.stringify({ kind: 'L', items, metadata: {} }));
        const seen: unknown[] = [];
        const decoder = new ListDecoder((batch) => seen.push(...batch));
        for (const chunk of chunksOf(bytes, positions)) decoder.push(chunk);
        expect(decoder.finish().value).toEqual({ kind: 'L', items: [], metadata: {} });
        expect(seen).toEqual(items);
      }),
    );
  });

  it('cuts a long list in the right places, whatever items hold that looks like the place between two of them', () => {
    // Items of items begin as items do, and so may texts.
    const text = fc.array(fc.constantFrom('},{"metadata":', '},{', '"', '\\', ']', 'é', 'pad '), { maxLength: 8 });
    const metadata = fc.record({ name: text.map((parts) => parts.join('')) });
    const item = fc.record({ metadata, templates: fc.array(fc.record({ metadata }), { maxLength: 3 }) });
    const plain = fc.record({ metadata: fc.record({ name: fc.string({ maxLength: 30 }) }) });
    const lists = fc.array(fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: item }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(lists, cuts, fc.integer({ min: 1, max: 300 }), (items, positions, batchBytes) => {
        const bytes = new TextEncoder().encode(JSON.stringify({ kind: 'L', items, rest: [{ metadata: {} }, {}] }));
        const seen: unknown[] = [];
        const decoder = new ListDecoder((batch) => seen.push(...batch), batchBytes);
        for (const chunk of chunksOf(bytes, positions)) decoder.push(chunk);
        expect(decoder.finish().value).toEqual({ kind: 'L', items: [], rest: [{ metadata: {} }, {}] });
        expect(seen).toEqual(items);
      }),
    );
  });
});
