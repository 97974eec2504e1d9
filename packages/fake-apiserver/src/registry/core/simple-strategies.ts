// Core kinds with few rules: endpoints, limit ranges, quotas, pod templates.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/{endpoint,limitrange,resourcequota,podtemplate}/strategy.go

import { dict } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import {
  countGeneration,
  dropStatus,
  keep,
  startGeneration,
  statusPart,
  statusResetFields,
} from '../strategy-parts.ts';
import { validateEndpoints } from '../validation/endpoints.ts';
import { path } from '../validation/field-errors.ts';
import { validatePodTemplate } from '../validation/pod-template.ts';
import { validateLimitRange, validateResourceQuota, validateResourceQuotaUpdate } from '../validation/quota.ts';
import { templateWarnings } from '../workloads/pod-warnings.ts';

export const endpointsStrategy: Strategy = {
  namespaced: true,
  allowCreateOnUpdate: true,
  validateCreate: validateEndpoints,
  validateUpdate: (object, _old, errors) => validateEndpoints(object, errors),
};

export const limitRangeStrategy: Strategy = {
  namespaced: true,
  allowCreateOnUpdate: true,
  validateCreate: validateLimitRange,
  validateUpdate: (object, _old, errors) => validateLimitRange(object, errors),
};

export const resourceQuotaStrategy: Strategy = {
  namespaced: true,
  returnDeletedObject: true,
  resetFields: statusResetFields(),
  prepareForCreate: dropStatus,
  prepareForUpdate: (object, old) => keep(object, old, 'status'),
  validateCreate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
  subresources: { status: statusPart() },
};

export const podTemplateStrategy: Strategy = {
  namespaced: true,
  returnDeletedObject: true,
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => countGeneration(object, old, 'template'),
  ...templateWarnings({ at: ['template'] }),
  validateCreate: (object, errors) => validatePodTemplate(dict(object, 'template'), path('template'), errors),
  validateUpdate: (object, _old, errors) => validatePodTemplate(dict(object, 'template'), path('template'), errors),
};
