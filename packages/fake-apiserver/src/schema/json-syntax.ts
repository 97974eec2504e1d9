// Says what is wrong with a text that is not JSON, in the words of Go's scanner.
// Upstream: Go encoding/json/scanner.go
import { goQuoteByte } from './go-quote-byte.ts';

const MAX_DEPTH = 10_000;

/** Thrown inside the scanner only. */
class SyntaxProblem extends Error {}

/**
 * The message of Go's syntax error, e.g. `invalid character 'h' looking for beginning of value`; undefined for valid JSON.
 * Works without recursion, so any nesting is safe.
 */
export function jsonSyntaxError(text: string): string | undefined {
  try {
    new Scanner(text).run();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message;
    throw error;
  }
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    /** Open containers: true for an object. */
    const open: boolean[] = [];
    this.#value(open);
    while (open.length > 0) this.#afterValue(open);
    if (this.#space() !== '') this.#fail('after top-level value');
  }

  /** Next character that is no space, '' at the end. Does not step over it. */
  #space(): string {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text[this.#at]!)) this.#at++;
    return this.#text[this.#at] ?? '';
  }

  #fail(context: string): never {
    const char = this.#text[this.#at];
    if (char === undefined) throw new SyntaxProblem('unexpected end of JSON input');
    throw new SyntaxProblem(`invalid character ${goQuoteByte(this.#text, this.#at)} ${context}`);
  }

  #value(open: boolean[]): void {
    const char = this.#space();
    if (char === '{') this.#openObject(open);
    else if (char === '[') this.#openArray(open);
    else if (char === '"') this.#string();
    else if (char === '-' || isDigit(char)) this.#number();
    else if (char === 't') this.#literal('true');
    else if (char === 'f') this.#literal('false');
    else if (char === 'n') this.#literal('null');
    else this.#fail('looking for beginning of value');
  }

  #push(open: boolean[], isObject: boolean): void {
    this.#at++;
    open.push(isObject);
    if (open.length > MAX_DEPTH) throw new SyntaxProblem('exceeded max depth');
  }

  #openObject(open: boolean[]): void {
    this.#push(open, true);
    if (this.#space() === '}') {
      this.#at++;
      open.pop();
      return;
    }
    this.#member(open);
  }

  #member(open: boolean[]): void {
    if (this.#space() !== '"') this.#fail('looking for beginning of object key string');
    this.#string();
    if (this.#space() !== ':') this.#fail('after object key');
    this.#at++;
    this.#value(open);
  }

  #openArray(open: boolean[]): void {
    this.#push(open, false);
    if (this.#space() === ']') {
      this.#at++;
      open.pop();
      return;
    }
    this.#value(open);
  }

  #afterValue(open: boolean[]): void {
    const inObject = open[open.length - 1]!;
    const char = this.#space();
    if (char === (inObject ? '}' : ']')) {
      this.#at++;
      open.pop();
      return;
    }
    if (char !== ',') this.#fail(inObject ? 'after object key:value pair' : 'after array element');
    this.#at++;
    if (inObject) this.#member(open);
    else this.#value(open);
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const char = this.#text[this.#at];
      if (char === undefined) this.#fail('');
      if (char === '"') {
        this.#at++;
        return;
      }
      if (char < ' ') this.#fail('in string literal');
      if (char !== '\\') continue;
      this.#at++;
      const escaped = this.#text[this.#at];
      if (escaped === undefined || !'bfnrt\\/"u'.includes(escaped)) this.#fail('in string escape code');
      if (escaped !== 'u') continue;
      for (let digit = 0; digit < 4; digit++) {
        this.#at++;
        if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) this.#fail('in \\u hexadecimal character escape');
      }
    }
  }

  #digits(context: string): void {
    if (!isDigit(this.#text[this.#at])) this.#fail(context);
    while (isDigit(this.#text[this.#at])) this.#at++;
  }

  #number(): void {
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    const exponent = this.#text[this.#at];
    if (exponent !== 'e' && exponent !== 'E') return;
    this.#at++;
    const sign = this.#text[this.#at];
    if (sign === '+' || sign === '-') this.#at++;
    this.#digits('in exponent of numeric literal');
  }

  #literal(word: string): void {
    for (let index = 0; index < word.length; index++) {
      if (this.#text[this.#at] !== word[index]) this.#fail(`in literal ${word} (expecting '${word[index]}')`);
      this.#at++;
    }
  }
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char.length === 1 && char >= '0' && char <= '9';
}
