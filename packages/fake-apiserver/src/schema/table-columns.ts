// Printer columns of the built-in kinds, as the real server's Tables show them.
import { type DataProfile, loadOnce, readData } from './profile-data.ts';

/** A printer column as it stands in a Table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

type RawColumn = readonly [name: string, type: string, format: string, priority: number, description?: string];

/** Columns by {@link tableColumnsKey}; descriptions are empty where none was recorded. */
export function loadTableColumns(profile: DataProfile): ReadonlyMap<string, readonly TableColumn[]> {
  return loadOnce(profile, 'table-columns', () => {
    const raw = readData<Record<string, readonly RawColumn[]>>(profile, 'table-columns.json');
    return new Map(
      Object.entries(raw).map(([path, columns]) => [
        path,
        columns.map(([name, type, format, priority, description]) => ({
          name,
          type,
          format,
          priority,
          description: description ?? '',
        })),
      ]),
    );
  });
}

/** The key of {@link loadTableColumns} for a resource. */
export function tableColumnsKey(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
