// The generic registry: verbs of one resource in one version, driven by its strategy, on top of storage.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store
import {
  type DeleteOptions,
  type FieldSelector,
  type GroupResource,
  isAlreadyExists,
  newBadRequest,
  newGenerateNameConflict,
  StatusError,
} from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { StorageError } from '../storage/errors.ts';
import type { StorageList, StorageListOptions, StorageWatch, StorageWatchEvent } from '../storage/interfaces.ts';
import { matchesSingle, type SelectionPredicate } from '../storage/selection-predicate.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { beforeCreate, fillSystemFields, wipeSystemFields } from './before-create.ts';
import { deleteCollection } from './delete-collection.ts';
import { type Draft, str } from './draft.ts';
import {
  beingDeleted,
  interpretCreateError,
  interpretGetError,
  interpretListError,
  parseObjectVersion,
  resourceVersionSetOnCreate,
} from './errors.ts';
import { listKey, objectKey } from './keys.ts';
import {
  type AdmissionBase,
  attributesOf,
  ConvertedObjects,
  type ResourceCore,
  unstored,
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
  UpdateCall,
  WatchCall,
  WriteCall,
  WriteResult,
} from './rest.ts';
import { deleteObject } from './store-delete.ts';
import { updateObject } from './store-update.ts';
import type { Strategy, StrategyContext } from './strategy.ts';
import { formatTime } from './time-form.ts';
import { metadata } from './validation/object-meta.ts';

/** Rows of a Table for one kind. */
export interface TablePrinter {
  readonly columns: readonly TableColumn[];
  /** Cells of an object of the stored version, in the order of the columns. */
  cells(object: ApiObject, nowMs: number): readonly unknown[];
}

export class Store implements ResourceStore {
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
      if (labels !== undefined) throw newBadRequest(`field label not supported: ${field}`);
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
    const stored = await this.createDraft(ctx, draft, call);
    return { stored: this.show(stored), created: true };
  }

  /** From a draft in the stored version to a stored object. */
  async createDraft(ctx: RequestContext, draft: Draft, call: WriteCall): Promise<StoredObject> {
    const { admission, strategy, kind, clock, random } = this.core;
    const attributes = this.admissionAttributes(ctx, call, str(metadata(draft), 'name'));
    await admission.admit({ ...attributes, operation: 'CREATE', object: draft, old: undefined });
    fillSystemFields(draft, formatTime(clock.now()), random);
    const name = str(metadata(draft), 'name');
    const context = this.contextOf(ctx, call, name);
    const finish = strategy.begin?.(draft, undefined, context);
    let written = false;
    try {
      beforeCreate(strategy, kind, draft, context);
      await admission.validate({ ...attributes, name, operation: 'CREATE', object: draft, old: undefined });
      const stored = await this.#insert(ctx, draft, call, name);
      written = !call.dryRun;
      return stored;
    } finally {
      finish?.(written);
    }
  }

  async #insert(ctx: RequestContext, draft: Draft, call: WriteCall, name: string): Promise<StoredObject> {
    const key = this.keyOf(call.namespace, name);
    if (safeVersion(str(metadata(draft), 'resourceVersion')) > 0) throw resourceVersionSetOnCreate();
    delete metadata(draft)['resourceVersion'];
    try {
      return await this.#write(key, this.core.canonical(draft), call.dryRun, ctx.signal);
    } catch (error) {
      throw await this.#createFailure(error, key, draft);
    }
  }

  async #write(key: string, object: ApiObject, dryRun: boolean, signal: AbortSignal): Promise<StoredObject> {
    const { storage, strategy } = this.core;
    if (dryRun) {
      const existing = await storage.get(key, { signal }).catch((error: unknown) => {
        if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
        throw error;
      });
      if (existing !== undefined) throw new StorageError({ code: 'KeyExists', key });
      return unstored(key, object as unknown as Draft);
    }
    const ttlSeconds = strategy.ttlSeconds?.(object);
    return storage.create(key, object, { ttlSeconds, signal });
  }

  async #createFailure(error: unknown, key: string, draft: Draft): Promise<unknown> {
    const meta = metadata(draft);
    const failure = interpretCreateError(error, this.qualified, str(meta, 'name'));
    if (!(failure instanceof StatusError) || !isAlreadyExists(failure)) return failure;
    if (str(meta, 'generateName') !== '') {
      return newGenerateNameConflict(
        { group: this.core.kind.group, resource: this.info.resource },
        str(meta, 'name'),
        1,
      );
    }
    try {
      const existing = await this.core.storage.get(key);
      return existing.object.metadata.deletionTimestamp === undefined ? failure : beingDeleted(failure);
    } catch {
      return failure;
    }
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

function safeVersion(text: string): number {
  try {
    return parseObjectVersion(text);
  } catch {
    return 0;
  }
}

/** A watch whose objects are shown in another version. */
class ConvertedWatch implements StorageWatch {
  readonly #watch: StorageWatch;
  readonly #converted: ConvertedObjects;

  constructor(watch: StorageWatch, converted: ConvertedObjects) {
    this.#watch = watch;
    this.#converted = converted;
  }

  next(): StorageWatchEvent | undefined {
    const event = this.#watch.next();
    if (event === undefined || event.type === 'ERROR') return event;
    return { ...event, object: this.#converted.of(event.object) };
  }

  get done(): boolean {
    return this.#watch.done;
  }

  onReadable(listener: () => void): void {
    this.#watch.onReadable(listener);
  }

  stop(): void {
    this.#watch.stop();
  }
}
