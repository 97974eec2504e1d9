// Which printer prints which resource.
import type { GroupResource } from '@kube-rx/apimachinery';
import type { TableColumn } from '../rest.ts';
import type { TablePrinter } from '../store.ts';
import { DEFAULT_COLUMNS, type PrintCells, printDefault, printer } from './printer.ts';

const byResource: Readonly<Record<string, PrintCells>> = {};

export function printerFor(
  { group, resource }: GroupResource,
  columns: readonly TableColumn[] | undefined,
): TablePrinter {
  const print = byResource[`${group}/${resource}`];
  if (print === undefined || columns === undefined) return printer(DEFAULT_COLUMNS, printDefault);
  return printer(columns, print);
}
