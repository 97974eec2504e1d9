// Jobs and cron jobs.
// Upstream: kubernetes@v1.30.3:pkg/apis/batch/validation/validation.go
import { isDNS1123Label } from '@kube-rx/apimachinery';
import { bool, clone, type Draft, dict, get, has, num, put, semanticEqual, str } from '../draft.ts';
import { scheduleError } from './cron.ts';
import { type FieldErrors, type FieldPath, go, goStringMap, path } from './field-errors.ts';
import { goLabelSelector } from './go-structs.ts';
import { selectorMatches, validateLabelSelector } from './labels.ts';
import { metadata, validateImmutable } from './object-meta.ts';
import { validatePodFailurePolicy } from './pod-failure-policy.ts';
import { validatePodTemplate } from './pod-template.ts';
import { nonnegative, oneOf } from './values.ts';

const SPEC = path('spec');
const MAX_INDEXED = 100_000;
const COUNTERS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

/** Jobs with very many indexes must not fail in too many of them, nor run too many at once. */
const MANY = 100_000;
const MAX_FAILED = 100_000;
const MAX_FAILED_OF_MANY = 10_000;
const MAX_PARALLEL_OF_MANY = 10_000;

function validateFailedIndexes(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const [completions, parallel, failed] = ['completions', 'parallelism', 'maxFailedIndexes'].map((f) => num(spec, f));
  const here = at.child('maxFailedIndexes');
  if (failed !== undefined && completions !== undefined && failed > completions)
    errors.invalid(here, failed, 'must be less than or equal to completions');
  if (failed !== undefined && failed > MAX_FAILED)
    errors.invalid(here, failed, `must be less than or equal to ${MAX_FAILED}`);
  if (completions === undefined || completions <= MANY || !has(spec, 'backoffLimitPerIndex')) return;
  const most = (limit: number): string =>
    `must be less than or equal to ${limit} when completions are above ${MANY} and used with backoff limit per index`;
  if (failed === undefined) errors.required(here, `must be specified when completions is above ${MANY}`);
  if (parallel !== undefined && parallel > MAX_PARALLEL_OF_MANY)
    errors.invalid(at.child('parallelism'), parallel, most(MAX_PARALLEL_OF_MANY));
  if (failed !== undefined && failed > MAX_FAILED_OF_MANY) errors.invalid(here, failed, most(MAX_FAILED_OF_MANY));
}

function validateCompletionMode(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const mode = str(spec, 'completionMode');
  if (mode !== '' && mode !== 'NonIndexed' && mode !== 'Indexed')
    errors.notSupported(at.child('completionMode'), mode, ['NonIndexed', 'Indexed']);
  if (mode === 'Indexed') {
    if (!has(spec, 'completions')) errors.required(at.child('completions'), 'when completion mode is Indexed');
    const parallel = num(spec, 'parallelism');
    if (parallel !== undefined && parallel > MAX_INDEXED)
      errors.invalid(
        at.child('parallelism'),
        parallel,
        `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`,
      );
    validateFailedIndexes(spec, at, errors);
    return;
  }
  if (mode !== '' && mode !== 'NonIndexed') return;
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = num(spec, field);
    if (value !== undefined) errors.invalid(at.child(field), value, 'requires indexed completion mode');
  }
}

