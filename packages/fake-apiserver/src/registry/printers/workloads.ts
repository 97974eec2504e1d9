// Workloads: apps, batch, autoscaling and replication controllers.
import { bool, type Draft, dict, dicts, get, has, num, str } from '../draft.ts';
import { parseTime } from '../time-form.ts';
import { metadata } from '../validation/object-meta.ts';
import {
  containerCells,
  count,
  formatLabels,
  formatSelector,
  NONE,
  selectorText,
  templateSpec,
  UNKNOWN,
  UNSET,
} from './cells.ts';
import { age, ageOf, humanDuration, name, type PrintCells } from './printer.ts';

const selector = (object: Draft): Draft | undefined => dict(object, 'spec', 'selector');

const deployment: PrintCells = (object, now) => {
  const status = dict(object, 'status');
  let text: string;
  try {
    text = selector(object) === undefined ? '' : selectorText(selector(object));
  } catch {
    text = '<invalid>';
  }
  return [
    name(object),
    `${count(status, 'readyReplicas')}/${count(dict(object, 'spec'), 'replicas')}`,
    count(status, 'updatedReplicas'),
    count(status, 'availableReplicas'),
    age(object, now),
    ...containerCells(templateSpec(object)),
    text,
  ];
};

const replicas = (object: Draft, now: number): readonly unknown[] => {
  const status = dict(object, 'status');
  return [
    name(object),
    count(dict(object, 'spec'), 'replicas'),
    count(status, 'replicas'),
    count(status, 'readyReplicas'),
    age(object, now),
    ...containerCells(templateSpec(object)),
  ];
};

const statefulSet: PrintCells = (object, now) => [
  name(object),
  `${count(dict(object, 'status'), 'readyReplicas')}/${count(dict(object, 'spec'), 'replicas')}`,
  age(object, now),
  ...containerCells(templateSpec(object)),
];

const daemonSet: PrintCells = (object, now) => {
  const status = dict(object, 'status');
  return [
    name(object),
    count(status, 'desiredNumberScheduled'),
    count(status, 'currentNumberScheduled'),
    count(status, 'numberReady'),
    count(status, 'updatedNumberScheduled'),
    count(status, 'numberAvailable'),
    formatLabels(templateSpec(object), 'nodeSelector'),
    age(object, now),
    ...containerCells(templateSpec(object)),
    formatSelector(selector(object)),
  ];
};

const controllerRevision: PrintCells = (object, now) => {
  const owner = dicts(metadata(object), 'ownerReferences').find((one) => bool(one, 'controller'));
  const [first = '', second] = str(owner, 'apiVersion').split('/');
  const kind = second === undefined ? str(owner, 'kind') : `${str(owner, 'kind')}.${first}`;
  return [
    name(object),
    owner === undefined ? NONE : `${kind.toLowerCase()}/${str(owner, 'name')}`,
    count(object, 'revision'),
    age(object, now),
  ];
};

function jobState(object: Draft): string {
  const is = (type: string): boolean =>
    str(
      dicts(dict(object, 'status'), 'conditions').find((condition) => str(condition, 'type') === type),
      'status',
    ) === 'True';
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (has(metadata(object), 'deletionTimestamp')) return 'Terminating';
  if (is('Suspended')) return 'Suspended';
  return is('FailureTarget') ? 'FailureTarget' : 'Running';
}

const job: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const [wanted, parallel, done] = [num(spec, 'completions'), count(spec, 'parallelism'), count(status, 'succeeded')];
  const completions =
    wanted !== undefined ? `${done}/${wanted}` : parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
  const startMs = parseTime(str(status, 'startTime'));
  const endMs = parseTime(str(status, 'completionTime')) ?? now;
  return [
    name(object),
    jobState(object),
    completions,
    startMs === undefined ? '' : humanDuration(endMs - startMs),
    age(object, now),
    ...containerCells(templateSpec(object)),
    formatSelector(selector(object)),
  ];
};

const cronJob: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const template = dict(spec, 'jobTemplate', 'spec');
  const last = str(status, 'lastScheduleTime');
  const suspended = get(spec, 'suspend');
  return [
    name(object),
    str(spec, 'schedule'),
    str(spec, 'timeZone') || NONE,
    suspended === undefined ? UNSET : suspended === true ? 'True' : 'False',
    dicts(status, 'active').length,
    last === '' ? NONE : ageOf(last, now),
    age(object, now),
    ...containerCells(dict(template, 'template', 'spec')),
    formatSelector(dict(template, 'selector')),
  ];
};

/** Name in the spec of a metric's source, per type. */
const METRIC_SOURCES: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

function metricText(metric: Draft, status: Draft | undefined): string {
  const type = str(metric, 'type');
  const field = METRIC_SOURCES[type];
  if (field === undefined) return '<unknown type>';
  const source = dict(metric, field);
  const current = dict(status, field, 'current');
  const average = str(dict(source, 'target'), 'averageValue');
  const now = (of: string): string => str(current, of) || UNKNOWN;
  if (type === 'Resource' || type === 'ContainerResource') {
    if (average !== '') return `${str(source, 'name')}: ${now('averageValue')}/${average}`;
    const percent = (value: number | undefined, none: string): string => (value === undefined ? none : `${value}%`);
    const used = percent(num(current, 'averageUtilization'), UNKNOWN);
    const target = percent(num(dict(source, 'target'), 'averageUtilization'), '<auto>');
    return `${str(source, 'name')}: ${used}/${target}`;
  }
  if (type === 'Pods') return `${now('averageValue')}/${average}`;
  if (average !== '') return `${now('averageValue')}/${average} (avg)`;
  return `${now('value')}/${str(dict(source, 'target'), 'value')}`;
}

const autoscaler: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const target = dict(spec, 'scaleTargetRef');
  const current = dicts(status, 'currentMetrics');
  const metrics = dicts(spec, 'metrics').map((metric, index) => metricText(metric, current[index]));
  const more = metrics.length > 2 ? ` + ${metrics.length - 2} more...` : '';
  const min = num(spec, 'minReplicas');
  return [
    name(object),
    `${str(target, 'kind')}/${str(target, 'name')}`,
    metrics.length === 0 ? NONE : metrics.slice(0, 2).join(', ') + more,
    min === undefined ? UNSET : String(min),
    count(spec, 'maxReplicas'),
    count(status, 'currentReplicas'),
    age(object, now),
  ];
};

export const workloadPrinters: Readonly<Record<string, PrintCells>> = {
  'apps/deployments': deployment,
  'apps/replicasets': (object, now) => [...replicas(object, now), formatSelector(selector(object))],
  '/replicationcontrollers': (object, now) => [
    ...replicas(object, now),
    formatLabels(dict(object, 'spec'), 'selector'),
  ],
  'apps/statefulsets': statefulSet,
  'apps/daemonsets': daemonSet,
  'apps/controllerrevisions': controllerRevision,
  'batch/jobs': job,
  'batch/cronjobs': cronJob,
  'autoscaling/horizontalpodautoscalers': autoscaler,
};
