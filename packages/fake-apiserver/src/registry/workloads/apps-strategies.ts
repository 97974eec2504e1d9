// Deployments, replica sets, stateful sets, daemon sets, controller revisions and replication controllers.
// Upstream: kubernetes@v1.30.3:pkg/registry/apps/*/strategy.go, pkg/registry/core/replicationcontroller/strategy.go
import type { ApiObject } from '../../storage/api-object.ts';
import { type Draft, dict, ensure, get, num, put, semanticEqual } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { dropStatus, keep, startGeneration, statusPart, statusResetFields } from '../strategy-parts.ts';
import {
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateDaemonSetUpdate,
  validateDeployment,
  validateDeploymentUpdate,
  validateReplicaSet,
  validateReplicaSetUpdate,
  validateReplicationController,
  validateStatefulSet,
  validateStatefulSetUpdate,
} from '../validation/apps.ts';
import { validateCounts } from '../validation/counts.ts';
import { metadata, nameIsDnsLabel } from '../validation/object-meta.ts';
import { templateWarnings } from './pod-warnings.ts';

/** +1 for a change of the spec or, for some kinds, of the annotations. */
function bump(object: Draft, old: Draft, changed: boolean): void {
  if (changed) put(metadata(object), 'generation', (num(metadata(old), 'generation') ?? 0) + 1);
}

const specChanged = (object: Draft, old: Draft): boolean => !semanticEqual(get(object, 'spec'), get(old, 'spec'));
const annotationsChanged = (object: Draft, old: Draft): boolean =>
  !semanticEqual(get(metadata(object), 'annotations'), get(metadata(old), 'annotations'));

function prepareForCreate(object: Draft): void {
  dropStatus(object);
  startGeneration(object);
}

const common = {
  namespaced: true,
  prepareForCreate,
  prepareForUpdate(object: Draft, old: Draft): void {
    keep(object, old, 'status');
    bump(object, old, specChanged(object, old));
  },
} as const;

const replicaCounts = validateCounts(
  ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
  ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
);

export const deploymentStrategy: Strategy = {
  ...common,
  resetFields: statusResetFields(['metadata', 'labels']),
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
    // A rollout reads its undo point from the annotations, so these count as well.
    bump(object, old, specChanged(object, old) || annotationsChanged(object, old));
  },
  ...templateWarnings({ name: true }),
  validateCreate: validateDeployment,
  validateUpdate: validateDeploymentUpdate,
  subresources: { status: statusPart({ keepsMeta: ['labels'], validate: replicaCounts }) },
};

export const replicaSetStrategy: Strategy = {
  ...common,
  resetFields: statusResetFields(),
  ...templateWarnings({ name: true }),
  validateCreate: validateReplicaSet,
  validateUpdate: validateReplicaSetUpdate,
  subresources: {
    status: statusPart({
      validate: validateCounts(
        ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
        ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
      ),
    }),
  },
};

export const statefulSetStrategy: Strategy = {
  ...common,
  name: nameIsDnsLabel,
  resetFields: statusResetFields(),
  ...templateWarnings(),
  validateCreate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  subresources: {
    status: statusPart({
      validate: validateCounts(
        ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      ),
    }),
  },
};

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** The template's generation lives in an annotation since the field was dropped from the API. */
function templateGeneration(object: Draft): number {
  const value = Number(get(dict(metadata(object), 'annotations'), TEMPLATE_GENERATION) ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

export const daemonSetStrategy: Strategy = {
  ...common,
  resetFields: statusResetFields(),
  prepareForCreate(object) {
    prepareForCreate(object);
    const generation = templateGeneration(object);
    put(ensure(metadata(object), 'annotations'), TEMPLATE_GENERATION, String(Math.max(generation, 1)));
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
    const template = !semanticEqual(get(dict(object, 'spec'), 'template'), get(dict(old, 'spec'), 'template'));
    const generation = templateGeneration(old) + (template ? 1 : 0);
    put(ensure(metadata(object), 'annotations'), TEMPLATE_GENERATION, String(generation));
    bump(object, old, specChanged(object, old));
  },
  ...templateWarnings(),
  validateCreate: validateDaemonSet,
  validateUpdate: validateDaemonSetUpdate,
  subresources: {
    status: statusPart({
      validate: validateCounts(
        [
          'currentNumberScheduled',
          'numberMisscheduled',
          'desiredNumberScheduled',
          'numberReady',
          'updatedNumberScheduled',
          'numberAvailable',
          'numberUnavailable',
        ],
        [],
      ),
    }),
  },
};

export const controllerRevisionStrategy: Strategy = {
  namespaced: true,
  validateCreate: validateControllerRevision,
  validateUpdate: validateControllerRevisionUpdate,
};

export const replicationControllerStrategy: Strategy = {
  ...common,
  garbageCollection: 'orphan',
  resetFields: statusResetFields(),
  fieldLabels: new Map([
    ['metadata.name', 'metadata.name'],
    ['metadata.namespace', 'metadata.namespace'],
    ['status.replicas', 'status.replicas'],
  ]),
  selectableFields: (object: ApiObject) => ({
    'status.replicas': String(num(dict(object as unknown as Draft, 'status'), 'replicas') ?? 0),
  }),
  ...templateWarnings({ name: true }),
  validateCreate: validateReplicationController,
  validateUpdate: (object, _old, errors) => {
    validateReplicationController(object, errors);
    validateReplicationController(object, errors);
  },
  subresources: { status: statusPart() },
};
