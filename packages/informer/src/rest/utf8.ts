// Bytes to text, with the faster way where the runtime has one.

interface NodeBuffer {
  from(buffer: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'utf8'): string };
}
const nodeBuffer = (globalThis as { Buffer?: NodeBuffer }).Buffer;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of whole UTF-8 sequences; bytes that are none become U+FFFD. */
export function utf8ToString(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (nodeBuffer !== undefined) {
    return nodeBuffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
  }
  return decoder.decode(bytes.subarray(start, end));
}
