// When a busy connection is read: to wake up for each event costs more than the event. Under load the connection is left alone for some
// milliseconds after each read, so that events come in portions, as network cards moderate their interrupts. A quiet one is read at
// once. See docs/decisions/0009-busy-watches-rest.md.

/** So many reads within one rest make a connection busy. */
const BUSY_READS = 8;
/** Less than this many reads' worth of bytes after a rest, and it was not worth it. */
const WORTH_READS = 3;
/** What should come in one portion at most; faster connections rest for shorter. */
const PORTION_BYTES = 48 * 1024;

/** Pure: told of bytes and time, answers how long to rest. */
export class ReadPacer {
  readonly #maxRestMs: number;
  #restMs: number;
  #since = Number.NEGATIVE_INFINITY;
  #reads = 0;
  #bytes = 0;
  #worthBytes = 0;
  #busy = false;

  /** 0 never rests. */
  constructor(maxRestMs: number) {
    this.#maxRestMs = maxRestMs;
    this.#restMs = maxRestMs;
  }

  /** After a read. How long to leave the connection alone now, ms; 0 for not at all. */
  read(bytes: number, now: number): number {
    if (this.#maxRestMs === 0) return 0;
    if (!this.#busy && now - this.#since >= this.#maxRestMs) {
      this.#since = now;
      this.#reads = 0;
      this.#bytes = 0;
    }
    this.#reads++;
    this.#bytes += bytes;
    if (!this.#busy && this.#reads >= BUSY_READS) {
      this.#busy = true;
      this.#worthBytes = (this.#bytes / this.#reads) * WORTH_READS;
    }
    return this.#busy ? this.#restMs : 0;
  }

  /** A rest is over. What was read at its start, before the connection went quiet, decides whether there is another one. */
  rested(now: number): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#reads = 0;
    this.#since = now;
    this.#busy = bytes >= this.#worthBytes;
    const fitting = this.#busy ? Math.round((this.#restMs * PORTION_BYTES) / bytes) : this.#maxRestMs;
    this.#restMs = Math.max(1, Math.min(this.#maxRestMs, fitting));
  }
}
