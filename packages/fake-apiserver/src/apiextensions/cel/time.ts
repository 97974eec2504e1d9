// Durations and times in nanoseconds, as Go reads and writes them.
// Upstream: Go's time package

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const MAX = 2n ** 63n - 1n;

/** `1h30m`, `-1.5s`, `0`. Throws with Go's text. */
export function parseDuration(text: string): bigint {
  const fail = (): never => {
    throw new Error(`time: invalid duration ${JSON.stringify(text)}`);
  };
  const match = /^([-+]?)(.*)$/s.exec(text)!;
  const body = match[2]!;
  if (body === '0') return 0n;
  if (body === '') fail();
  let total = 0n;
  let rest = body;
  while (rest !== '') {
    const part = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    if (part === null || (part[1] === '' && (part[2] ?? '') === '')) return fail();
    const unit = UNITS[part[3]!]!;
    const fraction = part[2] ?? '';
    total += BigInt(part[1] === '' ? '0' : part[1]!) * unit;
    if (fraction !== '') total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    rest = rest.slice(part[0].length);
  }
  if (total > MAX) fail();
  return match[1] === '-' ? -total : total;
}

/** RFC 3339. Throws with Go's text. */
export function parseTimestamp(text: string): bigint {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(ms)) {
    const quoted = JSON.stringify(text);
    throw new Error(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
  }
  const nanos = (match[2] ?? '').padEnd(9, '0').slice(0, 9);
  return BigInt(ms) * 1_000_000n + BigInt(nanos);
}

/** A date, `2006-01-02`. */
export function parseDate(text: string): bigint {
  return parseTimestamp(`${text}T00:00:00Z`);
}

const divideFloor = (a: bigint, b: bigint): bigint => (a % b < 0n ? a / b - 1n : a / b);

export function formatTimestamp(nanos: bigint): string {
  const seconds = divideFloor(nanos, 1_000_000_000n);
  const fraction = nanos - seconds * 1_000_000_000n;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${whole}${digits}Z`;
}

/** Seconds with up to nine decimals, as CEL prints a duration. */
export function formatDuration(nanos: bigint): string {
  const negative = nanos < 0n;
  const value = negative ? -nanos : nanos;
  const fraction = value % 1_000_000_000n;
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${negative ? '-' : ''}${value / 1_000_000_000n}${digits}s`;
}

const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/;

/** The date fields of a time in a zone: an offset or an IANA name; UTC by default. */
export function dateInZone(nanos: bigint, zone: string | undefined): Date {
  const ms = Number(divideFloor(nanos, 1_000_000n));
  if (zone === undefined || zone === '' || zone === 'UTC') return new Date(ms);
  const offset = OFFSET.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(ms + (offset[1] === '-' ? -minutes : minutes) * 60_000);
  }
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      dateStyle: 'short',
      timeStyle: 'medium',
    });
  } catch {
    throw new Error(`unknown time zone ${zone}`);
  }
  const parts = new Map(
    new Intl.DateTimeFormat('en-US', {
      timeZone: format.resolvedOptions().timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
      .formatToParts(new Date(ms))
      .map((part) => [part.type, Number(part.value)]),
  );
  const get = (type: string): number => parts.get(type as Intl.DateTimeFormatPartTypes) ?? 0;
  const local = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'));
  return new Date(local + (((ms % 1000) + 1000) % 1000));
}
