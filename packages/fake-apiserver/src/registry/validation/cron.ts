// Schedules of five fields, checked with the words of the parser upstream uses.
// Upstream: github.com/robfig/cron@v3.0.1:parser.go#ParseStandard

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];

const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);

class ScheduleError extends Error {}

function number(text: string, bounds: Bounds): number {
  const named = bounds.names.indexOf(text.toLowerCase());
  if (named >= 0) return named + bounds.min;
  return plainNumber(text);
}

function plainNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function checkRange(expression: string, bounds: Bounds): void {
  const rangeAndStep = expression.split('/');
  const lowAndHigh = rangeAndStep[0]!.split('-');
  const single = lowAndHigh.length === 1;
  let start: number;
  let end: number;
  if (lowAndHigh[0] === '*' || lowAndHigh[0] === '?') [start, end] = [bounds.min, bounds.max];
  else {
    start = number(lowAndHigh[0]!, bounds);
    if (lowAndHigh.length > 2) throw new ScheduleError(`too many hyphens: ${expression}`);
    end = single ? start : number(lowAndHigh[1]!, bounds);
  }
  let step = 1;
  if (rangeAndStep.length > 2) throw new ScheduleError(`too many slashes: ${expression}`);
  if (rangeAndStep.length === 2) {
    step = plainNumber(rangeAndStep[1]!);
    if (single) end = bounds.max;
  }
  if (start < bounds.min)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${expression}`);
  if (end > bounds.max) throw new ScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${expression}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${expression}`);
}

/** What is wrong with a schedule, undefined when nothing is. */
export function scheduleError(schedule: string): string | undefined {
  let spec = schedule;
  if (/^(CRON_)?TZ=/.test(spec)) spec = spec.slice(spec.indexOf(' ') + 1).trim();
  if (spec.startsWith('@')) {
    if (DESCRIPTORS.has(spec)) return undefined;
    if (/^@every \S+$/.test(spec)) return undefined;
    return `unrecognized descriptor: ${spec}`;
  }
  const fields = spec.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length)
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  try {
    fields.forEach((field, index) => {
      for (const part of field.split(',').filter((one) => one !== '')) checkRange(part, FIELDS[index]!);
    });
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}
