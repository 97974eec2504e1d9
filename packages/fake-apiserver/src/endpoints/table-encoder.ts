// Objects as rows of a Table, made anew for every answer.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/response.go#asTable
import { goJsonStringify, type WatchEventType } from '@kube-rx/apimachinery';
import { DEFAULT_COLUMNS } from '../registry/printers/index.ts';
import type { ResourceStore, TableColumn } from '../registry/rest.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WireFrame } from './http.ts';
import { JsonEncoder, makeFrame } from './object-encoder.ts';
import { typedMetadata } from './typed-metadata.ts';

/** How rows of a Table show their object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

const ROWS_END = ']}';

/** A Table with one row. */
export class TableEncoder extends JsonEncoder {
  readonly #store: ResourceStore;
  readonly #version: string;
  readonly #include: IncludeObject;

  constructor(store: ResourceStore, version: string, include: IncludeObject) {
    // Column definitions belong to a version of the resource, so the version is part of the form.
    super(`table;${version};${include};${store.info.version}`);
    this.#store = store;
    this.#version = version;
    this.#include = include;
  }

  protected text(object: ApiObject, first: boolean): string {
    return this.#table({ resourceVersion: object.metadata.resourceVersion }, [object], first);
  }

  // Ages in the cells grow older: a Table is made anew for every answer.
  override encode(stored: StoredObject): Buffer {
    return Buffer.from(this.text(stored.object, true));
  }

  override frame(type: WatchEventType, stored: StoredObject, first = false): WireFrame {
    return makeFrame(this.pieces(type, this.text(stored.object, first)));
  }

  /** What stands before and after the rows of a list, which are joined by commas. */
  listEnvelope(metadata: Readonly<Record<string, unknown>>): readonly [head: string, tail: string] {
    const empty = this.#table(metadata, [], true);
    return [empty.slice(0, -ROWS_END.length), ROWS_END];
  }

  /** A list without rows. Kinds without a printer of their own have none at all. */
  emptyList(metadata: Readonly<Record<string, unknown>>): string {
    const [head, tail] = this.listEnvelope(metadata);
    return this.#store.tableColumns === DEFAULT_COLUMNS ? `${head.slice(0, -1)}null}` : head + tail;
  }

  row(stored: StoredObject): Buffer {
    return Buffer.from(goJsonStringify(this.#row(stored.object)));
  }

  #table(metadata: Readonly<Record<string, unknown>>, objects: readonly ApiObject[], columns: boolean): string {
    return goJsonStringify({
      kind: 'Table',
      apiVersion: `meta.k8s.io/${this.#version}`,
      metadata,
      columnDefinitions: columns ? this.#store.tableColumns.map(columnDefinition) : null,
      rows: objects.map((object) => this.#row(object)),
    });
  }

  #row(object: ApiObject): unknown {
    const conditions = this.#store.tableConditions?.(object) ?? [];
    return {
      cells: this.#store.tableCells(object),
      ...(conditions.length > 0 ? { conditions } : {}),
      object: this.#rowObject(object),
    };
  }

  #rowObject(object: ApiObject): unknown {
    if (this.#include === 'None') return null;
    if (this.#include === 'Object') return object;
    return {
      kind: 'PartialObjectMetadata',
      apiVersion: `meta.k8s.io/${this.#version}`,
      metadata: typedMetadata(object),
    };
  }
}

function columnDefinition(column: TableColumn): TableColumn {
  const { name, type, format, description, priority } = column;
  return { name, type, format, description, priority };
}