function validateSpec(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  for (const field of COUNTERS) nonnegative(spec, field, at, errors);
  if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex'))
    errors.required(at.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  validateCompletionMode(spec, at, errors);
  const replacement = str(spec, 'podReplacementPolicy');
  const failurePolicy = has(spec, 'podFailurePolicy');
  if (failurePolicy) validatePodFailurePolicy(spec, at.child('podFailurePolicy'), errors);
  const allowed = failurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (has(spec, 'podReplacementPolicy') && !allowed.includes(replacement))
    errors.notSupported(at.child('podReplacementPolicy'), replacement, allowed);
  const template = dict(spec, 'template');
  validatePodTemplate(template, at.child('template'), errors);
  const restart = str(dict(template, 'spec'), 'restartPolicy');
  const here = at.child('template', 'spec', 'restartPolicy');
  if (restart === 'Always' || restart === '') errors.required(here, 'valid values: "OnFailure", "Never"');
  else if (restart !== 'OnFailure' && restart !== 'Never') errors.notSupported(here, restart, ['OnFailure', 'Never']);
  else if (failurePolicy && restart !== 'Never')
    errors.invalid(here, restart, 'only "Never" is supported when podFailurePolicy is specified');
}

const GENERATED = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'];

function validateGeneratedSelector(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const selector = dict(spec, 'selector');
  if (bool(spec, 'manualSelector') || selector === undefined) return;
  const meta = metadata(object);
  const labels = dict(spec, 'template', 'metadata', 'labels');
  const expected: Draft = {};
  for (const key of GENERATED) {
    const value = key.endsWith('uid') ? str(meta, 'uid') : str(meta, 'name');
    put(expected, key, value);
    const at = path('spec', 'template', 'metadata', 'labels').key(key);
    const actual = get(labels, key);
    if (actual === undefined)
      errors.required(path('spec', 'template', 'metadata', 'labels').key(key), `must be '${value}'`);
    else if (actual !== value) errors.invalid(at, go(goStringMap(labels)), `must be '${value}'`);
  }
  if (!selectorMatches(selector, expected))
    errors.invalid(SPEC.child('selector'), go(goLabelSelector(selector)), '`selector` not auto-generated');
}

export function validateJob(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  validateGeneratedSelector(object, errors);
  validateJobSpec(spec, errors);
  const completions = num(spec, 'completions') ?? 0;
  if (str(spec, 'completionMode') !== 'Indexed' || completions <= 0) return;
  const name = str(metadata(object), 'name');
  const hostname = `${name}-${completions - 1}`;
  if (isDNS1123Label(hostname).length > 0)
    errors.invalid(path('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${hostname}`);
}

function validateJobSpec(spec: Draft, errors: FieldErrors): void {
  validateSpec(spec, SPEC, errors);
  const selector = dict(spec, 'selector');
  if (selector === undefined) errors.required(SPEC.child('selector'));
  else validateLabelSelector(selector, SPEC.child('selector'), errors);
  const labels = dict(spec, 'template', 'metadata', 'labels');
  if (!selectorMatches(selector, labels))
    errors.invalid(
      SPEC.child('template', 'metadata', 'labels'),
      go(goStringMap(labels)),
      '`selector` does not match template `labels`',
    );
}

/** Fields of a pod template that may change while a job is suspended and has not started. */
const SCHEDULING = ['affinity', 'nodeSelector', 'tolerations', 'schedulingGates'];

function validateTemplateUpdate(spec: Draft, old: Draft, started: boolean, errors: FieldErrors): void {
  const template = clone(dict(spec, 'template') ?? {});
  const before = dict(old, 'template') ?? {};
  if (bool(old, 'suspend') && !started) {
    for (const field of SCHEDULING) {
      const podSpec = dict(template, 'spec');
      if (podSpec !== undefined) put(podSpec, field, get(dict(before, 'spec'), field) ?? null);
    }
    const meta = dict(template, 'metadata');
    for (const field of meta === undefined ? [] : ['annotations', 'labels'])
      put(meta!, field, get(dict(before, 'metadata'), field) ?? null);
  }
  if (!semanticEqual(template, before))
    errors.invalid(SPEC.child('template'), dict(spec, 'template') ?? null, 'field is immutable');
}

export function validateJobUpdate(object: Draft, oldObject: Draft, errors: FieldErrors): void {
  const [spec, old] = [dict(object, 'spec') ?? {}, dict(oldObject, 'spec') ?? {}];
  validateJobSpec(spec, errors);
  const elastic = str(spec, 'completionMode') === 'Indexed' && num(spec, 'completions') === num(spec, 'parallelism');
  if (!elastic) validateImmutable(get(spec, 'completions'), get(old, 'completions'), errors, SPEC.child('completions'));
  const selector = dict(spec, 'selector');
  if (!semanticEqual(selector, dict(old, 'selector')))
    errors.invalid(
      SPEC.child('selector'),
      selector === undefined ? null : go(goLabelSelector(selector)),
      'field is immutable',
    );
  validateTemplateUpdate(spec, old, has(dict(oldObject, 'status'), 'startTime'), errors);
  for (const field of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'])
    validateImmutable(get(spec, field), get(old, field), errors, SPEC.child(field));
}

const MAX_CRON_NAME = 52;

function validateTimeZone(spec: Draft, errors: FieldErrors): void {
  if (!has(spec, 'timeZone')) return;
  const zone = str(spec, 'timeZone');
  const at = SPEC.child('timeZone');
  if (zone === '') errors.invalid(at, zone, 'timeZone must be nil or non-empty string');
  else if (zone.toLowerCase() === 'local')
    errors.invalid(at, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  else {
    try {
      new Intl.DateTimeFormat('en', { timeZone: zone });
    } catch {
      errors.invalid(at, zone, `unknown time zone ${zone}`);
    }
  }
}

function validateCronSpec(spec: Draft, old: Draft | undefined, errors: FieldErrors): void {
  const schedule = str(spec, 'schedule');
  const at = SPEC.child('schedule');
  if (schedule === '') errors.required(at);
  else {
    const wrong = scheduleError(schedule);
    if (wrong !== undefined) errors.invalid(at, schedule, wrong);
    const zoned = schedule.includes('TZ');
    const tolerated = str(old, 'schedule').includes('TZ');
    if (zoned && !tolerated)
      errors.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
    else if (zoned && has(spec, 'timeZone'))
      errors.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
  nonnegative(spec, 'startingDeadlineSeconds', SPEC, errors);
  if (old === undefined || str(old, 'timeZone') !== str(spec, 'timeZone')) validateTimeZone(spec, errors);
  oneOf(spec, 'concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], SPEC, errors);
  const job = dict(spec, 'jobTemplate', 'spec') ?? {};
  const here = SPEC.child('jobTemplate', 'spec');
  validateSpec(job, here, errors);
  const selector = dict(job, 'selector');
  if (selector !== undefined)
    errors.invalid(here.child('selector'), go(goLabelSelector(selector)), '`selector` will be auto-generated');
  if (bool(job, 'manualSelector')) errors.notSupported(here.child('manualSelector'), true, ['nil', 'false']);
  nonnegative(spec, 'successfulJobsHistoryLimit', SPEC, errors);
  nonnegative(spec, 'failedJobsHistoryLimit', SPEC, errors);
}

export function validateCronJob(object: Draft, errors: FieldErrors): void {
  validateCronSpec(dict(object, 'spec') ?? {}, undefined, errors);
  const name = str(metadata(object), 'name');
  if (name.length > MAX_CRON_NAME) errors.invalid(path('metadata', 'name'), name, 'must be no more than 52 characters');
}

export function validateCronJobUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateCronSpec(dict(object, 'spec') ?? {}, dict(old, 'spec'), errors);
}
