// Which printer prints which resource.
import type { GroupResource } from '@kube-rx/apimachinery';
import type { TableColumn } from '../rest.ts';
import type { TablePrinter } from '../store.ts';
import { corePrinters } from './core.ts';
import { podAndNodePrinters, podConditions } from './pods-and-nodes.ts';
import { policyPrinters } from './policies.ts';
import { DEFAULT_COLUMNS, type PrintCells, printDefault, printer } from './printer.ts';
import { workloadPrinters } from './workloads.ts';

const byResource: Readonly<Record<string, PrintCells>> = {
  ...corePrinters,
  ...podAndNodePrinters,
  ...workloadPrinters,
  ...policyPrinters,
};

export { DEFAULT_COLUMNS } from './printer.ts';

export function printerFor(
  { group, resource }: GroupResource,
  columns: readonly TableColumn[] | undefined,
): TablePrinter {
  const print = byResource[`${group}/${resource}`];
  if (print === undefined || columns === undefined) return printer(DEFAULT_COLUMNS, printDefault);
  return printer(columns, print, group === '' && resource === 'pods' ? podConditions : undefined);
}
