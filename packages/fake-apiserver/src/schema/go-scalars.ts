// Scalars that Go parses from text: durations and base64, with the words of its errors. Times are in go-time.ts.

/** A text that is no scalar of its type; the message is what decoding answers. */
export class ScalarError extends Error {
  override readonly name = 'ScalarError';
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
    const next = afterLineBreaks(text, at + 1);
    if (inGroup === 3) return next;
    if (next >= text.length) return text.length;
    return text[next] === '=' ? afterLineBreaks(text, next + 1) : next - 1;
  }
  return at - inGroup;
}

function afterLineBreaks(text: string, at: number): number {
  return at + /^[\r\n]*/.exec(text.slice(at))![0].length;
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
