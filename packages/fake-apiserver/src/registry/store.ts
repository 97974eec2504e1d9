// The generic registry: verbs of one resource in one version, driven by its strategy, on top of storage.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store
import { type DeleteOptions, type FieldSelector, type GroupResource, newBadRequest } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { StorageList, StorageListOptions, StorageWatch } from '../storage/interfaces.ts';
import { matchesSingle, type SelectionPredicate } from '../storage/selection-predicate.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { wipeSystemFields } from './before-create.ts';
import { ConvertedWatch } from './converted-watch.ts';
import { deleteCollection } from './delete-collection.ts';
import type { Draft } from './draft.ts';
import { interpretGetError, interpretListError } from './errors.ts';
import { listKey, objectKey } from './keys.ts';
import {
  type AdmissionBase,
  attributesOf,
  ConvertedObjects,
  type ResourceCore,
  type VersionView,
} from './resource-core.ts';
import type {
  DeleteCall,
  DeleteResult,
  ListCall,
  RequestContext,
  ResourceInfo,
  ResourceStore,
  TableColumn,
  TableRowCondition,
  UpdateCall,
  WatchCall,
  WriteCall,
  WriteResult,
} from './rest.ts';
import { createDraft } from './store-create.ts';
import { deleteObject } from './store-delete.ts';
import { updateObject } from './store-update.ts';
import type { Strategy, StrategyContext } from './strategy.ts';
import { formatTime } from './time-form.ts';
import type { VerbTarget } from './verb-target.ts';

/** Rows of a Table for one kind. */
export interface TablePrinter {
  readonly columns: readonly TableColumn[];
  /** Cells of an object of the stored version, in the order of the columns. */
  cells(object: ApiObject, nowMs: number): readonly unknown[];
  conditions?(object: ApiObject): readonly TableRowCondition[];
}

export class Store implements VerbTarget {
  readonly core: ResourceCore;
  readonly view: VersionView;
  readonly #printer: TablePrinter;
  readonly #converted: ConvertedObjects | undefined;

  constructor(core: ResourceCore, view: VersionView, printer: TablePrinter) {
    this.core = core;
    this.view = view;
    this.#printer = printer;
    this.#converted = view.fromStorage === undefined ? undefined : new ConvertedObjects(view.fromStorage);
  }

  get info(): ResourceInfo {
    return this.view.info;
  }

  get strategy(): Strategy {
    return this.core.strategy;
  }

  /** As errors name the resource. */
  get qualified(): GroupResource {
    return { group: this.info.group, resource: this.info.resource };
  }

  get tableColumns(): readonly TableColumn[] {
    return this.#printer.columns;
  }

  get resetFields(): Strategy['resetFields'] {
    return this.core.strategy.resetFields;
  }

  tableCells(object: ApiObject): readonly unknown[] {
    const stored =
      this.#converted === undefined
        ? object
        : (this.view.toStorage(structuredClone(object) as unknown as Draft) as unknown as ApiObject);
    return this.#printer.cells(stored, this.core.clock.now());
  }

  tableConditions(object: ApiObject): readonly TableRowCondition[] {
    return this.#printer.conditions?.(object) ?? [];
  }

  /** The object as this version shows it. */
  show(stored: StoredObject): StoredObject {
    return this.#converted === undefined ? stored : this.#converted.of(stored);
  }

  keyOf(namespace: string, name: string): string {
    return objectKey(this.core.prefix, this.core.strategy.namespaced, namespace, name);
  }

  contextOf(request: RequestContext, call: WriteCall, name: string, subresource = ''): StrategyContext {
    const { namespace, dryRun } = call;
    const { group, version } = this.info;
    return { request, namespace, name, dryRun, subresource, group, version, now: formatTime(this.core.clock.now()) };
  }

  convertFieldSelector(selector: FieldSelector): FieldSelector {
    if (selector.empty) return selector;
    const labels = this.view.fieldLabels ?? this.core.strategy.fieldLabels;
    return selector.transform((field, value) => {
      const mapped = labels?.get(field);
      if (mapped !== undefined) return { field: mapped, value };
      if (labels !== undefined) {
        const { unknownFieldLabel = (label: string) => `field label not supported: ${label}` } = this.core.strategy;
        throw newBadRequest(unknownFieldLabel(field));
      }
      if (field === 'metadata.name' || field === 'metadata.namespace') return { field, value };
      throw newBadRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
    });
  }

