// Go regular expressions (RE2 syntax) run by JavaScript's engine: patterns are translated token by token, so that what Go
// refuses is refused and what only Go knows (\z, \Q..\E, [[:alpha:]], (?i), (?P<name>..)) works.
// Upstream: Go's regexp/syntax
// Differs: matching may backtrack; patterns of schemas come from whoever may write CRDs.

import { CONTROL_ESCAPES, PERL_CLASSES, POSIX_CLASSES } from './go-regexp-classes.ts';
import { codeOf, inClass, literal } from './go-regexp-escapes.ts';

export class GoRegexpError extends Error {
  override readonly name = 'GoRegexpError';
  constructor(code: string, expression: string) {
    super(`error parsing regexp: ${code}: \`${expression}\``);
  }
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

class Translator {
  readonly #source: string;
  readonly #chars: readonly string[];
  #at = 0;
  #flags: Flags = { i: false, m: false, s: false, U: false };
  /** JavaScript has `i` for the whole expression only; RE2 patterns that use it do so at the start. */
  ignoreCase = false;

  constructor(source: string) {
    this.#source = source;
    this.#chars = [...source];
  }

  translate(): string {
    const out = this.#alternation();
    if (this.#at < this.#chars.length) throw new GoRegexpError('unexpected )', this.#source);
    return out;
  }

  #alternation(): string {
    let out = '';
    const outer = this.#flags;
    while (this.#at < this.#chars.length && this.#chars[this.#at] !== ')') {
      if (this.#chars[this.#at] === '|') {
        this.#at += 1;
        out += '|';
      } else out += this.#repeated();
    }
    this.#flags = outer;
    return out;
  }

  #repeated(): string {
    const start = this.#at;
    const atom = this.#atom();
    let repeats = 0;
    let out = atom;
    for (;;) {
      const from = this.#at;
      const operator = this.#repeatOperator();
      if (operator === undefined) return out;
      if (atom === '') throw new GoRegexpError('missing argument to repetition operator', operator.text);
      repeats += 1;
      if (repeats > 1) {
        const twice = this.#chars
          .slice(start, this.#at)
          .join('')
          .slice(-(this.#at - from + 1));
        throw new GoRegexpError('invalid nested repetition operator', twice);
      }
      const lazy = operator.lazy !== this.#flags.U;
      out += operator.js + (lazy ? '?' : '');
    }
  }

  #repeatOperator(): { js: string; text: string; lazy: boolean } | undefined {
    const char = this.#chars[this.#at];
    let js: string | undefined;
    if (char === '*' || char === '+' || char === '?') js = char;
    else if (char === '{') {
      const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#chars.slice(this.#at).join(''));
      if (counted === null) return undefined;
      js = counted[0];
      const [low, high] = [Number(counted[1]), counted[3] ? Number(counted[3]) : undefined];
      if (low > 1000 || (high ?? 0) > 1000 || (high !== undefined && high < low)) {
        throw new GoRegexpError('invalid repeat count', js);
      }
    }
    if (js === undefined) return undefined;
    this.#at += js.length;
    const lazy = this.#chars[this.#at] === '?';
    if (lazy) this.#at += 1;
    return { js, text: js + (lazy ? '?' : ''), lazy };
  }

  #atom(): string {
    const char = this.#chars[this.#at]!;
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '.':
        this.#at += 1;
        return this.#flags.s ? '[^]' : '[^\\n]';
      case '^':
        this.#at += 1;
        return this.#flags.m ? '(?<=^|\\n)' : '^';
      case '$':
        this.#at += 1;
        return this.#flags.m ? '(?=$|\\n)' : '$';
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        return '';
      default:
        this.#at += 1;
        return literal(char);
    }
  }

  #group(): string {
    const rest = this.#chars.slice(this.#at).join('');
    let open = '(';
    const named = /^\(\?P?<([^>]*)>/.exec(rest);
    if (named !== null && !rest.startsWith('(?<=') && !rest.startsWith('(?<!')) {
      if (!/^\w+$/.test(named[1]!)) throw new GoRegexpError('invalid named capture', named[0]);
      this.#at += [...named[0]].length;
      open = '(?:';
    } else if (rest.startsWith('(?')) {
      const flags = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
      if (flags === null || (flags[1] === '' && flags[2] === undefined && flags[3] === ')')) {
        throw new GoRegexpError('invalid or unsupported Perl syntax', rest.slice(0, /^\(\?<./.test(rest) ? 4 : 3));
      }
      this.#at += flags[0].length;
      const outer = this.#flags;
      this.#setFlags(flags[1]!, flags[2] ?? '');
      if (flags[3] === ')') return '(?:)';
      const inside = this.#inGroup();
      this.#flags = outer;
      return `(?:${inside})`;
    } else this.#at += 1;
    return `${open}${this.#inGroup()})`;
  }

  #inGroup(): string {
    const inside = this.#alternation();
    if (this.#chars[this.#at] !== ')') throw new GoRegexpError('missing closing )', this.#source);
    this.#at += 1;
    return inside;
  }

  #setFlags(on: string, off: string): void {
    const flags: Record<keyof Flags, boolean> = { ...this.#flags };
    for (const flag of on) flags[flag as keyof Flags] = true;
    for (const flag of off) flags[flag as keyof Flags] = false;
    this.#flags = flags;
    if (flags.i) this.ignoreCase = true;
  }

  #escape(): string {
    const next = this.#chars[this.#at + 1];
    if (next === undefined) throw new GoRegexpError('trailing backslash at end of expression', '');
    if (next === 'Q') return this.#quoted();
    if (next === 'A' || next === 'z' || next === 'b' || next === 'B') {
      this.#at += 2;
      return next === 'A' ? '(?<![^])' : next === 'z' ? '(?![^])' : `\\${next}`;
    }
    const { inside, standalone } = this.#escapedSet();
    return standalone ?? `[${inside}]`;
  }

