// Component statuses: what the server knows of its neighbours. Nothing is stored, nothing can be written.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/componentstatus/rest.go
import { type FieldSelector, newMethodNotSupported, newNotFound } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { StorageList } from '../storage/interfaces.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Draft } from './draft.ts';
import { unstored } from './resource-core.ts';
import type { ListCall, RequestContext, ResourceInfo, ResourceStore, TableColumn } from './rest.ts';
import type { TablePrinter } from './store.ts';

const UNREACHABLE = (port: number): string =>
  `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`;

const COMPONENTS: readonly (readonly [name: string, status: string, message: string])[] = [
  ['controller-manager', 'False', UNREACHABLE(10_257)],
  ['etcd-0', 'True', 'ok'],
  ['scheduler', 'False', UNREACHABLE(10_259)],
];

const DEPRECATION = 'v1 ComponentStatus is deprecated in v1.19+';

export class ComponentStatuses implements ResourceStore {
  readonly info: ResourceInfo;
  readonly #printer: TablePrinter;
  readonly #objects: readonly StoredObject[];

  constructor(info: ResourceInfo, printer: TablePrinter, shape: (object: Draft) => ApiObject) {
    this.info = info;
    this.#printer = printer;
    this.#objects = COMPONENTS.map(([name, status, message]) => {
      const object = shape({ metadata: { name }, conditions: [{ type: 'Healthy', status, message }] });
      return unstored(`/componentstatuses/${name}`, object as unknown as Draft);
    });
  }

  get tableColumns(): readonly TableColumn[] {
    return this.#printer.columns;
  }

  tableCells(object: ApiObject): readonly unknown[] {
    return this.#printer.cells(object, 0);
  }

  convertFieldSelector(selector: FieldSelector): FieldSelector {
    return selector;
  }

  applyDefaults(object: ApiObject): ApiObject {
    return object;
  }

  async get(ctx: RequestContext, call: { readonly name: string }): Promise<StoredObject> {
    ctx.warn(DEPRECATION);
    const found = this.#objects.find(({ object }) => object.metadata.name === call.name);
    if (found === undefined) throw newNotFound({ group: '', resource: 'componentstatuses' }, call.name);
    return found;
  }

  async list(ctx: RequestContext, call: ListCall): Promise<StorageList> {
    ctx.warn(DEPRECATION);
    const items = this.#objects.filter(({ object }) => {
      const { name = '', labels = {} } = object.metadata;
      return call.labelSelector.matches(labels) && call.fieldSelector.matches({ 'metadata.name': name });
    });
    return { items, resourceVersion: '', continue: '' };
  }

  watch(): Promise<never> {
    return this.#never('watch');
  }
  create(): Promise<never> {
    return this.#never('create');
  }
  update(): Promise<never> {
    return this.#never('update');
  }
  delete(): Promise<never> {
    return this.#never('delete');
  }
  deleteCollection(): Promise<never> {
    return this.#never('deletecollection');
  }

  async #never(verb: string): Promise<never> {
    throw newMethodNotSupported({ group: '', resource: 'componentstatuses' }, verb);
  }
}
