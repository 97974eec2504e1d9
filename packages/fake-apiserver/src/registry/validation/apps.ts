// Workloads of the group apps, and replication controllers.
// Upstream: kubernetes@v1.30.3:pkg/apis/apps/validation/validation.go, pkg/apis/core/validation/validation.go#ValidateReplicationController
import { clone, type Draft, dict, get, has, num, put, semanticEqual, str } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringMap, path } from './field-errors.ts';
import { goLabelSelector } from './go-structs.ts';
import { selectorIsEmpty, selectorIsValid, selectorMatches, validateLabelSelector, validateLabels } from './labels.ts';
import { IMMUTABLE, validateAnnotations, validateImmutable } from './object-meta.ts';
import { validatePodTemplate, validateSelectsTemplate } from './pod-template.ts';
import { goIntOrString, nonnegative, notMoreThan100Percent, percentOf, positiveIntOrPercent } from './values.ts';

const SPEC = path('spec');

function validateSelector(spec: Draft, kind: string, errors: FieldErrors): void {
  const selector = dict(spec, 'selector');
  const at = SPEC.child('selector');
  if (selector === undefined) {
    errors.required(at);
    return;
  }
  validateLabelSelector(selector, at, errors);
  if (selectorIsEmpty(selector))
    errors.invalid(at, go(goLabelSelector(selector)), `empty selector is invalid for ${kind}`);
}

