// The seam between HTTP handlers and the registry: what a handler may ask of a resource.
// Upstream: apiserver@v0.30.3:pkg/registry/rest/rest.go
import type { DeleteOptions, FieldSelector, LabelSelector, ResourceVersionMatch } from '@kube-rx/apimachinery';
import type { Schema } from '../schema/schema.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { StorageList, StorageWatch } from '../storage/interfaces.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export interface UserInfo {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** What a handler knows of the request when it calls the registry. */
export interface RequestContext {
  readonly signal: AbortSignal;
  readonly user: UserInfo;
  /** Adds one `Warning: 299 - "text"` header; duplicates are dropped by the handler. */
  warn(text: string): void;
}

/** Static facts of one served resource in one version. */
export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceInfo[];
  /** Undefined for kinds without a known type. */
  readonly schema: Schema | undefined;
  /** True for kinds defined by a CRD: list items carry apiVersion and kind, list metadata always shows `continue`. */
  readonly custom: boolean;
  /** Verbs as discovery lists them, in this order. Default: `verbs`, sorted. */
  readonly listedVerbs?: readonly string[] | undefined;
  /** The version in which objects are stored, where it is not this one. */
  readonly storageVersion?: string | undefined;
}

export interface SubresourceInfo {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface ListCall {
  readonly namespace: string;
  readonly labelSelector: LabelSelector;
  /** Already converted and checked by `convertFieldSelector`. */
  readonly fieldSelector: FieldSelector;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch | undefined;
  readonly limit: number;
  readonly continue: string;
}

export interface WatchCall extends ListCall {
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** When the watch will time out, in ms of the server's clock. */
  readonly deadlineMs: number;
}

export interface WriteCall {
  readonly namespace: string;
  readonly dryRun: boolean;
}

export interface UpdateCall extends WriteCall {
  readonly name: string;
  /** Apply creates what is missing, whatever the kind says about create on update. */
  readonly forceAllowCreate: boolean;
  /** '' for the main resource, else e.g. `status`. */
  readonly subresource: string;
  /**
   * Makes the new object from the stored one (undefined when missing). May be called again on a lost race; throws a StatusError
   * to refuse. It includes managedFields bookkeeping; the registry does defaults, strategies, validation and admission after it.
   */
  transform(existing: ApiObject | undefined): ApiObject | Promise<ApiObject>;
  /** What admission sees instead of the object itself, for subresources that show it as another kind. */
  readonly admittedAs?: { readonly subresource: SubresourceInfo; show(object: ApiObject): ApiObject } | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
}

export interface DeleteCall {
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
}

/** A stored object, or (dry run) one that was not stored. Handlers read `object`, never write it. */
export interface WriteResult {
  readonly stored: StoredObject;
  readonly created: boolean;
}

export interface DeleteResult {
  /** The object in its last or marked state. */
  readonly stored: StoredObject;
  /** False when finalizers or grace keep it. */
  readonly deleted: boolean;
  /** True for the kinds that answer with the deleted object instead of a Status. */
  readonly returnDeletedObject: boolean;
}

/** One resource's storage, in one version. All versions of a built-in kind share one Cacher below. */
export interface ResourceStore {
  readonly info: ResourceInfo;
  /** Maps and checks one requirement of a field selector; throws 400 for an unknown field. */
  convertFieldSelector(selector: FieldSelector): FieldSelector;
  /** Fills the kind's defaults in, as decoding does upstream; returns the same object when nothing changed. */
  applyDefaults(object: ApiObject): ApiObject;
  /**
   * Custom resources only: the rest of decoding once the JSON of a body or of a patched object is read. Decodes metadata, prunes
   * by the schema, drops nulls and fills defaults in. `strictErrors` are like those of `decodeJson`; what cannot be decoded
   * throws a DecodeError with the text that follows `cannot be handled as a KIND: `.
   */
  decodeCustom?(value: Readonly<Record<string, unknown>>): {
    readonly object: ApiObject;
    readonly strictErrors: readonly string[];
  };
  /** Custom resources only: the type of any version the definition has, served or not; undefined for one that it has not. */
  versionSchema?(apiVersion: string): Schema | undefined;
  get(
    ctx: RequestContext,
    call: { readonly namespace: string; readonly name: string; readonly resourceVersion: string },
  ): Promise<StoredObject>;
  list(ctx: RequestContext, call: ListCall): Promise<StorageList>;
  watch(ctx: RequestContext, call: WatchCall): Promise<StorageWatch>;
  create(ctx: RequestContext, object: ApiObject, call: WriteCall): Promise<WriteResult>;
  update(ctx: RequestContext, call: UpdateCall): Promise<WriteResult>;
  delete(ctx: RequestContext, call: DeleteCall): Promise<DeleteResult>;
  deleteCollection(
    ctx: RequestContext,
    call: {
      readonly namespace: string;
      readonly options: DeleteOptions;
      readonly list: ListCall;
      readonly dryRun: boolean;
    },
  ): Promise<StorageList>;
  /**
   * Paths that field management leaves out because the strategy resets them: `''` for the main resource, else by subresource.
   * Like `{ '': [['status']], status: [['spec']] }`.
   */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>> | undefined;
  /** Cells of the Table row of an object, in the order of `tableColumns`. */
  readonly tableColumns: readonly TableColumn[];
  tableCells(object: ApiObject): readonly unknown[];
  /** What tools should know of a row without reading its cells; absent for kinds that never say anything. */
  tableConditions?(object: ApiObject): readonly TableRowCondition[];
}

export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/**
 * A subresource that is not the parent's object under another strategy (scale, binding, eviction, token, log, approval ...).
 * `status` goes through {@link ResourceStore.update}.
 */
export interface SubresourceHandler {
  readonly info: SubresourceInfo;
  get?(ctx: RequestContext, ref: { readonly namespace: string; readonly name: string }): Promise<ApiObject>;
  /** Instead of `get`: plain text, answered with 204 when there is none. */
  text?(
    ctx: RequestContext,
    ref: { readonly namespace: string; readonly name: string },
    query: { first(name: string): string | undefined },
  ): Promise<string>;
  create?(
    ctx: RequestContext,
    ref: { readonly namespace: string; readonly name: string },
    body: ApiObject,
    call: WriteCall,
  ): Promise<{ readonly object: ApiObject; readonly status: number }>;
  update?(
    ctx: RequestContext,
    ref: { readonly namespace: string; readonly name: string },
    transform: (existing: ApiObject) => ApiObject | Promise<ApiObject>,
    call: WriteCall,
  ): Promise<ApiObject>;
}

/** A kind that is answered at once and never stored: access reviews, token reviews. */
export interface VirtualResource {
  readonly info: ResourceInfo;
  create(ctx: RequestContext, object: ApiObject, call: WriteCall): Promise<ApiObject>;
}

/** Everything served at present; CRDs come and go, so look up per request. */
export interface ResourceCatalog {
  find(group: string, version: string, resource: string): ResourceStore | undefined;
  findVirtual(group: string, version: string, resource: string): VirtualResource | undefined;
  findSubresource(
    group: string,
    version: string,
    resource: string,
    subresource: string,
  ): SubresourceHandler | undefined;
  all(): Iterable<ResourceInfo>;
  /** Grows with every change of the served set; discovery documents are cached by it. */
  readonly generation: number;
}
