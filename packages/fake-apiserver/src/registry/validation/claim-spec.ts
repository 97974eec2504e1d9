// What a claim asks for, of its own or in the template of an ephemeral volume.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePersistentVolumeClaimSpec
import { isDNS1123Subdomain, type Quantity } from '@kube-rx/apimachinery';
import { type Draft, dict, get, has, str, strings } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { validateLabelSelector } from './labels.ts';
import { messages, quantity } from './values.ts';

const MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

export function validateAccessModes(spec: Draft, detail: string, at: FieldPath, errors: FieldErrors): void {
  const here = at.child('accessModes');
  const modes = strings(spec, 'accessModes');
  if (modes.length === 0) errors.required(here, detail);
}

export function validateModeValues(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const here = at.child('accessModes');
  const modes = strings(spec, 'accessModes');
  for (const mode of modes) if (!MODES.includes(mode)) errors.notSupported(here, mode, MODES);
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others)
    errors.forbidden(here, 'may not use ReadWriteOncePod with other access modes');
}

export function positive(value: Quantity, at: FieldPath, errors: FieldErrors): void {
  if (value.sign <= 0) errors.invalid(at, value.toString(), 'must be greater than zero');
}

export function validateClassAndMode(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const name = str(spec, 'storageClassName');
  if (name !== '') messages(name, isDNS1123Subdomain(name), at.child('storageClassName'), errors);
  const mode = str(spec, 'volumeMode');
  if (has(spec, 'volumeMode') && !VOLUME_MODES.includes(mode))
    errors.notSupported(at.child('volumeMode'), mode, VOLUME_MODES);
}

export function validateClaimSpec(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  validateAccessModes(spec, 'at least 1 access mode is required', at, errors);
  validateLabelSelector(dict(spec, 'selector'), at.child('selector'), errors);
  validateModeValues(spec, at, errors);
  const storage = at.child('resources').key('storage');
  const size = quantity(get(dict(spec, 'resources', 'requests'), 'storage'));
  if (size === undefined) errors.required(storage);
  else positive(size, storage, errors);
  validateClassAndMode(spec, at, errors);
  for (const field of ['dataSource', 'dataSourceRef']) {
    const source = dict(spec, field);
    if (source === undefined) continue;
    const here = at.child(field);
    if (str(source, 'name') === '') errors.required(here.child('name'));
    if (str(source, 'kind') === '') errors.required(here.child('kind'));
    const group = str(source, 'apiGroup');
    if (group === '' && str(source, 'kind') !== 'PersistentVolumeClaim')
      errors.invalid(
        here,
        str(source, 'kind'),
        "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
      );
    if (group !== '') messages(group, isDNS1123Subdomain(group), here.child('apiGroup'), errors);
  }
}
