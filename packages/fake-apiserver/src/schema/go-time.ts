// RFC 3339 times as Go parses them, leniencies and error texts included.
// Upstream: Go time/format.go#Parse, apimachinery@v0.30.3:pkg/apis/meta/v1/{time,micro_time}.go#UnmarshalJSON
import { ScalarError } from './go-scalars.ts';

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

const encoder = new TextEncoder();

/** As the time package quotes: bytes that are no printable ASCII in hexadecimal. */
function quote(text: string): string {
  let quoted = '"';
  for (const char of text) {
    if (char === '"' || char === '\\') quoted += `\\${char}`;
    else if (char >= ' ' && char <= '~') quoted += char;
    else for (const byte of encoder.encode(char)) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `${quoted}"`;
}

interface ParsedTime {
  readonly date: Date;
  /** Six digits. */
  readonly micros: string;
  readonly nanos: number;
}

class TimeParser {
  readonly #text: string;
  readonly #layout: string;
  #rest: string;

  constructor(text: string, layout: string) {
    this.#text = text;
    this.#layout = layout;
    this.#rest = text;
  }

  parse(): ParsedTime {
    const year = this.#year();
    this.#literal('-');
    const month = this.#number('01', true, 'month', 1, 12);
    this.#literal('-');
    const day = this.#number('02', true);
    this.#literal('T');
    // The hour may have one digit.
    const hour = this.#number('15', false, 'hour', 0, 23);
    this.#literal(':');
    const minute = this.#number('04', true, 'minute', 0, 59);
    this.#literal(':');
    const second = this.#number('05', true, 'second', 0, 59);
    const digits = this.#layout === MICRO_LAYOUT ? this.#micros() : this.#anyFraction();
    const offset = this.#offset();
    if (this.#rest !== '') this.#fail(`: extra text: ${quote(this.#rest)}`);
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    if (day < 1 || date.getUTCDate() !== day) this.#fail(': day out of range');
    date.setUTCHours(hour, minute, second);
    date.setTime(date.getTime() - offset * 60_000);
    return { date, micros: digits.slice(0, 6).padEnd(6, '0'), nanos: Number(digits.slice(0, 9).padEnd(9, '0')) };
  }

  #fail(why: string): never {
    throw new ScalarError(`parsing time ${quote(this.#text)}${why}`);
  }

  #mismatch(rest: string, piece: string): never {
    return this.#fail(` as ${quote(this.#layout)}: cannot parse ${quote(rest)} as ${quote(piece)}`);
  }

  #year(): number {
    const found = /^\d{4}/.exec(this.#rest) ?? this.#mismatch(this.#rest, '2006');
    this.#rest = this.#rest.slice(4);
    return Number(found[0]);
  }

  #literal(char: string): void {
    if (!this.#rest.startsWith(char)) this.#mismatch(this.#rest, char);
    this.#rest = this.#rest.slice(1);
  }

  #number(piece: string, twoDigits: boolean, name = '', low = 0, high = 99): number {
    const pattern = twoDigits ? /^\d\d/ : /^\d\d?/;
    const found = pattern.exec(this.#rest) ?? this.#mismatch(this.#rest, piece);
    this.#rest = this.#rest.slice(found[0].length);
    const value = Number(found[0]);
    if (value < low || value > high) this.#fail(`: ${name} out of range`);
    return value;
  }

  /** Six digits, of which the first may be a sign, since Go reads them as a number. */
  #micros(): string {
    const found = /^[.,]([-+\d]\d{5})/.exec(this.#rest) ?? this.#mismatch(this.#rest, '.000000');
    this.#rest = this.#rest.slice(7);
    const value = Number(found[1]);
    if (value < 0) this.#fail(': fractional second out of range');
    return String(value).padStart(6, '0');
  }

  /** A fraction is taken where the layout has none. */
  #anyFraction(): string {
    const found = /^[.,](\d+)/.exec(this.#rest);
    this.#rest = this.#rest.slice(found?.[0].length ?? 0);
    return found?.[1] ?? '';
  }

  /** Minutes east of UTC. */
  #offset(): number {
    if (this.#rest.startsWith('Z')) {
      this.#rest = this.#rest.slice(1);
      return 0;
    }
    const zone = /^(.)(\d\d):(\d\d)/su.exec(this.#rest) ?? this.#mismatch(this.#rest, 'Z07:00');
    const [whole, sign, hours, minutes] = zone;
    // More than a day is no offset; just a day is, since people write it.
    if (Number(hours) > 24) this.#fail(': time zone offset hour out of range');
    if (Number(minutes) > 60) this.#fail(': time zone offset minute out of range');
    if (sign !== '+' && sign !== '-') this.#mismatch(this.#rest, 'Z07:00');
    this.#rest = this.#rest.slice(whole.length);
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  }
}

/** To the second, without a zone; years have at least four digits and a sign only when they are negative. */
function print(date: Date): string {
  return date
    .toISOString()
    .slice(0, -5)
    .replace(/^\+0*|^(-)0{2}/, '$1');
}

const ZERO = '0001-01-01T00:00:00';

/** RFC 3339 in, UTC with whole seconds out; null for Go's zero time. */
export function canonicalTime(text: string): string | null {
  const { date, nanos } = new TimeParser(text, SECONDS_LAYOUT).parse();
  const printed = print(date);
  // Zero means the instant, so a fraction keeps it from being zero.
  return printed === ZERO && nanos === 0 ? null : `${printed}Z`;
}

/** RFC 3339 with six digits of a second in, UTC in the same form out; null for Go's zero time. */
export function canonicalMicroTime(text: string): string | null {
  const { date, micros, nanos } = new TimeParser(text, MICRO_LAYOUT).parse();
  const printed = print(date);
  return printed === ZERO && nanos === 0 ? null : `${printed}.${micros}Z`;
}
