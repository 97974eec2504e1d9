// Scalars that Go parses from text: times, durations and base64, with the words of its errors.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/time.go#Time.UnmarshalJSON

/** A text that is no scalar of its type; the message is what decoding answers. */
export class ScalarError extends Error {
  override readonly name = 'ScalarError';
}

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

/** The pieces of RFC 3339 in order, with the layout piece that an error names. */
const PIECES: readonly (readonly [layout: string, pattern: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d{2}/],
  ['-', /^-/],
  ['02', /^\d{2}/],
  ['T', /^T/],
  ['15', /^\d{2}/],
  [':', /^:/],
  ['04', /^\d{2}/],
  [':', /^:/],
  ['05', /^\d{2}/],
];

const RANGES: readonly (readonly [index: number, name: string, low: number, high: number])[] = [
  [2, 'month', 1, 12],
  [4, 'day', 1, 31],
  [6, 'hour', 0, 23],
  [8, 'minute', 0, 59],
  [10, 'second', 0, 59],
];

function parseTime(text: string, micro: boolean): { readonly date: Date; readonly fraction: string } {
  const layout = micro ? MICRO_LAYOUT : TIME_LAYOUT;
  const fail = (rest: string, piece: string): never => {
    throw new ScalarError(
      `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${piece}"`,
    );
  };
  const found: string[] = [];
  let rest = text;
  for (const [piece, pattern] of PIECES) {
    const match = pattern.exec(rest) ?? fail(rest, piece);
    found.push(match[0]);
    rest = rest.slice(match[0].length);
  }
  const fraction = /^[.,](\d+)/.exec(rest);
  if (micro && (fraction === null || fraction[1]!.length < 6)) fail(rest, '.000000');
  if (fraction !== null) rest = rest.slice(fraction[0].length);
  const zone = /^(?:Z|([+-])(\d{2}):(\d{2}))/.exec(rest) ?? fail(rest, 'Z07:00');
  if (zone[0].length < rest.length) {
    throw new ScalarError(
      `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest.slice(zone[0].length))}`,
    );
  }
  for (const [index, name, low, high] of RANGES) {
    const value = Number(found[index]);
    if (value < low || value > high)
      throw new ScalarError(`parsing time ${JSON.stringify(text)}: ${name} out of range`);
  }
  const [year, month, day, hour, minute, second] = [0, 2, 4, 6, 8, 10].map((index) => Number(found[index]));
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day);
  if (date.getUTCDate() !== day) throw new ScalarError(`parsing time ${JSON.stringify(text)}: day out of range`);
  date.setUTCHours(hour!, minute!, second);
  const offset = (Number(zone[2] ?? 0) * 60 + Number(zone[3] ?? 0)) * (zone[1] === '-' ? -1 : 1);
  date.setTime(date.getTime() - offset * 60_000);
  return { date, fraction: fraction?.[1] ?? '' };
}

/** RFC 3339 in, UTC with whole seconds out; null for Go's zero time. */
export function canonicalTime(text: string): string | null {
  const { date, fraction } = parseTime(text, false);
  const printed = `${date.toISOString().slice(0, -5)}Z`;
  // Zero means the instant, so a fraction keeps it from being zero.
  return printed === '0001-01-01T00:00:00Z' && /^0*$/.test(fraction) ? null : printed;
}

/** RFC 3339 with six digits of a second in, UTC in the same form out; null for Go's zero time. */
export function canonicalMicroTime(text: string): string | null {
  const { date, fraction } = parseTime(text, true);
  const printed = `${date.toISOString().slice(0, -5)}.${fraction.slice(0, 6)}Z`;
  return printed === '0001-01-01T00:00:00.000000Z' ? null : printed;
}

/** Standard base64 with padding, re-encoded; line breaks in it are fine, as in Go. */
export function canonicalBase64(text: string): string {
  const bare = text.replace(/[\r\n]/g, '');
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(bare);
  if (!valid) throw new ScalarError(`illegal base64 data at input byte ${badBase64At(text)}`);
  return bare === text && !text.endsWith('=') ? text : Buffer.from(bare, 'base64').toString('base64');
}

/** Where Go's decoder gives up: at the first foreign character, at misplaced padding, or at the start of a short last group. */
function badBase64At(text: string): number {
  let inGroup = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\r' || char === '\n') continue;
    if (/[A-Za-z0-9+/]/.test(char)) {
      inGroup = (inGroup + 1) % 4;
      continue;
    }
    if (char !== '=' || inGroup < 2) return at;
    if (inGroup === 3) return at + 1 + /^[\r\n]*/.exec(text.slice(at + 1))![0].length;
    const second = at + 1 + /^[\r\n]*/.exec(text.slice(at + 1))![0].length;
    if (second >= text.length) return text.length;
    return text[second] === '=' ? second + 1 : second - 1;
  }
  return at - inGroup;
}

const DURATION_UNITS: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
]);

/** A Go duration such as `1h30m`, printed as Go prints it (`1h30m0s`). */
export function canonicalDuration(text: string): string {
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text);
  if (match === null) throw new ScalarError(`time: invalid duration ${JSON.stringify(text)}`);
  let nanos = 0;
  for (const [, amount, unit] of match[2]!.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    nanos += Math.round(Number(amount) * DURATION_UNITS.get(unit!)!);
  }
  if (nanos === 0) return '0s';
  const sign = match[1] === '-' ? '-' : '';
  if (nanos < 1e3) return `${sign}${nanos}ns`;
  if (nanos < 1e6) return `${sign}${nanos / 1e3}µs`;
  if (nanos < 1e9) return `${sign}${nanos / 1e6}ms`;
  const hours = Math.floor(nanos / 3600e9);
  const minutes = Math.floor((nanos % 3600e9) / 60e9);
  const seconds = (nanos % 60e9) / 1e9;
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}
