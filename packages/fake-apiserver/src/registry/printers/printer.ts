// Rows of Tables: what `kubectl get` shows.
// Upstream: kubernetes@v1.30.3:pkg/printers/internalversion/printers.go
import type { ApiObject } from '../../storage/api-object.ts';
import { type Draft, str } from '../draft.ts';
import type { TableColumn, TableRowCondition } from '../rest.ts';
import type { TablePrinter } from '../store.ts';
import { parseTime } from '../time-form.ts';
import { metadata } from '../validation/object-meta.ts';

/** Cells of one object in the order of the kind's columns. */
export type PrintCells = (object: Draft, nowMs: number) => readonly unknown[];

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** `2y333d`, `5m3s`, `0s`: two units at most, as upstream rounds them. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.trunc(seconds / MINUTE);
  if (minutes < 10) return unit(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(seconds / HOUR);
  if (hours < 8) return unit(hours, 'h', Math.trunc((seconds % HOUR) / MINUTE), 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(seconds / DAY);
  if (hours < 8 * 24) return unit(days, 'd', hours % 24, 'h');
  if (hours < 2 * 365 * 24) return `${days}d`;
  const years = Math.trunc(seconds / YEAR);
  if (years < 8) return unit(years, 'y', Math.trunc((seconds % YEAR) / DAY), 'd');
  return `${years}y`;
}

function unit(large: number, largeName: string, small: number, smallName: string): string {
  return small === 0 ? `${large}${largeName}` : `${large}${largeName}${small}${smallName}`;
}

/** How long ago a time was, `<unknown>` when there is none. */
export function ageOf(time: string, nowMs: number): string {
  const atMs = parseTime(time);
  return atMs === undefined ? '<unknown>' : humanDuration(nowMs - atMs);
}

export function age(object: Draft, nowMs: number): string {
  return ageOf(str(metadata(object), 'creationTimestamp'), nowMs);
}

export const name = (object: Draft): string => str(metadata(object), 'name');
export const created = (object: Draft): string => str(metadata(object), 'creationTimestamp');

/** The columns upstream shows for kinds without a printer. */
export const DEFAULT_COLUMNS: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Created At', type: 'date', format: '', description: '', priority: 0 },
];

export const printDefault: PrintCells = (object) => [name(object), created(object)];

export function printer(
  columns: readonly TableColumn[],
  print: PrintCells,
  conditions?: (object: Draft) => readonly TableRowCondition[],
): TablePrinter {
  return {
    columns,
    cells: (object: ApiObject, nowMs: number) => print(object as unknown as Draft, nowMs),
    ...(conditions === undefined ? {} : { conditions: (object: ApiObject) => conditions(object as unknown as Draft) }),
  };
}
