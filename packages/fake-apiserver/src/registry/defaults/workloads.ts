// Defaults of apps, batch and autoscaling.
// Upstream: kubernetes@v1.30.3:pkg/apis/{apps,batch}/v1/defaults.go, pkg/apis/autoscaling/v2/defaults.go
import { type Draft, dict, dicts, ensure, has, put, setDefault, setDefaultText, str } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import type { TypeDefault } from './defaulter.ts';

const MAX_INT32 = 2_147_483_647;

function deployment(value: Draft): void {
  const spec = ensure(value, 'spec');
  setDefault(spec, 'replicas', 1);
  const strategy = ensure(spec, 'strategy');
  setDefaultText(strategy, 'type', 'RollingUpdate');
  if (str(strategy, 'type') === 'RollingUpdate') {
    const rolling = ensure(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', '25%');
    setDefault(rolling, 'maxSurge', '25%');
  }
  setDefault(spec, 'revisionHistoryLimit', 10);
  setDefault(spec, 'progressDeadlineSeconds', 600);
}

function daemonSet(value: Draft): void {
  // Conversion writes the generation that the API has no field for; the strategy sets the value.
  setDefault(ensure(value, 'metadata', 'annotations'), 'deprecated.daemonset.template.generation', '0');
  const spec = ensure(value, 'spec');
  const strategy = ensure(spec, 'updateStrategy');
  setDefaultText(strategy, 'type', 'RollingUpdate');
  if (str(strategy, 'type') === 'RollingUpdate') {
    const rolling = ensure(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', 1);
    setDefault(rolling, 'maxSurge', 0);
  }
  setDefault(spec, 'revisionHistoryLimit', 10);
}

function statefulSet(value: Draft): void {
  const spec = ensure(value, 'spec');
  setDefaultText(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = ensure(spec, 'updateStrategy');
  if (str(strategy, 'type') === '') {
    put(strategy, 'type', 'RollingUpdate');
    setDefault(strategy, 'rollingUpdate', {});
  }
  if (str(strategy, 'type') === 'RollingUpdate') setDefault(dict(strategy, 'rollingUpdate'), 'partition', 0);
  const retention = ensure(spec, 'persistentVolumeClaimRetentionPolicy');
  setDefaultText(retention, 'whenDeleted', 'Retain');
  setDefaultText(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  for (const claim of dicts(spec, 'volumeClaimTemplates')) {
    setDefaultText(claim, 'kind', 'PersistentVolumeClaim');
    setDefaultText(claim, 'apiVersion', 'v1');
  }
}

function job(value: Draft): void {
  const spec = ensure(value, 'spec');
  if (!has(spec, 'completions') && !has(spec, 'parallelism')) put(spec, 'completions', 1);
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? MAX_INT32 : 6);
  const labels = dict(spec, 'template', 'metadata', 'labels');
  const meta = metadata(value);
  // One map for both, on purpose: labels the server adds to the template later belong to the job then, too.
  if (labels !== undefined && Object.keys(dict(meta, 'labels') ?? {}).length === 0) put(meta, 'labels', labels);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  const failurePolicy = dict(spec, 'podFailurePolicy');
  for (const rule of dicts(failurePolicy, 'rules')) {
    for (const pattern of dicts(rule, 'onPodConditions')) setDefaultText(pattern, 'status', 'True');
  }
  setDefault(spec, 'podReplacementPolicy', failurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed');
  setDefault(spec, 'manualSelector', false);
}

function cronJob(value: Draft): void {
  const spec = ensure(value, 'spec');
  setDefaultText(spec, 'concurrencyPolicy', 'Allow');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'successfulJobsHistoryLimit', 3);
  setDefault(spec, 'failedJobsHistoryLimit', 1);
}

const scaleUpRules = (): Draft => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
});
const scaleDownRules = (): Draft => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
});

function autoscaler(value: Draft): void {
  const spec = ensure(value, 'spec');
  setDefault(spec, 'minReplicas', 1);
  if (dicts(spec, 'metrics').length === 0) {
    put(spec, 'metrics', [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ]);
  }
  const behavior = dict(spec, 'behavior');
  if (behavior === undefined) return;
  for (const [field, rules] of [['scaleUp', scaleUpRules()] as const, ['scaleDown', scaleDownRules()] as const]) {
    const given = dict(behavior, field);
    if (given === undefined) put(behavior, field, rules);
    else for (const key of Object.keys(rules)) setDefault(given, key, rules[key]);
  }
}

export const appsDefaults: Readonly<Record<string, TypeDefault>> = {
  Deployment: deployment,
  DaemonSet: daemonSet,
  StatefulSet: statefulSet,
  ReplicaSet: (value) => setDefault(ensure(value, 'spec'), 'replicas', 1),
};
export const batchDefaults: Readonly<Record<string, TypeDefault>> = { Job: job, CronJob: cronJob };
export const autoscalingV1Defaults: Readonly<Record<string, TypeDefault>> = {
  HorizontalPodAutoscaler: (value) => setDefault(ensure(value, 'spec'), 'minReplicas', 1),
};
export const autoscalingV2Defaults: Readonly<Record<string, TypeDefault>> = { HorizontalPodAutoscaler: autoscaler };