function validateRestart(template: Draft | undefined, at: FieldPath, kind: string, errors: FieldErrors): void {
  const spec = dict(template, 'spec');
  const policy = str(spec, 'restartPolicy');
  if (policy !== 'Always') errors.notSupported(at.child('spec', 'restartPolicy'), policy, ['Always']);
  if (has(spec, 'activeDeadlineSeconds'))
    errors.forbidden(at.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`);
}

function validateReplicaTemplate(spec: Draft, errors: FieldErrors): void {
  const template = dict(spec, 'template');
  const at = SPEC.child('template');
  const selector = dict(spec, 'selector');
  if (!selectorParses(selector, errors)) return;
  if (selector === undefined || !selectorIsEmpty(selector)) validateSelectsTemplate(selector, template, at, errors);
  validatePodTemplate(template, at, errors);
  validateRestart(template, at, 'ReplicaSet', errors);
}

/** The number in `3` or `25%`. */
const intOrPercent = (value: unknown): number => percentOf(value) ?? (typeof value === 'number' ? value : 0);

function validateDeploymentStrategy(spec: Draft, errors: FieldErrors): void {
  const strategy = dict(spec, 'strategy');
  const at = SPEC.child('strategy');
  const type = str(strategy, 'type');
  const rolling = dict(strategy, 'rollingUpdate');
  if (type === 'Recreate') {
    if (rolling !== undefined)
      errors.forbidden(at.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'");
  } else if (type === 'RollingUpdate') {
    if (rolling === undefined) errors.required(at.child('rollingUpdate'), 'this should be defaulted and never be nil');
    else {
      const here = at.child('rollingUpdate');
      const [unavailable, surge] = [get(rolling, 'maxUnavailable'), get(rolling, 'maxSurge')];
      positiveIntOrPercent(unavailable, here.child('maxUnavailable'), errors);
      positiveIntOrPercent(surge, here.child('maxSurge'), errors);
      if (intOrPercent(unavailable) === 0 && intOrPercent(surge) === 0)
        errors.invalid(here.child('maxUnavailable'), goIntOrString(unavailable), 'may not be 0 when `maxSurge` is 0');
      notMoreThan100Percent(unavailable, here.child('maxUnavailable'), errors);
    }
  } else {
    const shown = `apps.DeploymentStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}`;
    errors.notSupported(at, go(shown), ['Recreate', 'RollingUpdate']);
  }
}

export function validateDeployment(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  nonnegative(spec, 'replicas', SPEC, errors);
  validateSelector(spec, 'deployment', errors);
  validateReplicaTemplate(spec, errors);
  validateDeploymentStrategy(spec, errors);
  nonnegative(spec, 'minReadySeconds', SPEC, errors);
  nonnegative(spec, 'revisionHistoryLimit', SPEC, errors);
  nonnegative(spec, 'progressDeadlineSeconds', SPEC, errors);
  const deadline = num(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (num(spec, 'minReadySeconds') ?? 0))
    errors.invalid(SPEC.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
}

/** A selector that does not parse selects nothing, and is reported once more. */
function selectorParses(selector: Draft | undefined, errors: FieldErrors): boolean {
  if (selector === undefined || selectorIsValid(selector)) return true;
  errors.invalid(SPEC.child('selector'), go(goLabelSelector(selector)), 'invalid label selector');
  return false;
}

function validateSelectorUnchanged(object: Draft, old: Draft, errors: FieldErrors): void {
  const selector = dict(object, 'spec', 'selector');
  if (semanticEqual(selector, dict(old, 'spec', 'selector'))) return;
  errors.invalid(SPEC.child('selector'), selector === undefined ? null : go(goLabelSelector(selector)), IMMUTABLE);
}

export function validateDeploymentUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateDeployment(object, errors);
  validateSelectorUnchanged(object, old, errors);
}

export function validateReplicaSet(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  nonnegative(spec, 'replicas', SPEC, errors);
  nonnegative(spec, 'minReadySeconds', SPEC, errors);
  validateSelector(spec, 'deployment', errors);
  validateReplicaTemplate(spec, errors);
}

/** Upstream looks at the whole object, and then again in its check of the update. */
export function validateReplicaSetUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateReplicaSet(object, errors);
  validateReplicaSet(object, errors);
  validateSelectorUnchanged(object, old, errors);
}

function goStatefulRolling(rolling: Draft): string {
  const most = has(rolling, 'maxUnavailable') ? '0xc000000000' : 'nil';
  return `apps.RollingUpdateStatefulSetStrategy{Partition:${num(rolling, 'partition') ?? 0}, MaxUnavailable:(*intstr.IntOrString)(${most})}`;
}

function validateStatefulStrategy(spec: Draft, errors: FieldErrors): void {
  const strategy = dict(spec, 'updateStrategy');
  const at = SPEC.child('updateStrategy');
  const type = str(strategy, 'type');
  const rolling = dict(strategy, 'rollingUpdate');
  if (type === '') errors.required(at);
  else if (type === 'OnDelete') {
    if (rolling !== undefined)
      errors.invalid(
        at.child('rollingUpdate'),
        go(goStatefulRolling(rolling)),
        "only allowed for updateStrategy 'RollingUpdate'",
      );
  } else if (type === 'RollingUpdate') {
    nonnegative(rolling, 'partition', at.child('rollingUpdate'), errors);
  } else {
    const shown = `apps.StatefulSetUpdateStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(${rolling === undefined ? 'nil' : '0xc000000000'})}`;
    errors.invalid(at, go(shown), "must be 'RollingUpdate' or 'OnDelete'");
  }
}

export function validateStatefulSet(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const management = str(spec, 'podManagementPolicy');
  if (management === '') errors.required(SPEC.child('podManagementPolicy'));
  else if (management !== 'OrderedReady' && management !== 'Parallel')
    errors.invalid(SPEC.child('podManagementPolicy'), management, "must be 'OrderedReady' or 'Parallel'");
  validateStatefulStrategy(spec, errors);
  const retention = dict(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const field of retention === undefined ? [] : ['whenDeleted', 'whenScaled']) {
    const policy = str(retention, field);
    if (policy !== 'Retain' && policy !== 'Delete')
      errors.notSupported(SPEC.child('persistentVolumeClaimRetentionPolicy', field), policy, ['Retain', 'Delete']);
  }
  nonnegative(spec, 'replicas', SPEC, errors);
  nonnegative(spec, 'minReadySeconds', SPEC, errors);
  const start = num(dict(spec, 'ordinals'), 'start');
  if (start !== undefined && start < 0)
    errors.invalid(SPEC.child('ordinals.start'), start, 'must be greater than or equal to 0');
  validateSelector(spec, 'statefulset', errors);
  const selector = dict(spec, 'selector');
  const template = dict(spec, 'template');
  const at = SPEC.child('template');
  const meta = dict(template, 'metadata') ?? {};
  if (selector !== undefined && !selectorIsValid(selector))
    errors.invalid(SPEC.child('selector'), go(goLabelSelector(selector)), '');
  else {
    if (selector === undefined || !selectorIsEmpty(selector)) validateSelectsTemplate(selector, template, at, errors);
    validateLabels(meta, 'labels', at.child('labels'), errors);
    validateAnnotations(meta, at.child('annotations'), errors);
  }
  validateRestart(template, at, 'StatefulSet', errors);
}

const STATEFUL_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export function validateStatefulSetUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateStatefulSet(object, errors);
  const rest = clone(dict(object, 'spec') ?? {});
  const oldSpec = dict(old, 'spec') ?? {};
  for (const field of STATEFUL_CHANGEABLE) put(rest, field, get(oldSpec, field) ?? null);
  if (semanticEqual(rest, oldSpec)) return;
  errors.forbidden(
    SPEC,
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  );
}

function validateDaemonStrategy(spec: Draft, errors: FieldErrors): void {
  const strategy = dict(spec, 'updateStrategy');
  const at = SPEC.child('updateStrategy');
  const type = str(strategy, 'type');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const rolling = has(strategy, 'rollingUpdate') ? '0xc000000000' : 'nil';
    const shown = `apps.DaemonSetUpdateStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(${rolling})}`;
    errors.notSupported(at, go(shown), ['RollingUpdate', 'OnDelete']);
    return;
  }
  const rolling = dict(strategy, 'rollingUpdate');
  if (rolling === undefined) {
    errors.required(at.child('rollingUpdate'));
    return;
  }
  const here = at.child('rollingUpdate');
  const [unavailable, surge] = [get(rolling, 'maxUnavailable') ?? 0, get(rolling, 'maxSurge') ?? 0];
  for (const [field, value] of [['maxUnavailable', unavailable] as const, ['maxSurge', surge] as const]) {
    positiveIntOrPercent(value, here.child(field), errors);
    notMoreThan100Percent(value, here.child(field), errors);
  }
  const [hasUnavailable, hasSurge] = [intOrPercent(unavailable) !== 0, intOrPercent(surge) !== 0];
  if (hasUnavailable && hasSurge)
    errors.invalid(here.child('maxSurge'), goIntOrString(surge), 'may not be set when maxUnavailable is non-zero');
  else if (!hasUnavailable && !hasSurge)
    errors.required(here.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
}

/** Looked at twice, as replica sets are. */
export function validateDaemonSetUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateDaemonSet(object, errors);
  validateDaemonSet(object, errors);
  validateSelectorUnchanged(object, old, errors);
}

export function validateDaemonSet(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const selector = dict(spec, 'selector');
  const template = dict(spec, 'template');
  const at = SPEC.child('template');
  validateLabelSelector(selector, SPEC.child('selector'), errors);
  if (selectorIsValid(selector) && !selectorMatches(selector, dict(template, 'metadata', 'labels')))
    errors.invalid(
      at.child('metadata', 'labels'),
      go(goStringMap(dict(template, 'metadata', 'labels'))),
      '`selector` does not match template `labels`',
    );
  if (selector !== undefined && selectorIsEmpty(selector))
    errors.invalid(SPEC.child('selector'), go(goLabelSelector(selector)), 'empty selector is invalid for daemonset');
  validatePodTemplate(template, at, errors);
  validateRestart(template, at, 'DaemonSet', errors);
  nonnegative(spec, 'minReadySeconds', SPEC, errors);
  validateDaemonStrategy(spec, errors);
  nonnegative(spec, 'revisionHistoryLimit', SPEC, errors);
}

export function validateControllerRevision(object: Draft, errors: FieldErrors): void {
  if (!has(object, 'data')) errors.required(path('data'), 'data is mandatory');
  nonnegative(object, 'revision', path(), errors);
}

export function validateControllerRevisionUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateControllerRevision(object, errors);
  validateImmutable(get(object, 'data'), get(old, 'data'), errors, path('data'));
}

export function validateReplicationController(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  nonnegative(spec, 'minReadySeconds', SPEC, errors);
  const selector = dict(spec, 'selector');
  if (selector === undefined || Object.keys(selector).length === 0) errors.required(SPEC.child('selector'));
  nonnegative(spec, 'replicas', SPEC, errors);
  const template = dict(spec, 'template');
  const at = SPEC.child('template');
  if (template === undefined) {
    errors.required(at);
    return;
  }
  const labels = dict(template, 'metadata', 'labels');
  if (selector !== undefined && !selectorMatches({ matchLabels: selector }, labels))
    errors.invalid(
      at.child('metadata', 'labels'),
      go(goStringMap(labels)),
      '`selector` does not match template `labels`',
    );
  validatePodTemplate(template, at, errors);
  validateRestart(template, at, 'ReplicationController', errors);
}
