// Counters in a status: none is negative, and a part is not more than the whole.
// Upstream: kubernetes@v1.30.3:pkg/apis/apps/validation/validation.go#ValidateDeploymentStatus
import { dict, num } from '../draft.ts';
import type { UpdateStrategy } from '../strategy.ts';
import { path } from './field-errors.ts';
import { nonnegative } from './values.ts';

export function validateCounts(
  fields: readonly string[],
  notAboveReplicas: readonly string[],
): NonNullable<UpdateStrategy['validateUpdate']> {
  return (object, _old, errors) => {
    const status = dict(object, 'status');
    const at = path('status');
    nonnegative(status, 'observedGeneration', at, errors);
    for (const field of fields) nonnegative(status, field, at, errors);
    nonnegative(status, 'collisionCount', at, errors);
    const replicas = num(status, 'replicas') ?? 0;
    for (const field of notAboveReplicas) {
      const value = num(status, field) ?? 0;
      if (value > replicas) errors.invalid(at.child(field), value, 'cannot be greater than status.replicas');
    }
    if (!notAboveReplicas.includes('availableReplicas')) return;
    const available = num(status, 'availableReplicas') ?? 0;
    if (available > (num(status, 'readyReplicas') ?? 0))
      errors.invalid(at.child('availableReplicas'), available, 'cannot be greater than readyReplicas');
  };
}
