import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkDecoder } from './chunk-decoder.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });
const END = '0\r\n\r\n';

interface Chunk {
  readonly data: Uint8Array;
  readonly upper: boolean;
  readonly zeros: number;
}
const chunk: fc.Arbitrary<Chunk> = fc.record({ data: bytes, upper: fc.boolean(), zeros: fc.nat({ max: 3 }) });

function coded({ data, upper, zeros }: Chunk): Buffer {
  const digits = data.length.toString(16);
  const size = '0'.repeat(zeros) + (upper ? digits.toUpperCase() : digits);
  return Buffer.concat([Buffer.from(`${size}\r\n`), data, Buffer.from('\r\n')]);
}

function piecesOf(whole: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...positions.map((position) => position % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return ends.map((end, index) => Buffer.from(whole.subarray(ends[index - 1] ?? 0, end)));
}

/** What came out, and what was left for another parser. */
function decode(pieces: readonly Buffer[]): { payload: Buffer; rest: Buffer | undefined } {
  const payload: Buffer[] = [];
  const decoder = new ChunkDecoder((part) => payload.push(Buffer.from(part)));
  for (const [index, piece] of pieces.entries()) {
    const rest = decoder.push(piece);
    if (rest !== undefined) {
      return { payload: Buffer.concat(payload), rest: Buffer.concat([rest, ...pieces.slice(index + 1)]) };
    }
  }
  return { payload: Buffer.concat(payload), rest: undefined };
}

describe('ChunkDecoder', () => {
  it('gives the data of plain chunks however they are cut, and leaves the last one', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 8 }),
        cuts,
        fc.constantFrom(END, '0\r\nTrailer: x\r\n\r\n'),
        (chunks, positions, end) => {
          const whole = Buffer.concat([...chunks.map(coded), Buffer.from(end)]);
          const { payload, rest } = decode(piecesOf(whole, positions));
          expect(payload).toEqual(Buffer.concat(chunks.map(({ data }) => data)));
          expect(rest?.toString()).toBe(end);
        },
      ),
    );
  });

  it('gives one piece for each read, whatever it held', () => {
    const sizes: number[] = [];
    const decoder = new ChunkDecoder((part) => sizes.push(part.length));
    const one = coded({ data: Buffer.from('hello'), upper: false, zeros: 0 });
    decoder.push(Buffer.concat([one, one, one]));
    decoder.push(one.subarray(0, 2));
    decoder.push(Buffer.concat([one.subarray(2), one.subarray(0, 5)]));
    expect(sizes).toEqual([15, 7]);
  });

  it.each([
    ['an extension', '5;a=b\r\nhello\r\n', '', '5;a=b\r\nhello\r\n'],
    ['no digit', 'g\r\n', '', 'g\r\n'],
    ['no size', '\r\nhello', '', '\r\nhello'],
    ['a size of nine digits', '000000005\r\nhello\r\n', '', '000000005\r\nhello\r\n'],
    ['a sign', '-5\r\nhello', '', '-5\r\nhello'],
    ['a bare line feed after the size', '5\nhello', '', '5\nhello'],
    ['a lone carriage return after the size', '5\rhello', '', '5\rhello'],
  ])('leaves %s to the other parser, from the start of the size', (_what, text, payload, rest) => {
    for (let cut = 0; cut <= text.length; cut++) {
      const decoded = decode(piecesOf(Buffer.from(text), [cut]));
      expect([decoded.payload.toString(), decoded.rest?.toString()]).toEqual([payload, rest]);
    }
  });

  it.each(['5\r\nhello5\r\nworld\r\n', '5\r\nhello\r5\r\nworld\r\n', '5\r\nhello\n5\r\nworld\r\n'])(
    'lets no parser take %j for the start of a chunk',
    (text) => {
      const { payload, rest } = decode([Buffer.from(text)]);
      expect(payload.toString()).toBe('hello');
      expect(rest?.toString()).toMatch(/^\r/);
    },
  );
});
