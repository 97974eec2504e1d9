// Tokens of CEL.
// Upstream: github.com/google/cel-go@v0.17.8:parser/gen/CEL.g4, parser/unescape.go
import type { Issue } from './source.ts';

export type TokenKind = 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'ident' | 'operator' | 'eof';

export interface Token {
  readonly kind: TokenKind;
  /** As it stands in the text; the name of an identifier. */
  readonly text: string;
  readonly at: number;
  /** Of a string or bytes literal, with escapes resolved. */
  readonly value?: string | Uint8Array;
}

const OPERATORS = ['==', '!=', '<=', '>=', '&&', '||', ...'<>[]{}().,-!?:+*/%'];
const NUMBER = /^(?:0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?)/;
const IDENT = /^[_a-zA-Z][_a-zA-Z0-9]*/;
const PREFIX = /^(?:[rR][bB]?|[bB][rR]?)?(?="""|'''|"|')/;

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

/** All tokens, the last one being `eof`. What is no token is reported and skipped. */
export function tokenize(source: string, issues: Issue[]): readonly Token[] {
  const lexer = new Lexer(source, issues);
  return lexer.run();
}

class Lexer {
  readonly #source: string;
  readonly #issues: Issue[];
  readonly #tokens: Token[] = [];
  /** Index in UTF-16 units, and the same place in code points. */
  #index = 0;
  #at = 0;

  constructor(source: string, issues: Issue[]) {
    this.#source = source;
    this.#issues = issues;
  }

  run(): readonly Token[] {
    while (this.#index < this.#source.length) this.#next();
    this.#tokens.push({ kind: 'eof', text: '<EOF>', at: this.#at });
    return this.#tokens;
  }

  #advance(length: number): void {
    this.#at += [...this.#source.slice(this.#index, this.#index + length)].length;
    this.#index += length;
  }

  #push(kind: TokenKind, length: number, value?: string | Uint8Array): void {
    const text = this.#source.slice(this.#index, this.#index + length);
    this.#tokens.push(value === undefined ? { kind, text, at: this.#at } : { kind, text, at: this.#at, value });
    this.#advance(length);
  }

  #next(): void {
    const rest = this.#source.slice(this.#index);
    const blank = /^(?:[\t \r\n\f]+|\/\/[^\n]*)/.exec(rest);
    const prefix = PREFIX.exec(rest);
    const length = (NUMBER.exec(rest) ?? IDENT.exec(rest))?.[0].length ?? 0;
    if (blank !== null) this.#advance(blank[0].length);
    else if (prefix !== null) this.#text(prefix[0], rest);
    else if (length > 0) this.#push(kindOf(rest.slice(0, length)), length);
    else {
      const operator = OPERATORS.find((one) => rest.startsWith(one));
      if (operator === undefined) this.#unknown(rest);
      else this.#push('operator', operator.length);
    }
  }

  #unknown(rest: string): void {
    // ANTLR shows the character that made it give up as well.
    const char = [...rest][0]!;
    const shown = '=&|'.includes(char) ? [...rest].slice(0, 2).join('') : char;
    this.#issues.push({ at: this.#at, message: `Syntax error: token recognition error at: '${shown}'` });
    this.#advance(char.length);
  }

  #text(prefix: string, rest: string): void {
    const raw = /r/i.test(prefix);
    const bytes = /b/i.test(prefix);
    const body = rest.slice(prefix.length);
    const quote = /^("""|'''|"|')/.exec(body)![0];
    const end = closingQuote(body, quote, raw);
    if (end === -1) {
      this.#issues.push({ at: this.#at, message: `Syntax error: token recognition error at: '${rest}'` });
      this.#advance(rest.length);
      return;
    }
    const content = body.slice(quote.length, end);
    const length = prefix.length + end + quote.length;
    const decoded = raw ? content : resolveEscapes(content, bytes);
    if (decoded === undefined) this.#issues.push({ at: this.#at, message: 'invalid string literal' });
    const text = decoded ?? '';
    this.#push(bytes ? 'bytes' : 'string', length, bytes ? toBytes(text, raw) : text);
  }
}

function kindOf(text: string): TokenKind {
  if (/^[_a-zA-Z]/.test(text)) return 'ident';
  if (/[uU]$/.test(text)) return 'uint';
  return !text.startsWith('0x') && /[.eE]/.test(text) ? 'float' : 'int';
}

function closingQuote(body: string, quote: string, raw: boolean): number {
  for (let index = quote.length; index < body.length; index++) {
    if (body.startsWith(quote, index)) return index;
    if (quote.length === 1 && body[index] === '\n') return -1;
    if (!raw && body[index] === '\\') index += 1;
  }
  return -1;
}

/** Undefined for an escape nobody knows. In bytes literals, hexadecimal and octal escapes are bytes, marked above the BMP. */
function resolveEscapes(content: string, bytes: boolean): string | undefined {
  let valid = true;
  const code = (hex: string, radix: number): string => {
    const value = Number.parseInt(hex, radix);
    if (bytes && radix !== 0 && value < 256) return String.fromCodePoint(BYTE_MARK + value);
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      valid = false;
      return '';
    }
    return String.fromCodePoint(value);
  };
  const out = content.replace(
    /\\(?:([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g,
    (_, octal?: string, byte?: string, short?: string, long?: string, char?: string) => {
      if (octal !== undefined) return code(octal, 8);
      if (byte !== undefined) return code(byte, 16);
      if (short !== undefined || long !== undefined) {
        if (bytes) valid = false;
        return code((short ?? long)!, 16);
      }
      const simple = ESCAPES[char!];
      if (simple === undefined) valid = false;
      return simple ?? '';
    },
  );
  return valid ? out : undefined;
}

// A private plane no text uses; keeps raw bytes apart from characters until they are encoded.
const BYTE_MARK = 0x10ff00;

function toBytes(text: string, raw: boolean): Uint8Array {
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    parts.push(!raw && code >= BYTE_MARK ? Buffer.from([code - BYTE_MARK]) : Buffer.from(char));
  }
  return Buffer.concat(parts);
}
