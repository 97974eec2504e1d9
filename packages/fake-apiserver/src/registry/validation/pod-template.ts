// The template of a pod inside another kind.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePodTemplateSpec
import { type Draft, dict, dicts, str } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringMap } from './field-errors.ts';
import { selectorMatches, validateLabels } from './labels.ts';
import { validateAnnotations } from './object-meta.ts';
import { validatePodSpec } from './pod-spec.ts';

export function validatePodTemplate(template: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const meta = dict(template, 'metadata') ?? {};
  const spec = dict(template, 'spec') ?? {};
  validateLabels(meta, 'labels', at.child('labels'), errors);
  validateAnnotations(meta, at.child('annotations'), errors);
  validatePodSpec(spec, at.child('spec'), errors);
  if (dicts(spec, 'ephemeralContainers').length > 0)
    errors.forbidden(at.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template');
}

/** A workload's selector must select what its template makes. */
export function validateSelectsTemplate(
  selector: Draft | undefined,
  template: Draft | undefined,
  at: FieldPath,
  errors: FieldErrors,
): void {
  const labels = dict(template, 'metadata', 'labels');
  if (selectorMatches(selector, labels)) return;
  errors.invalid(
    at.child('metadata', 'labels'),
    go(goStringMap(labels)),
    '`selector` does not match template `labels`',
  );
}

/** Most workloads want pods that run forever. */
export function requireRestartAlways(template: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const spec = dict(template, 'spec');
  const policy = str(spec, 'restartPolicy');
  if (policy !== 'Always') errors.notSupported(at.child('spec', 'restartPolicy'), policy, ['Always']);
  if (typeof spec?.['activeDeadlineSeconds'] === 'number')
    errors.forbidden(at.child('spec', 'activeDeadlineSeconds'), 'activeDeadlineSeconds in ReplicaSet is not Supported');
}
