// Bytes to text, with the faster way where the runtime has one.

interface Decodable {
  toString(encoding: 'utf8' | 'latin1'): string;
}
interface NodeBuffer {
  from(buffer: ArrayBufferLike, offset: number, length: number): Decodable;
}
interface NodeBufferModule {
  isAscii(bytes: Decodable): boolean;
}
interface NodeProcess {
  getBuiltinModule?(name: 'node:buffer'): NodeBufferModule | undefined;
}
const { Buffer: nodeBuffer, process } = globalThis as { Buffer?: NodeBuffer; process?: NodeProcess };
const isAscii = process?.getBuiltinModule?.('node:buffer')?.isAscii;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// Below this the look ahead costs what it saves.
const LONG_BYTES = 256;

/** The text of whole UTF-8 sequences; bytes that are none become U+FFFD. */
export function utf8ToString(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (nodeBuffer === undefined) return decoder.decode(bytes.subarray(start, end));
  const part = nodeBuffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  // Nearly all that an API server says is ASCII, which needs no decoding.
  return end - start >= LONG_BYTES && isAscii?.(part) ? part.toString('latin1') : part.toString('utf8');
}
