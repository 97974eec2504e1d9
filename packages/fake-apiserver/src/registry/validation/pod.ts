// Pods: what a new one must be, and what may change later.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePodCreate, ValidatePodUpdate
// Differs: the forbidden-change message lists the changed fields instead of Go's struct diff.
import { goQuote } from '@kube-rx/apimachinery';
import { podQos } from '../core/qos.ts';
import { clone, type Draft, dict, dicts, get, has, num, put, semanticEqual, str } from '../draft.ts';
import { type FieldErrors, go, path } from './field-errors.ts';
import { ungate, validateGated } from './gated-pod.ts';
import { ipFamily, validateIp } from './ip.ts';
import { metadata } from './object-meta.ts';
import { validatePodSpec } from './pod-spec.ts';

const SPEC = path('spec');
const MAX_INT32 = 2_147_483_647;
const CHANGEABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function validateSpec(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  validatePodSpec(spec, SPEC, errors, str(metadata(object), 'name'));
  if (str(spec, 'serviceAccountName') !== '') return;
  dicts(spec, 'volumes').forEach((volume, index) => {
    dicts(dict(volume, 'projected'), 'sources').forEach((source, i) => {
      if (!has(source, 'serviceAccountToken')) return;
      const at = SPEC.child('volumes').index(index).child('projected', 'sources').index(i);
      errors.forbidden(at.child('serviceAccountToken'), 'must not be specified when serviceAccountName is not set');
    });
  });
}

export function validatePodCreate(object: Draft, errors: FieldErrors): void {
  validateSpec(object, errors);
  const spec = dict(object, 'spec');
  for (const field of ['containers', 'initContainers']) {
    dicts(spec, field).forEach((container, index) => {
      const image = str(container, 'image');
      if (image.trim() === image) return;
      const at = SPEC.child(field).index(index).child('image');
      errors.invalid(at, image, 'must not have leading or trailing whitespace');
    });
  }
  if (dicts(spec, 'ephemeralContainers').length > 0)
    errors.forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create');
  if (str(spec, 'nodeName') !== '' && dicts(spec, 'schedulingGates').length > 0)
    errors.forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
}

/** True when nothing more needs to be said. */
function validateContainerLists(spec: Draft, old: Draft, errors: FieldErrors): boolean {
  for (const field of ['containers', 'initContainers']) {
    const now = dicts(spec, field);
    if (now.length !== dicts(old, field).length) {
      errors.forbidden(SPEC.child(field), 'pod updates may not add or remove containers');
      return true;
    }
    now.forEach((container, index) => {
      const image = str(container, 'image');
      const at = SPEC.child(field).index(index).child('image');
      if (image === '') errors.required(at);
      else if (image.trim() !== image) errors.invalid(at, image, 'must not have leading or trailing whitespace');
    });
  }
  return false;
}

/** True when nothing more needs to be said. */
function validateDeadline(spec: Draft, old: Draft, errors: FieldErrors): boolean {
  const at = SPEC.child('activeDeadlineSeconds');
  const [now, before] = [num(spec, 'activeDeadlineSeconds'), num(old, 'activeDeadlineSeconds')];
  if (now === undefined) {
    if (before !== undefined) errors.invalid(at, null, 'must not update from a positive integer to nil value');
    return false;
  }
  if (now < 0 || now > MAX_INT32) {
    errors.invalid(at, now, `must be between 0 and ${MAX_INT32}, inclusive`);
    return true;
  }
  if (before === undefined || before >= now) return false;
  errors.invalid(at, now, 'must be less than or equal to previous value');
  return true;
}

/** Tolerations and gates have rules of their own: one only grows, the other only shrinks. */
function validateGrowingAndShrinking(spec: Draft, old: Draft, errors: FieldErrors): void {
  const tolerations = dicts(spec, 'tolerations');
  const lost = dicts(old, 'tolerations').some((before) => {
    const fits = tolerations.some((now) => {
      const [a, b] = [{ ...now }, { ...before }];
      delete a['tolerationSeconds'];
      delete b['tolerationSeconds'];
      return semanticEqual(a, b);
    });
    return !fits;
  });
  if (lost)
    errors.forbidden(SPEC.child('tolerations'), 'existing toleration can not be modified except its tolerationSeconds');
  const gates = new Set(dicts(old, 'schedulingGates').map((gate) => str(gate, 'name')));
  dicts(spec, 'schedulingGates').forEach((gate, index) => {
    if (!gates.has(str(gate, 'name')))
      errors.forbidden(
        SPEC.child('schedulingGates').index(index),
        `only deletion is allowed, but found new scheduling gate '${str(gate, 'name')}'`,
      );
  });
}

