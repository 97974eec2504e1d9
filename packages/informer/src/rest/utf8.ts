// Bytes to text, with the faster way where the runtime has one.
import { type NodeBytes, nodeBytes } from './node-buffer.ts';

interface NodeBufferModule {
  isAscii(bytes: NodeBytes): boolean;
}
interface NodeProcess {
  getBuiltinModule?(name: 'node:buffer'): NodeBufferModule | undefined;
}
const { process } = globalThis as { process?: NodeProcess };
const isAscii = process?.getBuiltinModule?.('node:buffer')?.isAscii;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// Below this the look ahead costs what it saves.
const LONG_BYTES = 256;

/** The text of whole UTF-8 sequences; bytes that are none become U+FFFD. */
export function utf8ToString(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  const part = nodeBytes(bytes, start, end);
  if (part === undefined) return decoder.decode(bytes.subarray(start, end));
  // Nearly all that an API server says is ASCII, which needs no decoding.
  return end - start >= LONG_BYTES && isAscii?.(part) ? part.toString('latin1') : part.toString('utf8');
}