  applyDefaults(object: ApiObject): ApiObject {
    return this.view.withDefaults(object) as unknown as ApiObject;
  }

  async get(
    ctx: RequestContext,
    call: { readonly namespace: string; readonly name: string; readonly resourceVersion: string },
  ): Promise<StoredObject> {
    const key = this.keyOf(call.namespace, call.name);
    try {
      const { resourceVersion } = call;
      return this.show(await this.core.storage.get(key, { resourceVersion, signal: ctx.signal }));
    } catch (error) {
      throw interpretGetError(error, this.qualified, call.name);
    }
  }

  async list(ctx: RequestContext, call: ListCall): Promise<StorageList> {
    const { key, options } = this.#listing(ctx, call, false);
    try {
      const list = await this.core.storage.getList(key, options);
      return this.#converted === undefined ? list : { ...list, items: list.items.map((item) => this.show(item)) };
    } catch (error) {
      throw interpretListError(error, this.qualified);
    }
  }

  async watch(ctx: RequestContext, call: WatchCall): Promise<StorageWatch> {
    const { key, options } = this.#listing(ctx, call, call.allowWatchBookmarks);
    try {
      const watch = await this.core.storage.watch(key, {
        ...options,
        sendInitialEvents: call.sendInitialEvents,
        deadlineMs: call.deadlineMs,
      });
      return this.#converted === undefined ? watch : new ConvertedWatch(watch, this.#converted);
    } catch (error) {
      throw interpretListError(error, this.qualified);
    }
  }

  #listing(
    ctx: RequestContext,
    call: ListCall,
    allowWatchBookmarks: boolean,
  ): { readonly key: string; readonly options: StorageListOptions } {
    const { strategy, prefix } = this.core;
    const predicate: SelectionPredicate = {
      label: call.labelSelector,
      field: call.fieldSelector,
      getAttributes: (object) => attributesOf(strategy, object),
      limit: call.limit,
      continue: call.continue,
      allowWatchBookmarks,
    };
    const options = {
      resourceVersion: call.resourceVersion,
      resourceVersionMatch: call.resourceVersionMatch,
      predicate,
      signal: ctx.signal,
    };
    const single = matchesSingle(predicate);
    if (single !== undefined) {
      const key = this.#keyIfPossible(call.namespace, single);
      if (key !== undefined) return { key, options: { ...options, recursive: false } };
    }
    return { key: listKey(prefix, strategy.namespaced, call.namespace), options: { ...options, recursive: true } };
  }

  #keyIfPossible(namespace: string, name: string): string | undefined {
    try {
      return this.keyOf(namespace, name);
    } catch {
      return undefined;
    }
  }

  async create(ctx: RequestContext, object: ApiObject, call: WriteCall): Promise<WriteResult> {
    const draft = this.view.toStorage(this.view.withDefaults(object));
    wipeSystemFields(draft);
    const stored = await createDraft(this, ctx, draft, call);
    return { stored: this.show(stored), created: true };
  }

  /** What admission hears of a write; the operation and the objects are the caller's to add. */
  admissionAttributes(ctx: RequestContext, call: WriteCall, name: string, subresource = ''): AdmissionBase {
    const { group, version, resource } = this.info;
    return {
      resource: { group, version, resource },
      subresource,
      kind: { group, version, kind: this.info.kind },
      namespace: this.core.strategy.namespaced ? call.namespace : '',
      name,
      dryRun: call.dryRun,
      request: ctx,
    };
  }

  update(ctx: RequestContext, call: UpdateCall): Promise<WriteResult> {
    return updateObject(this, ctx, call);
  }

  delete(ctx: RequestContext, call: DeleteCall): Promise<DeleteResult> {
    this.#warnAboutDelete(ctx, call.options);
    return deleteObject(this, ctx, call);
  }

  #warnAboutDelete(ctx: RequestContext, options: DeleteOptions): void {
    const { deleteWarning } = this.core.strategy;
    if (deleteWarning === undefined || options.propagationPolicy !== undefined) return;
    if (options.orphanDependents === undefined) ctx.warn(deleteWarning);
  }

  deleteCollection(ctx: RequestContext, call: Parameters<ResourceStore['deleteCollection']>[1]): Promise<StorageList> {
    return deleteCollection(this, ctx, call);
  }
}
