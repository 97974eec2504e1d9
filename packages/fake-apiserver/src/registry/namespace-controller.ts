// Empties namespaces that are being deleted, then lets them go. Work runs one namespace at a time.
// Upstream: kubernetes@v1.30.3:pkg/controller/namespace/deletion/namespaced_resources_deleter.go
// Differs: pods are deleted without grace, as no kubelet would end them.
import {
  type Clock,
  type ClockTimer,
  everythingFields,
  everythingLabels,
  isConflict,
  isNotFound,
} from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { type Draft, dict, put, strings } from './draft.ts';
import { listStored } from './list-stored.ts';
import { asDraft } from './resource-core.ts';
import type { ListCall, RequestContext, ResourceCatalog, ResourceStore } from './rest.ts';
import type { Store } from './store.ts';

const RETRY_MS = 500;
const FINALIZER = 'kubernetes';

export interface NamespaceControllerOptions {
  readonly namespaces: Store;
  readonly catalog: ResourceCatalog;
  readonly clock: Clock;
  readonly ctx: RequestContext;
  /** Told of failures other than lost races; the namespace is tried again. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const everything = (namespace: string): ListCall => ({
  namespace,
  labelSelector: everythingLabels,
  fieldSelector: everythingFields,
  resourceVersion: '',
  resourceVersionMatch: undefined,
  limit: 0,
  continue: '',
});

export class NamespaceController {
  readonly #options: NamespaceControllerOptions;
  readonly #waiting = new Set<string>();
  readonly #timers = new Set<ClockTimer>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier life left half done. */
  async start(): Promise<void> {
    const { namespaces, ctx } = this.#options;
    for (const { metadata } of await listStored(namespaces, '', ctx.signal)) {
      const { name = '', deletionTimestamp } = metadata;
      if (deletionTimestamp !== undefined) this.enqueue(name);
    }
  }

  enqueue(name: string): void {
    if (this.#closed) return;
    this.#waiting.add(name);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    // The write that asked for the deletion answers first.
    await Promise.resolve();
    for (const name of this.#waiting) {
      if (this.#closed) return;
      this.#waiting.delete(name);
      try {
        if (!(await this.#sync(name))) this.#later(name);
      } catch (error) {
        if (isNotFound(error)) continue;
        if (!isConflict(error)) this.#options.onError?.(error);
        this.#later(name);
      }
    }
  }

  #later(name: string): void {
    if (this.#closed) return;
    const timer = this.#options.clock.setTimer(
      () => {
        this.#timers.delete(timer);
        this.enqueue(name);
      },
      RETRY_MS,
      { unref: true },
    );
    this.#timers.add(timer);
  }

  /** False when something is left: an object with finalizers, or one that came in between. */
  async #sync(name: string): Promise<boolean> {
    const { namespaces, ctx } = this.#options;
    const { object } = await namespaces.get(ctx, { namespace: '', name, resourceVersion: '' });
    if (object.metadata.deletionTimestamp === undefined) return true;
    const remaining = await this.#empty(name);
    if (remaining > 0) return false;
    await this.#finalize(name);
    return true;
  }

  async #empty(namespace: string): Promise<number> {
    const { catalog, ctx } = this.#options;
    const done = new Set<string>();
    let remaining = 0;
    for (const info of [...catalog.all()]) {
      const { group, version, resource, namespaced, verbs } = info;
      if (!namespaced || !verbs.includes('delete') || !verbs.includes('list')) continue;
      // All versions of a kind are the same objects.
      if (done.has(`${group}/${resource}`)) continue;
      done.add(`${group}/${resource}`);
      const store = catalog.find(group, version, resource);
      if (store !== undefined) remaining += await this.#emptyStore(ctx, store, namespace);
    }
    return remaining;
  }

  async #emptyStore(ctx: RequestContext, store: ResourceStore, namespace: string): Promise<number> {
    const { items } = await store.list(ctx, everything(namespace));
    const options = store.info.resource === 'pods' && store.info.group === '' ? { gracePeriodSeconds: 0 } : {};
    let remaining = 0;
    for (const { object } of items) {
      const { name = '', deletionTimestamp, finalizers = [] } = object.metadata;
      if (deletionTimestamp !== undefined && finalizers.length > 0) {
        remaining += 1;
        continue;
      }
      try {
        const { deleted } = await store.delete(ctx, { namespace, name, options });
        if (!deleted) remaining += 1;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return remaining;
  }

  async #finalize(name: string): Promise<void> {
    const { namespaces, ctx } = this.#options;
    await namespaces.update(ctx, {
      namespace: '',
      name,
      dryRun: false,
      forceAllowCreate: false,
      subresource: 'finalize',
      transform: (existing) => withoutFinalizer(existing!),
    });
  }
}

function withoutFinalizer(namespace: ApiObject): ApiObject {
  const draft: Draft = asDraft(namespace);
  const spec = dict(draft, 'spec') ?? {};
  put(draft, 'spec', { ...spec, finalizers: strings(spec, 'finalizers').filter((name) => name !== FINALIZER) });
  return draft as unknown as ApiObject;
}
