// A cursor over JSON text that is known to be valid: reads keys and scalars, steps over values without recursion.

/** Sets a key that a user chose; `__proto__` becomes plain data. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}

const SPACE = /[ \t\r\n]*/y;
const BARE = /[^\s,\]}]+/y;
const NEXT_OF_INTEREST = /["{}[\]]/g;

export class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get position(): number {
    return this.#at;
  }

  slice(from: number): string {
    return this.#text.slice(from, this.#at);
  }

  /** First character of the next value or closing bracket, without stepping over it. */
  peek(): string {
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
    return this.#text[this.#at]!;
  }

  step(): void {
    this.#at++;
  }

  /** After an item of a container: steps over a comma, or over the closing bracket and says so. */
  closes(): boolean {
    const char = this.peek();
    this.#at++;
    return char !== ',';
  }

  /** An object key and the colon after it. */
  key(): string {
    this.peek();
    const key = this.string();
    this.peek();
    this.#at++;
    return key;
  }

  string(): string {
    const start = this.#at;
    this.#skipString();
    const text = this.#text.slice(start + 1, this.#at - 1);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** A number, `true`, `false` or `null` as it is written. */
  bare(): string {
    BARE.lastIndex = this.#at;
    BARE.test(this.#text);
    const start = this.#at;
    this.#at = BARE.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  /** Steps over one value of any kind. */
  skip(): void {
    const char = this.peek();
    if (char === '"') this.#skipString();
    else if (char === '{' || char === '[') this.#skipContainer();
    else this.bare();
  }

  /** Steps over one value unless it nests deeper than the limit; false if it does. */
  skipWithin(limit: number): boolean {
    const char = this.peek();
    if (char === '{' || char === '[') return this.#skipContainer(limit);
    this.skip();
    return true;
  }

  #skipContainer(limit = Number.POSITIVE_INFINITY): boolean {
    let depth = 0;
    do {
      if (depth > limit) return false;
      NEXT_OF_INTEREST.lastIndex = this.#at;
      const found = NEXT_OF_INTEREST.exec(this.#text)!;
      this.#at = found.index;
      if (found[0] === '"') this.#skipString();
      else {
        depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
        this.#at++;
      }
    } while (depth > 0);
    return true;
  }

  // A loop, not a pattern: a backtracking match overflows on strings of megabytes.
  #skipString(): void {
    let end = this.#at;
    for (;;) {
      end = this.#text.indexOf('"', end + 1);
      let backslashes = 0;
      while (this.#text[end - 1 - backslashes] === '\\') backslashes++;
      if (backslashes % 2 === 0) break;
    }
    this.#at = end + 1;
  }

  /** The next value as plain JSON. */
  raw(): unknown {
    this.peek();
    const start = this.#at;
    this.skip();
    return JSON.parse(this.#text.slice(start, this.#at));
  }
}
