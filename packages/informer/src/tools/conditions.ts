// What one usually waits for. A condition is asked about the object, or undefined when it is not there.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';

export type ObjectCondition<T extends KubernetesObject = KubernetesObject> = (object: Live<T> | undefined) => boolean;

interface StatusLike {
  readonly phase?: unknown;
  readonly observedGeneration?: unknown;
  readonly conditions?: readonly {
    readonly type?: unknown;
    readonly status?: unknown;
    readonly observedGeneration?: unknown;
  }[];
}

function statusLike(object: KubernetesObject | undefined): StatusLike {
  const { status } = (object ?? {}) as { readonly status?: unknown };
  return typeof status === 'object' && status !== null ? status : {};
}

export const exists: ObjectCondition = (object) => object !== undefined;

/** Gone, or replaced by another object of the same name when `uid` is given. */
export function isDeleted(uid?: string): ObjectCondition {
  return (object) => object === undefined || (uid !== undefined && object.metadata.uid !== uid);
}

/**
 * `status.conditions` has that type with that status, and neither it nor the status as a whole is about an older generation.
 *
 * @example await waitForCondition(deployments, 'web', hasCondition('Available'))
 */
export function hasCondition(type: string, status: 'True' | 'False' | 'Unknown' = 'True'): ObjectCondition {
  return (object) => {
    if (object === undefined) return false;
    const { conditions, observedGeneration } = statusLike(object);
    const generation = object.metadata.generation ?? 0;
    if (typeof observedGeneration === 'number' && observedGeneration < generation) return false;
    if (!Array.isArray(conditions)) return false;
    return conditions.some(
      (condition) =>
        condition.type === type &&
        condition.status === status &&
        !(typeof condition.observedGeneration === 'number' && condition.observedGeneration < generation),
    );
  };
}

/** `status.phase` is one of those. */
export function hasPhase(...phases: readonly string[]): ObjectCondition {
  return (object) => phases.some((phase) => statusLike(object).phase === phase);
}

export const isPodRunning: ObjectCondition = hasPhase('Running');
export const isPodReady: ObjectCondition = hasCondition('Ready');
export const isJobCompleted: ObjectCondition = hasCondition('Complete');
export const isCrdEstablished: ObjectCondition = hasCondition('Established');

export function allOf<T extends KubernetesObject>(...conditions: readonly ObjectCondition<T>[]): ObjectCondition<T> {
  return (object) => conditions.every((condition) => condition(object));
}

export function anyOf<T extends KubernetesObject>(...conditions: readonly ObjectCondition<T>[]): ObjectCondition<T> {
  return (object) => conditions.some((condition) => condition(object));
}

export function not<T extends KubernetesObject>(condition: ObjectCondition<T>): ObjectCondition<T> {
  return (object) => !condition(object);
}
