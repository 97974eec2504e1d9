// Bytes that live as long as an object does.

/**
 * The text as UTF-8 in memory of its own. Small buffers of `Buffer.from` and `Buffer.allocUnsafe` lie in shared pieces of 8 KB, and one that
 * is kept keeps the whole piece: five times what a small object needs.
 */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The bytes in memory of their own: what a writer made may lie in a buffer with room to spare. */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
