// A registry over real storage on the embedded etcd, for tests of the registry.
import { type DeleteOptions, realClock, StatusError } from '@kube-rx/apimachinery';
import { EmbeddedEtcd } from '../../src/etcd/embedded/embedded-etcd.ts';
import type { Profile } from '../../src/profiles/profile.ts';
import { v1_30 } from '../../src/profiles/v1-30.ts';
import { type CatalogOptions, createCatalog, type Registry } from '../../src/registry/catalog.ts';
import type { RequestContext, ResourceStore, WriteResult } from '../../src/registry/rest.ts';
import { createStorageFactory } from '../../src/server/build-storage.ts';
import type { ApiObject } from '../../src/storage/api-object.ts';

export interface RegistryFixture {
  readonly registry: Registry;
  readonly ctx: RequestContext;
  readonly warnings: readonly string[];
  /** The store of a path like `/api/v1/namespaces/NS/pods`. */
  storeAt(path: string): ResourceStore;
  createNamespace(name: string): Promise<void>;
  /** The stored object, or the Status of a refusal. */
  answer(write: () => Promise<WriteResult>): Promise<unknown>;
  close(): Promise<void>;
}

/** A generator of numbers in [0, 1) that repeats itself. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `start: false` leaves the bootstrap objects and the controllers out. */
export async function openRegistry(
  options: CatalogOptions = {},
  {
    start = true,
    profile = v1_30,
    random = seeded(7),
  }: { readonly start?: boolean; readonly profile?: Profile | undefined; readonly random?: () => number } = {},
): Promise<RegistryFixture> {
  const etcd = new EmbeddedEtcd({ clock: realClock });
  const storageFactory = createStorageFactory({ etcd, random, clock: realClock, profile });
  const registry = createCatalog({ storageFactory, clock: realClock, random, profile, options });
  if (start) await registry.start();
  const warnings: string[] = [];
  const ctx: RequestContext = {
    signal: new AbortController().signal,
    user: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
    warn: (text) => void warnings.push(text),
  };
  const storeAt = (path: string): ResourceStore => {
    const parts = path.split('/').filter((part) => part !== '');
    const [group, version, rest] =
      parts[0] === 'api' ? ['', parts[1]!, parts.slice(2)] : [parts[1]!, parts[2]!, parts.slice(3)];
    const resource = rest[0] === 'namespaces' && rest.length > 2 ? rest[2]! : rest[0]!;
    const store = registry.catalog.find(group, version, resource);
    if (store === undefined) throw new Error(`no store at ${path}`);
    return store;
  };
  return {
    registry,
    ctx,
    warnings,
    storeAt,
    async createNamespace(name) {
      const object: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      const store = storeAt('/api/v1/namespaces');
      await store.create(ctx, store.applyDefaults(object), { namespace: '', dryRun: false });
    },
    async answer(write) {
      try {
        return (await write()).stored.object;
      } catch (error) {
        if (error instanceof StatusError) return error.status;
        throw error;
      }
    },
    async close() {
      await registry.close();
      await storageFactory.close();
      await etcd.close();
    },
  };
}

/** A JSON object of a test, read without a type. */
export type Plain = Record<string, unknown> & { readonly metadata: Record<string, unknown> };

/** Short ways to a registry; each answers with the object, or the Status of a refusal. */
export class RegistryCalls {
  readonly #fixture: RegistryFixture;

  constructor(fixture: RegistryFixture) {
    this.#fixture = fixture;
  }

  #at(path: string): { readonly store: ResourceStore; readonly namespace: string; readonly name: string } {
    const store = this.#fixture.storeAt(path);
    const parts = path.split('/');
    const namespace = store.info.namespaced ? (parts[parts.indexOf('namespaces') + 1] ?? '') : '';
    const last = parts.at(-1) ?? '';
    return { store, namespace, name: last === store.info.resource ? '' : last };
  }

  create(path: string, object: object, dryRun = false): Promise<unknown> {
    const { store, namespace } = this.#at(path);
    const { apiVersion, kind } = identify(store);
    const full = { apiVersion, kind, ...object } as ApiObject;
    return this.#fixture.answer(() =>
      store.create(this.#fixture.ctx, store.applyDefaults(full), { namespace, dryRun }),
    );
  }

  get(path: string): Promise<unknown> {
    const { store, namespace, name } = this.#at(path);
    return this.#fixture.answer(async () => ({
      stored: await store.get(this.#fixture.ctx, { namespace, name, resourceVersion: '' }),
      created: false,
    }));
  }

  update(path: string, change: (object: Plain) => void, subresource = '', dryRun = false): Promise<unknown> {
    const { store, namespace, name } = this.#at(path);
    return this.#fixture.answer(() =>
      store.update(this.#fixture.ctx, {
        namespace,
        name,
        dryRun,
        forceAllowCreate: false,
        subresource,
        transform: (existing) => {
          const copy = structuredClone(existing ?? { ...identify(store), metadata: { name } }) as unknown as Plain;
          change(copy);
          return store.applyDefaults(copy as unknown as ApiObject);
        },
      }),
    );
  }

  /** `true` when the object is gone, else what is left of it. */
  async delete(path: string, options: DeleteOptions = {}): Promise<unknown> {
    const { store, namespace, name } = this.#at(path);
    let deleted = false;
    const answer = await this.#fixture.answer(async () => {
      const result = await store.delete(this.#fixture.ctx, { namespace, name, options });
      deleted = result.deleted;
      return { stored: result.stored, created: false };
    });
    return deleted ? true : answer;
  }
}

function identify(store: ResourceStore): { readonly apiVersion: string; readonly kind: string } {
  const { group, version, kind } = store.info;
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