/** The new spec with everything that may change set back. */
function munged(spec: Draft, old: Draft): Draft {
  const copy = clone(spec);
  for (const field of ['containers', 'initContainers']) {
    dicts(copy, field).forEach((container, index) => {
      put(container, 'image', get(dicts(old, field)[index], 'image'));
    });
  }
  if (dicts(old, 'schedulingGates').length > 0) ungate(copy, old);
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) {
    if (has(old, field)) put(copy, field, get(old, field));
    else delete copy[field];
  }
  const grace = num(old, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace < 0 && num(copy, 'terminationGracePeriodSeconds') === 1)
    put(copy, 'terminationGracePeriodSeconds', grace);
  return copy;
}

export function validatePodUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateSpec(object, errors);
  const [spec, oldSpec] = [dict(object, 'spec') ?? {}, dict(old, 'spec') ?? {}];
  if (validateContainerLists(spec, oldSpec, errors) || validateDeadline(spec, oldSpec, errors)) return;
  validateGrowingAndShrinking(spec, oldSpec, errors);
  if (semanticEqual(spec, oldSpec)) return;
  if (podQos(object) !== podQos(old))
    errors.invalid(path('metadata'), str(dict(object, 'status'), 'qosClass'), 'Pod QoS is immutable');
  if (dicts(oldSpec, 'schedulingGates').length > 0) validateGated(spec, oldSpec, SPEC, errors);
  const rest = munged(spec, oldSpec);
  if (semanticEqual(rest, oldSpec)) return;
  const changed = [...new Set([...Object.keys(rest), ...Object.keys(oldSpec)])]
    .filter((field) => !semanticEqual(get(rest, field), get(oldSpec, field)))
    .sort();
  errors.forbidden(SPEC, `pod updates may not change fields other than ${CHANGEABLE}\nchanged: ${changed.join(', ')}`);
}

/** Addresses in the status: one of each family at most. */
export function validatePodStatus(object: Draft, errors: FieldErrors): void {
  const status = dict(object, 'status');
  validateAddresses(status, 'podIPs', errors);
  const [first] = dicts(status, 'hostIPs');
  if (first !== undefined && str(first, 'ip') !== str(status, 'hostIP')) {
    const at = path('status', 'hostIPs').index(0).child('ip');
    errors.invalid(at, str(first, 'ip'), 'must be equal to `hostIP`');
  }
  validateAddresses(status, 'hostIPs', errors);
}

function validateAddresses(status: Draft | undefined, field: 'podIPs' | 'hostIPs', errors: FieldErrors): void {
  const addresses = dicts(status, field).map((point) => str(point, 'ip'));
  const at = path('status', field);
  addresses.forEach((address, index) => {
    validateIp(address, at.index(index), errors);
  });
  if (addresses.length < 2) return;
  const type = field === 'podIPs' ? 'core.PodIP' : 'core.HostIP';
  const shown = addresses.map((address) => `${type}{IP:${goQuote(address)}}`);
  const families = new Set(addresses.map(ipFamily));
  const all = go(`[]${type}{${shown.join(', ')}}`);
  const tooMany = families.size < 2 || families.has(undefined) || addresses.length > 2;
  const checks = [
    (): void => {
      if (tooMany) errors.invalid(at, all, 'may specify no more than one IP for each IP family');
    },
    (): void =>
      addresses.forEach((address, index) => {
        if (addresses.indexOf(address) < index) errors.duplicate(at.index(index), go(shown[index]!));
      }),
  ];
  // Upstream looks at the two in opposite orders.
  for (const check of field === 'podIPs' ? checks : checks.reverse()) check();
}
