// The store of a custom resource in one version: the generic one, with a decoder of its own and the words of its CRD.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/customresource_handler.go#crdHandler
import { formatGroupVersion, type GroupVersion, newStatusError } from '@kube-rx/apimachinery';
import type { Crd, CrdVersion } from '../../apiextensions/crd.ts';
import type { JsonObject } from '../../apiextensions/schema/json.ts';
import { compareKubeAwareVersions } from '../../apiextensions/versions.ts';
import type { Schema } from '../../schema/schema.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { StorageList, StorageWatch } from '../../storage/interfaces.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import type { ResourceCore, VersionView } from '../resource-core.ts';
import type {
  DeleteCall,
  DeleteResult,
  ListCall,
  RequestContext,
  ResourceStore,
  UpdateCall,
  WatchCall,
  WriteCall,
  WriteResult,
} from '../rest.ts';
import { Store, type TablePrinter } from '../store.ts';
import { asApiObject, type CustomVersion } from './custom-version.ts';

export interface CustomStoreOptions {
  readonly version: CustomVersion;
  /** Sent with every answer. */
  readonly warnings: readonly string[];
  /** The CRD is being deleted: nothing new may be made. */
  readonly terminating: boolean;
  readonly versionSchema: (apiVersion: string) => Schema | undefined;
}

/** What clients of a deprecated version are told; nothing for other versions. */
export function deprecationWarnings(crd: Crd, version: CrdVersion): readonly string[] {
  if (!version.deprecated) return [];
  if (version.deprecationWarning !== undefined) return [version.deprecationWarning];
  const nameOf = (gv: GroupVersion): string => `${formatGroupVersion(gv)} ${crd.names.kind}`;
  const { group } = crd;
  const better = crd.versions
    .filter((other) => other.served && !other.deprecated && compareKubeAwareVersions(version.name, other.name) < 0)
    .map((other) => other.name)
    .sort(compareKubeAwareVersions)
    .at(-1);
  const text = `${nameOf({ group, version: version.name })} is deprecated`;
  return [better === undefined ? text : `${text}; use ${nameOf({ group, version: better })}`];
}

export class CustomStore extends Store {
  readonly #version: CustomVersion;
  readonly #warnings: readonly string[];
  readonly #terminating: boolean;
  readonly #versionSchema: (apiVersion: string) => Schema | undefined;

  constructor(core: ResourceCore, view: VersionView, printer: TablePrinter, options: CustomStoreOptions) {
    super(core, view, printer);
    this.#version = options.version;
    this.#warnings = options.warnings;
    this.#terminating = options.terminating;
    this.#versionSchema = options.versionSchema;
  }

  versionSchema(apiVersion: string): Schema | undefined {
    return this.#versionSchema(apiVersion);
  }

  decodeCustom(value: JsonObject): { readonly object: ApiObject; readonly strictErrors: readonly string[] } {
    const { object, unknownFields } = this.#version.coerce(value);
    return {
      object: asApiObject(this.#version.withDefaults(object)),
      strictErrors: unknownFields.map((path) => `unknown field "${path}"`),
    };
  }

  override applyDefaults(object: ApiObject): ApiObject {
    return this.#version.withDefaults(object);
  }

  #warn(ctx: RequestContext): void {
    for (const text of this.#warnings) ctx.warn(text);
  }

  override get(ctx: RequestContext, call: Parameters<ResourceStore['get']>[1]): Promise<StoredObject> {
    this.#warn(ctx);
    return super.get(ctx, call);
  }

  override list(ctx: RequestContext, call: ListCall): Promise<StorageList> {
    this.#warn(ctx);
    return super.list(ctx, call);
  }

  override watch(ctx: RequestContext, call: WatchCall): Promise<StorageWatch> {
    this.#warn(ctx);
    return super.watch(ctx, call);
  }

  override async create(ctx: RequestContext, object: ApiObject, call: WriteCall): Promise<WriteResult> {
    this.#warn(ctx);
    if (this.#terminating) {
      const { group, resource } = this.info;
      const message = 'create not allowed while custom resource definition is terminating';
      throw newStatusError(405, 'MethodNotAllowed', message, { group, kind: resource });
    }
    return super.create(ctx, object, call);
  }

  override update(ctx: RequestContext, call: UpdateCall): Promise<WriteResult> {
    this.#warn(ctx);
    return super.update(ctx, call);
  }

  override delete(ctx: RequestContext, call: DeleteCall): Promise<DeleteResult> {
    this.#warn(ctx);
    return super.delete(ctx, call);
  }

  override deleteCollection(
    ctx: RequestContext,
    call: Parameters<ResourceStore['deleteCollection']>[1],
  ): Promise<StorageList> {
    this.#warn(ctx);
    return super.deleteCollection(ctx, call);
  }
}
