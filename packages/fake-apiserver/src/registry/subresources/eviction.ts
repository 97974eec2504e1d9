// Eviction: a delete of a pod that respects disruption budgets.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/pod/storage/eviction.go
import {
  type DeleteOptions,
  newBadRequest,
  newForbidden,
  newTooManyRequests,
  newUnknownError,
  StatusError,
} from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { type Draft, dict, dicts, ensure, has, num, put, str } from '../draft.ts';
import { asDraft } from '../resource-core.ts';
import type { RequestContext, SubresourceHandler, SubresourceInfo, WriteCall } from '../rest.ts';
import type { Store } from '../store.ts';
import { formatTime } from '../time-form.ts';
import { selectorMatches } from '../validation/labels.ts';
import { metadata } from '../validation/object-meta.ts';
import { setPodCondition } from './pod-conditions.ts';
import { success } from './success.ts';

type Ref = { readonly namespace: string; readonly name: string };

const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };
const WOULD_VIOLATE = "Cannot evict pod as it would violate the pod's disruption budget.";

export interface EvictionStores {
  readonly pods: Store;
  readonly budgets: Store;
  /** Everything in a namespace. */
  list(ctx: RequestContext, store: Store, namespace: string): Promise<readonly ApiObject[]>;
}

function tooMany(retryAfterSeconds: number, cause: string): StatusError {
  const { status } = newTooManyRequests(WOULD_VIOLATE, retryAfterSeconds);
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  return new StatusError({
    ...status,
    details: { ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}), causes },
  });
}

/** Pods that run nothing, or are on their way out, are no disruption. */
function ignoresBudgets(pod: Draft): boolean {
  const phase = str(dict(pod, 'status'), 'phase');
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || has(metadata(pod), 'deletionTimestamp');
}

const isReady = (pod: Draft): boolean =>
  dicts(dict(pod, 'status'), 'conditions').some((one) => str(one, 'type') === 'Ready' && str(one, 'status') === 'True');

/** Whether the budget lets a pod that is not ready go without counting it. */
function letsUnhealthyGo(budget: Draft): boolean {
  if (str(dict(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const status = dict(budget, 'status');
  const desired = num(status, 'desiredHealthy') ?? 0;
  return desired > 0 && (num(status, 'currentHealthy') ?? 0) >= desired;
}

/** @throws StatusError 429 when the budget allows no disruption now */
function takeDisruption(budget: Draft, pod: string, now: string): void {
  const name = str(metadata(budget), 'name');
  const status = ensure(budget, 'status');
  if ((num(status, 'observedGeneration') ?? 0) < (num(metadata(budget), 'generation') ?? 0))
    throw tooMany(10, `The disruption budget ${name} is still being processed by the server.`);
  const allowed = num(status, 'disruptionsAllowed') ?? 0;
  if (allowed < 0) throw newForbidden(BUDGETS, name, 'pdb disruptions allowed is negative');
  if (Object.keys(dict(status, 'disruptedPods') ?? {}).length > 2000)
    throw newForbidden(BUDGETS, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed === 0) {
    const [needs, has] = [num(status, 'desiredHealthy') ?? 0, num(status, 'currentHealthy') ?? 0];
    throw tooMany(0, `The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`);
  }
  put(status, 'disruptionsAllowed', allowed - 1);
  put(ensure(status, 'disruptedPods'), pod, now);
}

/** Dry run must be asked for twice or once, not twice in two ways. */
function deleteOptionsOf(body: Draft, dryRun: boolean): DeleteOptions {
  const { kind: _kind, apiVersion: _apiVersion, ...given } = dict(body, 'deleteOptions') ?? {};
  const own = (given['dryRun'] as readonly string[] | undefined) ?? [];
  if (own.length > 0 && !dryRun)
    throw newUnknownError(`Non-matching dry-run options in request and content: [] and [${own.join(' ')}]`);
  return { ...given, ...(dryRun ? { dryRun: ['All'] } : {}) } as DeleteOptions;
}

export class EvictionHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #stores: EvictionStores;

  constructor(stores: EvictionStores, info: SubresourceInfo) {
    this.info = info;
    this.#stores = stores;
  }

  async create(
    ctx: RequestContext,
    ref: Ref,
    body: ApiObject,
    call: WriteCall,
  ): Promise<{ readonly object: ApiObject; readonly status: number }> {
    if (body.metadata.name !== ref.name) throw newBadRequest('name in URL does not match name in Eviction object');
    const options = deleteOptionsOf(body as unknown as Draft, call.dryRun);
    const { pods } = this.#stores;
    const { object } = await pods.get(ctx, { ...ref, resourceVersion: '' });
    const pod = object as unknown as Draft;
    if (!ignoresBudgets(pod)) await this.#askBudget(ctx, ref, pod, call.dryRun);
    if (!call.dryRun) await this.#markDisrupted(ctx, ref);
    await pods.delete(ctx, { ...ref, options });
    return { object: success(201), status: 201 };
  }

  async #askBudget(ctx: RequestContext, ref: Ref, pod: Draft, dryRun: boolean): Promise<void> {
    const { budgets } = this.#stores;
    const all = await this.#stores.list(ctx, budgets, ref.namespace);
    const labels = dict(metadata(pod), 'labels');
    const matching = all
      .map((budget) => budget as unknown as Draft)
      .filter((budget) => selectorMatches(dict(budget, 'spec', 'selector'), labels));
    if (matching.length > 1) {
      throw newUnknownError(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    }
    const [budget] = matching;
    if (budget === undefined || (!isReady(pod) && letsUnhealthyGo(budget))) return;
    const now = formatTime(budgets.core.clock.now());
    await budgets.update(ctx, {
      namespace: ref.namespace,
      name: str(metadata(budget), 'name'),
      dryRun,
      forceAllowCreate: false,
      subresource: 'status',
      transform: (existing) => {
        const draft = asDraft(existing!);
        takeDisruption(draft, ref.name, now);
        return draft as unknown as ApiObject;
      },
    });
  }

  async #markDisrupted(ctx: RequestContext, ref: Ref): Promise<void> {
    const { pods } = this.#stores;
    const now = formatTime(pods.core.clock.now());
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    };
    await pods.update(ctx, {
      ...ref,
      dryRun: false,
      forceAllowCreate: false,
      subresource: 'status',
      transform: (existing) => {
        const draft = asDraft(existing!);
        setPodCondition(draft, condition, now);
        return draft as unknown as ApiObject;
      },
    });
  }
}
