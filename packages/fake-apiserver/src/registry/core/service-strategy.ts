// Services.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/service/strategy.go
import { type Draft, dict, str } from '../draft.ts';
import { asDraft } from '../resource-core.ts';
import type { Strategy } from '../strategy.ts';
import { dropStatus, keep, statusPart, statusResetFields } from '../strategy-parts.ts';
import { nameIsDns1035Label } from '../validation/object-meta.ts';
import { validateService, validateServiceUpdate } from '../validation/service.ts';
import { validateServiceStatus } from '../validation/service-status.ts';
import type { ServiceAllocation } from './service-allocation.ts';
import { dropTypeDependentFields, normalizeClusterIps, patchAllocatedValues } from './service-fields.ts';
import { serviceWarnings } from './service-warnings.ts';

export function serviceStrategy(allocation: ServiceAllocation): Strategy {
  return {
    namespaced: true,
    name: nameIsDns1035Label,
    allowCreateOnUpdate: true,
    returnDeletedObject: true,
    resetFields: statusResetFields(),
    prepareForCreate: dropStatus,
    prepareForUpdate(object, old) {
      keep(object, old, 'status');
      dropTypeDependentFields(object, old);
    },
    warningsOnCreate: serviceWarnings,
    warningsOnUpdate: serviceWarnings,
    validateCreate: validateService,
    validateUpdate: validateServiceUpdate,
    canonicalize(object) {
      // Upstream keeps it, and leaves it out whenever it reads the service.
      const spec = dict(object, 'spec');
      if (str(spec, 'type') === 'ExternalName') delete spec?.['internalTrafficPolicy'];
    },
    subresources: { status: statusPart({ validate: validateServiceStatus }) },
    begin(object, old, ctx) {
      if (ctx.subresource !== '') return undefined;
      const before = old === undefined ? undefined : asDraft(old);
      if (before !== undefined) patchAllocatedValues(object, before);
      normalizeClusterIps(object, before);
      const transaction =
        before === undefined ? allocation.create(object, ctx.dryRun) : allocation.update(object, before, ctx.dryRun);
      return (written) => transaction.settle(written);
    },
    afterDelete(object) {
      allocation.release(object as unknown as Draft);
    },
  };
}
