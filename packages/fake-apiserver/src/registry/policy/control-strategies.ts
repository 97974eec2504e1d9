// Flow control, admission registration, certificates, autoscaling and aggregated APIs.
// Upstream: kubernetes@v1.30.3:pkg/registry/{flowcontrol,admissionregistration,certificates,autoscaling}/*/strategy.go, kube-aggregator@v0.30.3:pkg/registry/apiservice/strategy.go
import type { ApiObject } from '../../storage/api-object.ts';
import { assign, clone, type Draft, dict, dicts, ensure, get, list, num, put, str } from '../draft.ts';
import type { Strategy, StrategyContext } from '../strategy.ts';
import {
  countGeneration,
  dropStatus,
  keep,
  keepMeta,
  startGeneration,
  statusPart,
  statusResetFields,
} from '../strategy-parts.ts';
import { validatePolicy, validatePolicyBinding } from '../validation/admission-policies.ts';
import { validateAutoscaler } from '../validation/autoscaling.ts';
import { validateSigningRequest, validateSigningRequestUpdate } from '../validation/certificates.ts';
import { validateFlowSchema, validatePriorityLevel } from '../validation/flow-control.ts';
import { nameIsPathSegment } from '../validation/object-meta.ts';
import { validateApiService, validateWebhooks } from '../validation/registrations.ts';

/** Status writes leave all other metadata alone. */
const wholeMeta = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'generation', 'name', 'namespace'];

const metaStatus = {
  status: {
    prepareForUpdate(object: Draft, old: Draft): void {
      keep(object, old, 'spec');
      keepMeta(object, old, ...wholeMeta);
    },
  },
} as const;

const withStatus = {
  namespaced: false,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  prepareForCreate(object: Draft): void {
    dropStatus(object);
    startGeneration(object);
  },
  prepareForUpdate(object: Draft, old: Draft): void {
    keep(object, old, 'status');
    countGeneration(object, old, 'spec');
  },
  subresources: metaStatus,
} as const;

export const flowSchemaStrategy: Strategy = {
  ...withStatus,
  validateCreate: validateFlowSchema,
  validateUpdate: (object, _old, errors) => validateFlowSchema(object, errors),
};

export const priorityLevelStrategy: Strategy = {
  ...withStatus,
  validateCreate: validatePriorityLevel,
  validateUpdate: (object, _old, errors) => validatePriorityLevel(object, errors),
};

export const validatingAdmissionPolicyStrategy: Strategy = {
  ...withStatus,
  allowUnconditionalUpdate: false,
  validateCreate: validatePolicy,
  validateUpdate: (object, _old, errors) => validatePolicy(object, errors),
};

export const policyBindingStrategy: Strategy = {
  namespaced: false,
  allowUnconditionalUpdate: false,
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => countGeneration(object, old, 'spec'),
  validateCreate: validatePolicyBinding,
  validateUpdate: (object, _old, errors) => validatePolicyBinding(object, errors),
};

export const webhookConfigurationStrategy: Strategy = {
  namespaced: false,
  allowUnconditionalUpdate: false,
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => countGeneration(object, old, 'webhooks'),
  validateCreate: validateWebhooks,
  validateUpdate: (object, _old, errors) => validateWebhooks(object, errors),
};

export const autoscalerStrategy: Strategy = {
  namespaced: true,
  resetFields: statusResetFields(),
  prepareForCreate: dropStatus,
  prepareForUpdate: (object, old) => keep(object, old, 'status'),
  validateCreate: (object, errors) => validateAutoscaler(object, errors, 1),
  validateUpdate(object, old, errors) {
    validateAutoscaler(object, errors, num(dict(old, 'spec'), 'minReplicas') === 0 ? 0 : 1);
  },
  subresources: { status: statusPart() },
};

/** Who asks is what the server knows, not what the body says. */
function setRequester(object: Draft, ctx: StrategyContext): void {
  const spec = ensure(object, 'spec');
  const { name, uid, groups, extra } = ctx.request.user;
  put(spec, 'username', name);
  assign(spec, 'uid', uid);
  put(spec, 'groups', [...groups]);
  assign(spec, 'extra', extra === undefined ? undefined : clone(extra));
}

function stampConditions(object: Draft, old: Draft, now: string): void {
  const before = new Map(dicts(dict(old, 'status'), 'conditions').map((one) => [str(one, 'type'), one]));
  for (const condition of dicts(dict(object, 'status'), 'conditions')) {
    if (get(condition, 'lastUpdateTime') === undefined) put(condition, 'lastUpdateTime', now);
    if (get(condition, 'lastTransitionTime') !== undefined) continue;
    const same = before.get(str(condition, 'type'));
    const kept = str(same, 'status') === str(condition, 'status') ? get(same, 'lastTransitionTime') : undefined;
    put(condition, 'lastTransitionTime', kept ?? now);
  }
}

/** Approval and denial are set through their own path and survive every other one. */
function keepDecisions(object: Draft, old: Draft): void {
  const decided = (one: Draft): boolean => ['Approved', 'Denied'].includes(str(one, 'type'));
  const kept = dicts(dict(old, 'status'), 'conditions').filter(decided);
  const others = dicts(dict(object, 'status'), 'conditions').filter((one) => !decided(one));
  if (kept.length + others.length > 0 || list(dict(object, 'status'), 'conditions').length > 0)
    put(ensure(object, 'status'), 'conditions', [...kept.map(clone), ...others]);
}

export const signingRequestStrategy: Strategy = {
  namespaced: false,
  name: () => [],
  resetFields: {
    '': [['status'], ['spec', 'uid'], ['spec', 'username'], ['spec', 'groups'], ['spec', 'extra']],
    status: [['spec'], ['status', 'conditions']],
    approval: [['spec'], ['status', 'certificate']],
  },
  fieldLabels: new Map([
    ['metadata.name', 'metadata.name'],
    ['spec.signerName', 'spec.signerName'],
  ]),
  selectableFields: (object: ApiObject) => ({
    'spec.signerName': str(dict(object as unknown as Draft, 'spec'), 'signerName'),
  }),
  prepareForCreate(object, ctx) {
    setRequester(object, ctx);
    dropStatus(object);
  },
  prepareForUpdate: (object, old) => keep(object, old, 'spec', 'status'),
  validateCreate: (object, errors) => validateSigningRequest(object, errors),
  validateUpdate: (object, old, errors) => validateSigningRequestUpdate(object, old, errors, ''),
  subresources: {
    status: {
      prepareForUpdate(object, old, ctx) {
        keep(object, old, 'spec');
        keepDecisions(object, old);
        stampConditions(object, old, ctx.now);
      },
      validateUpdate: (object, old, errors) => validateSigningRequestUpdate(object, old, errors, 'status'),
    },
    approval: {
      prepareForUpdate(object, old, ctx) {
        stampConditions(object, old, ctx.now);
        const conditions = clone(get(dict(object, 'status'), 'conditions'));
        keep(object, old, 'spec', 'status');
        assign(ensure(object, 'status'), 'conditions', conditions);
      },
      validateUpdate: (object, old, errors) => validateSigningRequestUpdate(object, old, errors, 'approval'),
    },
  },
};

export const apiServiceStrategy: Strategy = {
  namespaced: false,
  name: nameIsPathSegment,
  allowUnconditionalUpdate: false,
  resetFields: statusResetFields(),
  prepareForCreate: dropStatus,
  prepareForUpdate: (object, old) => keep(object, old, 'status'),
  validateCreate: validateApiService,
  validateUpdate: (object, _old, errors) => validateApiService(object, errors),
  subresources: { status: statusPart() },
};
