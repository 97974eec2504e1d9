// Times as Go writes them: UTC, whole seconds for Time, six digits for MicroTime.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/time.go, micro_time.go

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/;

function parts(value: unknown): { readonly seconds: string; readonly fraction: string } | undefined {
  if (typeof value !== 'string') return undefined;
  const match = RFC3339.exec(value);
  if (match === null) return undefined;
  const [, local = '', fraction = '', zone = 'Z'] = match;
  if (zone === 'Z') return { seconds: local, fraction };
  const atMs = Date.parse(`${local}${zone}`);
  if (Number.isNaN(atMs)) return undefined;
  return { seconds: new Date(atMs).toISOString().slice(0, 19), fraction };
}

/** RFC 3339 in UTC with second precision; anything else is handed back. */
export function canonicalTime(value: unknown): unknown {
  const read = parts(value);
  return read === undefined ? (value ?? undefined) : `${read.seconds}Z`;
}

export function canonicalMicroTime(value: unknown): unknown {
  const read = parts(value);
  return read === undefined ? (value ?? undefined) : `${read.seconds}.${read.fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

/** A moment of the clock as the API writes it. */
export function formatTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since 1970 of an API time, undefined when it is not one. */
export function parseTime(text: string): number | undefined {
  const atMs = Date.parse(text);
  return text === '' || Number.isNaN(atMs) ? undefined : atMs;
}
