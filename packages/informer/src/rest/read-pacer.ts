// When a busy connection is read: to wake up for each event costs more than the event. Under load the connection is left alone for some
// milliseconds after a turn that read from it, so that events come in portions, as network cards moderate their interrupts. A quiet one
// is read at once. See docs/decisions/0009-busy-watches-rest.md.

/** So many reads within one rest make a connection busy, once they have come for that long: a short burst is none. */
const BUSY_READS = 8;
/** Less than this many reads' worth of bytes after a rest, and it was not worth it. */
const WORTH_READS = 3;
/** Silence for so many rests makes it quiet; one alone may be a busy event loop. */
const QUIET_RESTS = 3;
/** What should come in one portion at most; faster connections rest for shorter. */
const PORTION_BYTES = 48 * 1024;

/** Pure: told of bytes and time, answers whether and how long to rest. */
export class ReadPacer {
  readonly #maxRestMs: number;
  #restMs: number;
  // Start of the window in which reads are counted, or end of the last rest.
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

  /** How long the next rest is, ms. */
  get restMs(): number {
    return this.#restMs;
  }

  /** After a read; true when the connection is to be left alone after this turn. */
  read(bytes: number, now: number): boolean {
    if (this.#maxRestMs === 0) return false;
    const passed = now - this.#since;
    if (!this.#busy && passed >= this.#maxRestMs) {
      if (this.#reads >= BUSY_READS && passed < 2 * this.#maxRestMs) this.#becomeBusy();
      else this.#count(now);
    } else if (this.#busy && this.#reads === 0 && passed >= QUIET_RESTS * this.#maxRestMs) {
      this.#busy = false;
      this.#restMs = this.#maxRestMs;
      this.#count(now);
    }
    this.#reads++;
    this.#bytes += bytes;
    return this.#busy;
  }

  /** A rest is over. What was read before it decides whether there is another one. */
  rested(now: number): void {
    const bytes = this.#bytes;
    this.#busy = bytes >= this.#worthBytes;
    const fitting = this.#busy ? Math.round((this.#restMs * PORTION_BYTES) / bytes) : this.#maxRestMs;
    this.#restMs = Math.max(1, Math.min(this.#maxRestMs, fitting));
    this.#count(now);
  }

  #becomeBusy(): void {
    this.#busy = true;
    this.#worthBytes = (this.#bytes / this.#reads) * WORTH_READS;
  }

  #count(from: number): void {
    this.#since = from;
    this.#reads = 0;
    this.#bytes = 0;
  }
}
