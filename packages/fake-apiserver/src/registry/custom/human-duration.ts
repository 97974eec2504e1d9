// Ages as tables show them.
// Upstream: apimachinery@v0.30.3:pkg/util/duration/duration.go#HumanDuration

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;

/** `2m`, `3h10m`, `5d`; two units while they are small. Up to two seconds in the future count as none. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / MINUTE);
  if (minutes < 10) return pair(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(seconds / HOUR);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / DAY);
  if (hours < 8 * 24) return pair(days, 'd', hours % 24, 'h');
  if (hours < 2 * 365 * 24) return `${days}d`;
  const years = Math.floor(seconds / YEAR);
  if (hours < 8 * 365 * 24) return pair(years, 'y', days % 365, 'd');
  return `${years}y`;
}

/** Age of an RFC 3339 time. */
export function humanAge(time: unknown, nowMs: number): string {
  if (time === null || time === undefined || time === '') return '<unknown>';
  // Date.parse takes more than RFC 3339.
  const at = typeof time === 'string' && RFC3339.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? '<invalid>' : humanDuration(nowMs - at);
}
