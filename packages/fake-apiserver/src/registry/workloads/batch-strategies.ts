// Jobs and cron jobs.
// Upstream: kubernetes@v1.30.3:pkg/registry/batch/{job,cronjob}/strategy.go
import { goQuote } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { bool, type Draft, dict, ensure, num, put, setDefault, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import {
  countGeneration,
  dropStatus,
  keep,
  startGeneration,
  statusPart,
  statusResetFields,
} from '../strategy-parts.ts';
import { validateCronJob, validateCronJobUpdate, validateJob, validateJobUpdate } from '../validation/batch.ts';
import { metadata } from '../validation/object-meta.ts';
import { templateWarnings } from './pod-warnings.ts';

/** Pods of a job carry its name and uid, and its selector looks for the uid. */
function generateSelector(object: Draft): void {
  const spec = ensure(object, 'spec');
  if (bool(spec, 'manualSelector')) return;
  const meta = metadata(object);
  const labels = ensure(spec, 'template', 'metadata', 'labels');
  for (const key of ['job-name', 'batch.kubernetes.io/job-name']) setDefault(labels, key, str(meta, 'name'));
  for (const key of ['controller-uid', 'batch.kubernetes.io/controller-uid']) setDefault(labels, key, str(meta, 'uid'));
  setDefault(ensure(spec, 'selector', 'matchLabels'), 'batch.kubernetes.io/controller-uid', str(meta, 'uid'));
  // A job without labels shows those of its template. Where defaulting gave it the map of the template, both grew above.
  if (dict(meta, 'labels') === undefined) put(meta, 'labels', { ...labels });
}

export const jobStrategy: Strategy = {
  namespaced: true,
  garbageCollection: 'orphan',
  resetFields: statusResetFields(),
  deleteWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  fieldLabels: new Map([
    ['metadata.name', 'metadata.name'],
    ['metadata.namespace', 'metadata.namespace'],
    ['status.successful', 'status.successful'],
  ]),
  unknownFieldLabel: (label) => `field label ${goQuote(label)} not supported for Job`,
  selectableFields: (object: ApiObject) => ({
    'status.successful': String(num(dict(object as unknown as Draft, 'status'), 'succeeded') ?? 0),
  }),
  prepareForCreate(object) {
    generateSelector(object);
    dropStatus(object);
    startGeneration(object);
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
    countGeneration(object, old, 'spec');
  },
  validateCreate: validateJob,
  validateUpdate: validateJobUpdate,
  ...templateWarnings({ name: true, job: true }),
  subresources: { status: statusPart() },
};

export const cronJobStrategy: Strategy = {
  namespaced: true,
  resetFields: statusResetFields(),
  prepareForCreate(object) {
    dropStatus(object);
    startGeneration(object);
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
    countGeneration(object, old, 'spec');
  },
  validateCreate: validateCronJob,
  validateUpdate: validateCronJobUpdate,
  ...templateWarnings({ at: ['spec', 'jobTemplate', 'spec', 'template'], name: true, job: true }),
  subresources: { status: statusPart() },
};
