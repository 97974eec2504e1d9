// Bytes that wait for the rest of their document: grows by doubling, so that a document in many chunks is copied O(n).
import { zeroBytes } from './node-buffer.ts';

/** The unread part is `view()`; positions in it stay valid until `consume`. */
export class ByteBuffer {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  view(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  append(chunk: Uint8Array): void {
    const needed = this.length + chunk.length;
    if (this.#bytes.length - this.#end < chunk.length) {
      const target = needed > this.#bytes.length ? zeroBytes(Math.max(1024, needed * 2)) : this.#bytes;
      target.set(this.view(), 0);
      this.#end = this.length;
      this.#start = 0;
      this.#bytes = target;
    }
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  consume(count: number): void {
    this.#start += count;
    if (this.#start >= this.#end) this.clear();
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
    // One huge document must not pin its buffer for the life of a quiet stream.
    if (this.#bytes.length > 1 << 20) this.#bytes = new Uint8Array(0);
  }
}
