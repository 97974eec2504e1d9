// What happens to a CRD after it was written: names are decided, it is established, its instances go before it does.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/controller/{status,establish,apiapproval,nonstructuralschema,finalizer}
// Differs: one queue for all controllers, so that their writes come in a fixed order; waiting for instances is not polling.
import type { Clock, Logger } from '@kube-rx/apimachinery';
import { approvalCondition } from '../../apiextensions/api-approval.ts';
import {
  CLEANUP_FINALIZER,
  type Crd,
  findCondition,
  isConditionTrue,
  readCrd,
  withCondition,
} from '../../apiextensions/crd.ts';
import { decideNames, namesInUse } from '../../apiextensions/names.ts';
import { jsonEqual, semanticEqual } from '../../apiextensions/schema/json.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import { formatTime } from '../time-form.ts';
import type { CrdClient } from './crd-client.ts';

export interface KnownCrd {
  readonly crd: Crd;
  readonly object: ApiObject;
}

export interface CrdControllerOptions {
  readonly client: CrdClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Deletes all instances and resolves when none is left. */
  deleteInstances(crd: Crd): Promise<void>;
}

export class CrdController {
  readonly #options: CrdControllerOptions;
  readonly #known = new Map<string, KnownCrd>();
  readonly #queue = new Set<string>();
  readonly #finalizing = new Set<string>();
  #running = false;
  #idle: (() => void)[] = [];

  constructor(options: CrdControllerOptions) {
    this.#options = options;
  }

  /** The newest state of a CRD, also one this controller has just written itself. */
  observe(object: ApiObject): void {
    const crd = readCrd(object);
    const known = this.#known.get(crd.name);
    if (known !== undefined && known.crd.uid === crd.uid && versionOf(known.object) > versionOf(object)) return;
    this.#known.set(crd.name, { crd, object });
    this.#enqueue(crd.name);
  }

  /** The CRD is gone; its names are free for others of its group. */
  forget(object: ApiObject): void {
    const crd = readCrd(object);
    this.#known.delete(crd.name);
    this.#enqueueGroup(crd.group);
  }

  /** Resolves once nothing is left to do, apart from deletions under way. */
  settled(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #enqueue(name: string): void {
    this.#queue.add(name);
    if (this.#running) return;
    this.#running = true;
    void this.#work();
  }

  #enqueueGroup(group: string, except?: string): void {
    for (const { crd } of this.#known.values()) if (crd.group === group && crd.name !== except) this.#enqueue(crd.name);
  }

  async #work(): Promise<void> {
    // What was told in one go is worked on together.
    await Promise.resolve();
    for (;;) {
      const [name] = this.#queue;
      if (name === undefined || this.#options.signal.aborted) break;
      this.#queue.delete(name);
      try {
        await this.#sync(name);
      } catch (error) {
        if (!this.#options.signal.aborted)
          this.#options.logger.error('custom resource definition not synced', { name, error });
      }
    }
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #sync(name: string): Promise<void> {
    if (await this.#syncNames(name)) return;
    if (await this.#syncApproval(name)) return;
    if (await this.#establish(name)) return;
    this.#finalize(name);
  }

  /** True when something was written, or should have been: another round follows. */
  async #write(known: KnownCrd, change: Parameters<CrdClient['updateStatus']>[1]): Promise<boolean> {
    const written = await this.#options.client.updateStatus(known.object, change);
    if (written !== undefined) this.observe(written);
    return true;
  }

  get #now(): string {
    return formatTime(this.#options.clock.now());
  }

  async #syncNames(name: string): Promise<boolean> {
    const known = this.#known.get(name);
    if (known === undefined) return false;
    const { crd } = known;
    if (semanticEqual(crd.names, crd.acceptedNames)) return false;
    const others = [...this.#known.values()].map((each) => each.crd);
    const decision = decideNames(crd, namesInUse(others, crd.group));
    const before = findCondition(crd, 'NamesAccepted');
    const { namesAccepted } = decision;
    const same =
      before?.status === namesAccepted.status &&
      before.reason === namesAccepted.reason &&
      before.message === namesAccepted.message;
    if (same && jsonEqual(crd.acceptedNames, decision.acceptedNames)) return false;
    const named = withCondition(crd.conditions, namesAccepted, this.#now);
    const conditions = withCondition(named, decision.established, this.#now);
    await this.#write(known, { conditions, acceptedNames: decision.acceptedNames });
    this.#enqueueGroup(crd.group, name);
    return true;
  }

  async #syncApproval(name: string): Promise<boolean> {
    const known = this.#known.get(name);
    const condition = known === undefined ? undefined : approvalCondition(known.crd);
    if (known === undefined || condition === undefined) return false;
    const old = findCondition(known.crd, condition.type);
    if (old?.status === condition.status && old.reason === condition.reason && old.message === condition.message)
      return false;
    return this.#write(known, { conditions: withCondition(known.crd.conditions, condition, this.#now) });
  }

  async #establish(name: string): Promise<boolean> {
    const known = this.#known.get(name);
    if (known === undefined) return false;
    const { crd } = known;
    if (!isConditionTrue(crd, 'NamesAccepted') || isConditionTrue(crd, 'Established')) return false;
    const established = {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    } as const;
    return this.#write(known, { conditions: withCondition(crd.conditions, established, this.#now) });
  }

  /** Deletions may take long, and others go on meanwhile. */
  #finalize(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined || !known.crd.deleting || !known.crd.finalizers.includes(CLEANUP_FINALIZER)) return;
    const { uid } = known.crd;
    if (this.#finalizing.has(uid)) return;
    this.#finalizing.add(uid);
    void this.#cleanUp(known).finally(() => {
      this.#finalizing.delete(uid);
      // A state that came while this one was worked on found the place taken.
      const current = this.#known.get(name);
      if (current !== undefined && current !== known && current.crd.uid === uid) this.#enqueue(name);
    });
  }

  async #cleanUp(known: KnownCrd): Promise<void> {
    const { client, logger, signal, deleteInstances } = this.#options;
    try {
      const begun = withCondition(
        known.crd.conditions,
        terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
        this.#now,
      );
      const marked = await client.updateStatus(known.object, { conditions: begun });
      if (marked === undefined) return;
      this.observe(marked);
      const established = isConditionTrue(known.crd, 'Established');
      if (established) await deleteInstances(readCrd(marked));
      const done = established
        ? terminating('False', 'InstanceDeletionCompleted', 'removed all instances')
        : terminating('False', 'NeverEstablished', 'resource was never established');
      await this.#release(known.crd.name, known.crd.uid, done);
    } catch (error) {
      if (!signal.aborted)
        logger.error('instances of a custom resource definition not deleted', { name: known.crd.name, error });
    }
  }

  async #release(name: string, uid: string, done: Crd['conditions'][number]): Promise<void> {
    const current = this.#known.get(name);
    if (current === undefined || current.crd.uid !== uid) return;
    const conditions = withCondition(current.crd.conditions, done, this.#now);
    const written = await this.#options.client.updateStatus(current.object, { conditions, removeFinalizer: true });
    if (written === undefined) return;
    if ((written.metadata.finalizers ?? []).length > 0) this.observe(written);
    else this.forget(written);
  }
}

const terminating = (status: 'True' | 'False', reason: string, message: string): Crd['conditions'][number] => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const versionOf = (object: ApiObject): number => Number(object.metadata.resourceVersion ?? 0);
