// Persistent volumes and claims.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePersistentVolume, ValidatePersistentVolumeClaim
// Differs: the forbidden-change message lists the changed fields instead of Go's struct diff.
import { goQuote, isDNS1123Subdomain, type Quantity } from '@kube-rx/apimachinery';
import { clone, type Draft, dict, ensure, get, has, put, semanticEqual, str, strings } from '../draft.ts';
import { validateNodeSelector } from './affinity.ts';
import { type FieldErrors, type FieldPath, go, path } from './field-errors.ts';
import { validateLabelSelector } from './labels.ts';
import { validateImmutable } from './object-meta.ts';
import { goQuantity, messages, quantities, quantity } from './values.ts';

const SPEC = path('spec');
const MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

function validateAccessModes(spec: Draft, detail: string, errors: FieldErrors): void {
  const at = SPEC.child('accessModes');
  const modes = strings(spec, 'accessModes');
  if (modes.length === 0) errors.required(at, detail);
}

function validateModeValues(spec: Draft, errors: FieldErrors): void {
  const at = SPEC.child('accessModes');
  const modes = strings(spec, 'accessModes');
  for (const mode of modes) if (!MODES.includes(mode)) errors.notSupported(at, mode, MODES);
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others)
    errors.forbidden(at, 'may not use ReadWriteOncePod with other access modes');
}

function positive(value: Quantity, at: FieldPath, errors: FieldErrors): void {
  if (value.sign <= 0) errors.invalid(at, value.toString(), 'must be greater than zero');
}

function validateClassAndMode(spec: Draft, errors: FieldErrors): void {
  const name = str(spec, 'storageClassName');
  if (name !== '') messages(name, isDNS1123Subdomain(name), SPEC.child('storageClassName'), errors);
  const mode = str(spec, 'volumeMode');
  if (has(spec, 'volumeMode') && !VOLUME_MODES.includes(mode))
    errors.notSupported(SPEC.child('volumeMode'), mode, VOLUME_MODES);
}

export function validateClaim(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  validateAccessModes(spec, 'at least 1 access mode is required', errors);
  validateLabelSelector(dict(spec, 'selector'), SPEC.child('selector'), errors);
  validateModeValues(spec, errors);
  const at = SPEC.child('resources').key('storage');
  const size = quantity(get(dict(spec, 'resources', 'requests'), 'storage'));
  if (size === undefined) errors.required(at);
  else positive(size, at, errors);
  validateClassAndMode(spec, errors);
  for (const field of ['dataSource', 'dataSourceRef']) {
    const source = dict(spec, field);
    if (source === undefined) continue;
    const here = SPEC.child(field);
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

export function validateClaimUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateClaim(object, errors);
  const rest = clone(dict(object, 'spec') ?? {});
  const oldSpec = clone(dict(old, 'spec') ?? {});
  if (str(oldSpec, 'volumeName') === '' && has(rest, 'volumeName')) put(oldSpec, 'volumeName', get(rest, 'volumeName'));
  const size = (spec: Draft): Quantity | undefined => quantity(get(dict(spec, 'resources', 'requests'), 'storage'));
  const [now, before] = [size(rest), size(oldSpec)];
  if (str(dict(object, 'status'), 'phase') === 'Bound' && before !== undefined)
    put(ensure(rest, 'resources', 'requests'), 'storage', before.toString());
  if (
    !has(oldSpec, 'storageClassName') &&
    !has(dict(old, 'metadata', 'annotations'), 'volume.beta.kubernetes.io/storage-class')
  )
    delete rest['storageClassName'];
  if (!semanticEqual(rest, oldSpec)) {
    const changed = [...new Set([...Object.keys(rest), ...Object.keys(oldSpec)])]
      .filter((field) => !semanticEqual(get(rest, field), get(oldSpec, field)))
      .sort();
    errors.forbidden(
      SPEC,
      `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\nchanged: ${changed.join(', ')}`,
    );
  }
  if (now !== undefined && before !== undefined && now.compare(before) < 0)
    errors.forbidden(SPEC.child('resources', 'requests', 'storage'), 'field can not be less than previous value');
  const mode = (subject: Draft): unknown => get(dict(subject, 'spec'), 'volumeMode');
  validateImmutable(mode(object), mode(old), errors, path('volumeMode'));
}

/** Sources a volume may have, in upstream's order, with the fields they need. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  hostPath: ['path'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  nfs: ['server', 'path'],
  rbd: ['image'],
  quobyte: ['registry', 'volume'],
  cephfs: [],
  iscsi: ['targetPortal', 'iqn'],
  cinder: ['volumeID'],
  fc: [],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  local: ['path'],
  storageos: ['volumeName'],
  csi: ['driver', 'volumeHandle'],
};

function validateSource(spec: Draft, errors: FieldErrors): void {
  let found = 0;
  for (const [type, fields] of Object.entries(SOURCES)) {
    const source = dict(spec, type);
    if (source === undefined) continue;
    if (found > 0) errors.forbidden(SPEC.child(type), 'may not specify more than 1 volume type');
    else for (const field of fields) if (str(source, field) === '') errors.required(SPEC.child(type, field));
    if (type === 'local' && found === 0 && !has(dict(spec, 'nodeAffinity'), 'required'))
      errors.required(SPEC.child('nodeAffinity'), 'Local volume requires node affinity');
    found += 1;
  }
  if (found === 0) errors.required(SPEC, 'must specify a volume type');
}

function goResourceList(list: ReturnType<typeof quantities>): string {
  if (list.length === 0) return 'core.ResourceList(nil)';
  return `core.ResourceList{${list.map(([name, value]) => `${goQuote(name)}:${goQuantity(value)}`).join(', ')}}`;
}

export function validateVolume(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  validateAccessModes(spec, '', errors);
  validateModeValues(spec, errors);
  const capacity = quantities(spec, 'capacity');
  const at = SPEC.child('capacity');
  if (capacity.length === 0) errors.required(at);
  if (capacity.length !== 1 || capacity[0]?.[0] !== 'storage')
    errors.notSupported(at, go(goResourceList(capacity)), ['storage']);
  for (const [name, value] of capacity) positive(value, at.key(name), errors);
  const policy = str(spec, 'persistentVolumeReclaimPolicy');
  const policies = ['Delete', 'Recycle', 'Retain'];
  if (policy !== '' && !policies.includes(policy))
    errors.notSupported(SPEC.child('persistentVolumeReclaimPolicy'), policy, policies);
  const affinity = dict(spec, 'nodeAffinity');
  if (affinity !== undefined) {
    const required = dict(affinity, 'required');
    if (required === undefined)
      errors.required(SPEC.child('nodeAffinity', 'required'), 'must specify required node constraints');
    else validateNodeSelector(required, SPEC.child('nodeAffinity', 'required'), errors);
  }
  validateSource(spec, errors);
  if (str(dict(spec, 'hostPath'), 'path') === '/' && policy === 'Recycle')
    errors.forbidden(SPEC.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'");
  validateClassAndMode(spec, errors);
}

export function validateVolumeUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateVolume(object, errors);
  const [spec, oldSpec] = [dict(object, 'spec') ?? {}, dict(old, 'spec') ?? {}];
  const changed = Object.keys(SOURCES).filter((type) => !semanticEqual(get(spec, type), get(oldSpec, type)));
  if (changed.length > 0)
    errors.forbidden(
      SPEC.child('persistentvolumesource'),
      `spec.persistentvolumesource is immutable after creation\nchanged: ${changed.join(', ')}`,
    );
  validateImmutable(get(spec, 'volumeMode'), get(oldSpec, 'volumeMode'), errors, path('volumeMode'));
}