  #quoted(): string {
    const rest = this.#chars.slice(this.#at + 2);
    const end = rest.join('').indexOf('\\E');
    const text = end === -1 ? rest : [...rest.join('').slice(0, end)];
    this.#at += 2 + text.length + (end === -1 ? 0 : 2);
    return text.length === 0 ? '(?:)' : text.map(literal).join('');
  }

  /** An escape that may stand in a class too. */
  #escapedSet(): { readonly inside: string; readonly standalone?: string } {
    const rest = this.#chars.slice(this.#at).join('');
    const char = this.#chars[this.#at + 1] ?? '';
    const take = (length: number): void => {
      this.#at += length;
    };
    const perl = PERL_CLASSES[char.toLowerCase()];
    if (perl !== undefined) {
      take(2);
      if (char === char.toLowerCase()) return { inside: perl[0] };
      return { inside: `\\${char}`, standalone: perl[1] };
    }
    const unicode = /^\\([pP])(?:\{\^?(\w+)\}|(\w))/.exec(rest);
    if (unicode !== null) {
      take([...unicode[0]].length);
      const name = unicode[2] ?? unicode[3]!;
      const negated = (unicode[1] === 'P') !== unicode[0].includes('^');
      const property = name.length <= 2 ? name : `Script=${name}`;
      return { inside: `\\${negated ? 'P' : 'p'}{${property}}` };
    }
    const hexadecimal = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
    if (hexadecimal !== null) {
      take(hexadecimal[0].length);
      return { inside: `\\u{${hexadecimal[1] ?? hexadecimal[2]!}}` };
    }
    const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    if (octal !== null) {
      take(octal[0].length);
      return { inside: `\\u{${Number.parseInt(octal[1]!, 8).toString(16)}}` };
    }
    const control = CONTROL_ESCAPES[char];
    if (control !== undefined) {
      take(2);
      return { inside: control };
    }
    if (/^[\x21-\x7e]$/.test(char) && !/[0-9A-Za-z]/.test(char)) {
      take(2);
      return { inside: inClass(char), standalone: literal(char) };
    }
    throw new GoRegexpError('invalid escape sequence', `\\${char}`);
  }

  #class(): string {
    const start = this.#at;
    this.#at += 1;
    const negated = this.#chars[this.#at] === '^';
    if (negated) this.#at += 1;
    let out = '';
    let first = true;
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined) throw new GoRegexpError('missing closing ]', this.#chars.slice(start).join(''));
      if (char === ']' && !first) break;
      first = false;
      const from = this.#at;
      const low = this.#classItem();
      if (
        this.#chars[this.#at] === '-' &&
        this.#chars[this.#at + 1] !== ']' &&
        this.#chars[this.#at + 1] !== undefined
      ) {
        this.#at += 1;
        const high = this.#classItem();
        const range = this.#chars.slice(from, this.#at).join('');
        if (!low.single || !high.single || low.code > high.code)
          throw new GoRegexpError('invalid character class range', range);
        out += `${low.text}-${high.text}`;
      } else out += low.text;
    }
    this.#at += 1;
    return `[${negated ? '^' : ''}${out}]`;
  }

  #classItem(): { readonly text: string; readonly single: boolean; readonly code: number } {
    const char = this.#chars[this.#at]!;
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#chars.slice(this.#at, this.#at + 12).join(''));
    if (posix !== null) {
      const set = POSIX_CLASSES[posix[2]!];
      if (set === undefined) throw new GoRegexpError('invalid character class range', posix[0]);
      this.#at += posix[0].length;
      return { text: set, single: false, code: 0 };
    }
    if (char === '\\') {
      const { inside } = this.#escapedSet();
      const single = !/^\\[dDwWsSpP]/.test(inside) && !inside.includes('-') && [...inside].length < 12;
      return { text: inside, single: single || inside === '\\-', code: single ? codeOf(inside) : 0 };
    }
    this.#at += 1;
    return { text: inClass(char), single: true, code: char.codePointAt(0)! };
  }
}

const cache = new Map<string, RegExp>();
const CACHE_LIMIT = 1000;

/** Compiles a Go pattern, unanchored. Throws {@link GoRegexpError} with Go's text for what Go would refuse. */
export function compileGoRegexp(pattern: string): RegExp {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const translator = new Translator(pattern);
  const source = translator.translate();
  let compiled: RegExp;
  try {
    compiled = new RegExp(source, translator.ignoreCase ? 'ui' : 'u');
  } catch (cause) {
    throw Object.assign(new GoRegexpError('invalid character class range', pattern), { cause });
  }
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}
