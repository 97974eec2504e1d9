// Node's Buffer where the runtime has one, without an import that a browser could not follow.

/** What is used of a Buffer. */
export interface NodeBytes {
  toString(encoding: 'utf8' | 'latin1'): string;
  lastIndexOf(what: Uint8Array, from: number): number;
}
interface NodeBuffer {
  alloc(length: number): Uint8Array;
  from(buffer: ArrayBufferLike, offset: number, length: number): NodeBytes;
}
const nodeBuffer = (globalThis as { Buffer?: NodeBuffer }).Buffer;

/** A view of the bytes, no copy; undefined outside of Node. */
export function nodeBytes(bytes: Uint8Array, start = 0, end: number = bytes.length): NodeBytes | undefined {
  return nodeBuffer?.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

/** Zeros; in Node a Buffer, whose `indexOf` is an order of magnitude faster than that of other byte arrays. */
export function zeroBytes(length: number): Uint8Array {
  return nodeBuffer?.alloc(length) ?? new Uint8Array(length);
}
