// Persistent volumes and claims.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePersistentVolume, ValidatePersistentVolumeClaim
// Differs: the forbidden-change message lists the changed fields instead of Go's struct diff.
import { goQuote, type Quantity } from '@kube-rx/apimachinery';
import { clone, type Draft, dict, ensure, get, has, put, semanticEqual, str } from '../draft.ts';
import { validateNodeSelector } from './affinity.ts';
import {
  positive,
  validateAccessModes,
  validateClaimSpec,
  validateClassAndMode,
  validateModeValues,
} from './claim-spec.ts';
import { type FieldErrors, go, path } from './field-errors.ts';
import { validateImmutable } from './object-meta.ts';
import { goQuantity, quantities, quantity } from './values.ts';
import { validateDriverName } from './volumes.ts';

const SPEC = path('spec');
export function validateClaim(object: Draft, errors: FieldErrors): void {
  validateClaimSpec(dict(object, 'spec') ?? {}, SPEC, errors);
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
    else {
      for (const field of fields) {
        if (type === 'csi' && field === 'driver')
          validateDriverName(str(source, field), SPEC.child(type, field), errors);
        else if (str(source, field) === '') errors.required(SPEC.child(type, field));
      }
    }
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
  validateAccessModes(spec, '', SPEC, errors);
  validateModeValues(spec, SPEC, errors);
  const capacity = quantities(spec, 'capacity');
  const at = SPEC.child('capacity');
  if (capacity.length === 0) errors.required(at);
  if (capacity.length !== 1 || capacity[0]?.[0] !== 'storage')
    errors.notSupported(
      at,
      go(capacity.length === 0 && has(spec, 'capacity') ? 'core.ResourceList{}' : goResourceList(capacity)),
      ['storage'],
    );
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
  validateClassAndMode(spec, SPEC, errors);
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
  const [affinity, before] = [get(spec, 'nodeAffinity'), get(oldSpec, 'nodeAffinity')];
  if (before === undefined || semanticEqual(affinity, before)) return;
  const selector = has(dict(spec, 'nodeAffinity'), 'required') ? '0xc000000000' : 'nil';
  const shown =
    affinity === undefined ? null : go(`core.VolumeNodeAffinity{Required:(*core.NodeSelector)(${selector})}`);
  errors.invalid(path('nodeAffinity'), shown, 'field is immutable, except for updating from beta label to GA');
}
