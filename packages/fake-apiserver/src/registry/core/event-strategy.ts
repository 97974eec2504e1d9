// Events: they expire by themselves and have no cache.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/event/strategy.go, pkg/apis/core/validation/events.go
import { isDNS1123Subdomain } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { type Draft, dict, get, has, num, semanticEqual, str } from '../draft.ts';
import type { Strategy, StrategyContext } from '../strategy.ts';
import { type FieldErrors, path } from '../validation/field-errors.ts';
import { metadata, nameIsPathSegment, validateImmutable } from '../validation/object-meta.ts';
import { messages, qualifiedName } from '../validation/values.ts';

const MAX_SHORT = 128;
const MAX_NOTE = 1024;

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const CORE_LABELS = [
  ...INVOLVED.map((field) => `involvedObject.${field}`),
  'reason',
  'reportingComponent',
  'source',
  'type',
  'metadata.namespace',
  'metadata.name',
];

export const coreEventLabels: ReadonlyMap<string, string> = new Map(CORE_LABELS.map((label) => [label, label]));

/** The names of events.k8s.io/v1. */
export const newEventLabels: ReadonlyMap<string, string> = new Map([
  ...INVOLVED.map((field) => [`regarding.${field}`, `involvedObject.${field}`] as const),
  ['reason', 'reason'],
  ['reportingController', 'reportingComponent'],
  ['type', 'type'],
  ['metadata.namespace', 'metadata.namespace'],
  ['metadata.name', 'metadata.name'],
]);

function validateCommon(object: Draft, errors: FieldErrors, ctx: StrategyContext): void {
  const namespace = str(metadata(object), 'namespace');
  const involved = str(dict(object, 'involvedObject'), 'namespace');
  const at = path('involvedObject', 'namespace');
  const mismatch = 'does not match event.namespace';
  if (!has(object, 'eventTime')) {
    const fits = involved === '' ? namespace === '' || namespace === 'default' : involved === namespace;
    if (!fits) errors.invalid(at, involved, mismatch);
  } else {
    if (involved === '' && namespace !== 'default' && namespace !== 'kube-system')
      errors.invalid(at, involved, mismatch);
    validateReporter(object, errors, ctx);
  }
  for (const text of isDNS1123Subdomain(namespace)) errors.invalid(path('namespace'), namespace, text);
}

function validateReporter(object: Draft, errors: FieldErrors, ctx: StrategyContext): void {
  const field = path(ctx.group === '' ? 'reportingComponent' : 'reportingController');
  const controller = str(object, 'reportingComponent');
  if (controller === '') errors.required(field);
  qualifiedName(controller, field, errors);
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const value = str(object, name);
    if (value === '') errors.required(path(name));
    if (Buffer.byteLength(value) > MAX_SHORT)
      errors.invalid(path(name), '', `can have at most ${MAX_SHORT} characters`);
  }
  if (Buffer.byteLength(str(object, 'message')) > MAX_NOTE)
    errors.invalid(path('message'), '', `can have at most ${MAX_NOTE} characters`);
}

function validateSeries(object: Draft, errors: FieldErrors): void {
  const series = dict(object, 'series');
  if (series === undefined) return;
  if ((num(series, 'count') ?? 0) < 2) errors.invalid(path('series.count'), '', 'should be at least 2');
  if (!has(series, 'lastObservedTime')) errors.required(path('series.lastObservedTime'));
}

/** Rules only events.k8s.io knows. */
function validateNew(object: Draft, errors: FieldErrors): void {
  const name = str(metadata(object), 'name');
  if (name !== '') messages(name, isDNS1123Subdomain(name), path('metadata', 'name'), errors);
  validateSeries(object, errors);
  if (!has(object, 'eventTime')) errors.required(path('eventTime'));
  const type = str(object, 'type');
  if (type !== 'Normal' && type !== 'Warning') errors.invalid(path('type'), '', `has invalid value: ${type}`);
  for (const field of ['firstTimestamp', 'lastTimestamp'])
    if (has(object, field)) errors.invalid(path(field), '', 'needs to be unset');
  if ((num(object, 'count') ?? 0) !== 0) errors.invalid(path('count'), '', 'needs to be unset');
  const source = dict(object, 'source');
  if (str(source, 'component') !== '' || str(source, 'host') !== '')
    errors.invalid(path('source'), '', 'needs to be unset');
}

const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
];

/** `ttlSeconds` is the life of an event: `--event-ttl`. */
export const eventStrategy = (ttlSeconds: number): Strategy => ({
  namespaced: true,
  name: nameIsPathSegment,
  allowCreateOnUpdate: true,
  garbageCollection: 'unsupported',
  fieldLabels: coreEventLabels,
  ttlSeconds: () => ttlSeconds,
  selectableFields(object: ApiObject) {
    const event = object as unknown as Draft;
    const involved = dict(event, 'involvedObject');
    const source = str(dict(event, 'source'), 'component') || str(event, 'reportingComponent');
    return {
      ...Object.fromEntries(INVOLVED.map((field) => [`involvedObject.${field}`, str(involved, field)])),
      reason: str(event, 'reason'),
      reportingComponent: str(event, 'reportingComponent'),
      source,
      type: str(event, 'type'),
    };
  },
  validateCreate(object, errors, ctx) {
    validateCommon(object, errors, ctx);
    if (ctx.group !== '') validateNew(object, errors);
  },
  validateUpdate(object, old, errors, ctx) {
    validateCommon(object, errors, ctx);
    if (ctx.group === '') return;
    if (!semanticEqual(get(object, 'series'), get(old, 'series'))) validateSeries(object, errors);
    for (const field of FIXED) validateImmutable(get(object, field), get(old, field), errors, path(field));
  },
});
