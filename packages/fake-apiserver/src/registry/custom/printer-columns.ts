// Tables of custom resources: the name, and what additionalPrinterColumns ask for.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresource/tableconvertor/tableconvertor.go
import { goJsonStringify } from '@kube-rx/apimachinery';
import type { PrinterColumn } from '../../apiextensions/crd.ts';
import { goString } from '../../apiextensions/go-format.ts';
import { compileJsonPath, type JsonPath } from '../../apiextensions/json-path.ts';
import type { TableColumn } from '../rest.ts';
import type { TablePrinter } from '../store.ts';
import { sortKeys } from './custom-version.ts';
import { humanAge } from './human-duration.ts';

/** What metadata fields are described as, from the recorded API. */
export type DescribeMetadata = (field: 'name' | 'creationTimestamp') => string;

interface CompiledColumn {
  readonly column: TableColumn;
  readonly path: JsonPath;
}

function compile(column: PrinterColumn): CompiledColumn | undefined {
  try {
    const path = compileJsonPath(column.jsonPath);
    const { name, type, format, priority, description, jsonPath } = column;
    const shown =
      description === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description;
    return { column: { name, type, format, description: shown, priority }, path };
  } catch {
    return undefined;
  }
}

function textCell(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  return typeof value === 'object' ? goJsonStringify(sortKeys(value)) : goString(value);
}

function cell(type: string, value: unknown, nowMs: number): unknown {
  if (type === 'string') return textCell(value);
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? humanAge(value, nowMs) : null;
    default:
      return null;
  }
}

/** The printer of a version. A column that cannot be compiled ends the list, as upstream. */
export function columnPrinter(columns: readonly PrinterColumn[], describe: DescribeMetadata): TablePrinter {
  const asked =
    columns.length > 0
      ? columns
      : [
          {
            name: 'Age',
            type: 'date',
            format: '',
            description: describe('creationTimestamp'),
            priority: 0,
            jsonPath: '.metadata.creationTimestamp',
          },
        ];
  const compiled: CompiledColumn[] = [];
  for (const column of asked) {
    const made = compile(column);
    if (made === undefined) break;
    compiled.push(made);
  }
  const name: TableColumn = {
    name: 'Name',
    type: 'string',
    format: 'name',
    description: describe('name'),
    priority: 0,
  };
  return {
    columns: [name, ...compiled.map(({ column }) => column)],
    cells: (object, nowMs) => [
      object.metadata.name ?? '',
      ...compiled.map(({ column, path }) => {
        const found = path.find(object);
        return found.length === 0 ? null : cell(column.type, found[0], nowMs);
      }),
    ],
  };
}
