// Sets one condition of a pod.
// Upstream: kubernetes@v1.30.3:pkg/api/v1/pod/util.go#UpdatePodCondition
import { type Draft, dicts, ensure, put, str } from '../draft.ts';

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The transition time moves only with the status. */
export function setPodCondition(pod: Draft, condition: PodCondition, now: string): void {
  const status = ensure(pod, 'status');
  const conditions = [...dicts(status, 'conditions')];
  const at = conditions.findIndex((one) => str(one, 'type') === condition.type);
  const before = at === -1 ? undefined : conditions[at];
  const same = before !== undefined && str(before, 'status') === condition.status;
  const next: Draft = {
    lastProbeTime: null,
    lastTransitionTime: same ? before['lastTransitionTime'] : now,
    ...condition,
  };
  conditions.splice(at === -1 ? conditions.length : at, at === -1 ? 0 : 1, next);
  put(status, 'conditions', conditions);
}
