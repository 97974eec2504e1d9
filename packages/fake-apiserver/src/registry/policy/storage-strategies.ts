// Storage classes, CSI objects and volume attachments.
// Upstream: kubernetes@v1.30.3:pkg/registry/storage/*/strategy.go, pkg/apis/storage/validation/validation.go
import { isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, entries, get, has, num, put, semanticEqual, str, strings } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { dropStatus, keep, keepMeta } from '../strategy-parts.ts';
import { type FieldErrors, path } from '../validation/field-errors.ts';
import { validateLabelName, validateLabelSelector } from '../validation/labels.ts';
import { metadata, validateImmutable } from '../validation/object-meta.ts';
import { messages, qualifiedName, quantity } from '../validation/values.ts';
import { validateDriverName } from '../validation/volumes.ts';

const MAX_PARAMETER_BYTES = 256 * 1024;
const MAX_PARAMETERS = 512;

function validateClass(object: Draft, errors: FieldErrors): void {
  const provisioner = str(object, 'provisioner');
  if (provisioner === '') errors.required(path('provisioner'));
  else qualifiedName(provisioner.toLowerCase(), path('provisioner'), errors);
  const parameters = entries(object, 'parameters');
  const at = path('parameters');
  if (parameters.length > MAX_PARAMETERS) errors.tooLong(at, MAX_PARAMETERS);
  else {
    let bytes = 0;
    for (const [key, value] of parameters) {
      if (key === '') errors.invalid(at, key, 'field can not be empty.');
      bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    }
    if (bytes > MAX_PARAMETER_BYTES) errors.tooLong(at, MAX_PARAMETER_BYTES);
  }
  const policy = str(object, 'reclaimPolicy');
  if (policy !== '' && policy !== 'Delete' && policy !== 'Retain')
    errors.notSupported(path('reclaimPolicy'), policy, ['Delete', 'Retain']);
  const mode = str(object, 'volumeBindingMode');
  const modes = ['Immediate', 'WaitForFirstConsumer'];
  if (mode === '') errors.required(path('volumeBindingMode'));
  else if (!modes.includes(mode)) errors.notSupported(path('volumeBindingMode'), mode, modes);
  validateAllowedTopologies(object, errors);
}

function validateAllowedTopologies(object: Draft, errors: FieldErrors): void {
  const terms: string[] = [];
  const all = dicts(object, 'allowedTopologies');
  all.forEach((term, index) => {
    const at = path('allowedTopologies').index(index).child('matchLabelExpressions');
    const keys = new Map<string, readonly string[]>();
    dicts(term, 'matchLabelExpressions').forEach((requirement, i) => {
      const here = at.index(i);
      const [key, values] = [str(requirement, 'key'), strings(requirement, 'values')];
      if (values.length === 0) errors.required(here.child('values'));
      values.forEach((value, position) => {
        if (values.indexOf(value) < position) errors.duplicate(here.child('values').index(position), value);
      });
      validateLabelName(key, here.child('key'), errors);
      if (keys.has(key)) errors.duplicate(here.child('key'), key);
      keys.set(key, [...new Set(values)].sort());
    });
    const id = JSON.stringify([...keys].sort(([a], [b]) => (a < b ? -1 : 1)));
    // Upstream compares with as many empty terms as there are terms, too.
    const same = terms.filter((other) => other === id).length + (keys.size === 0 ? all.length : 0);
    for (let left = same; left > 0; left--) errors.duplicate(at, '');
    terms.push(id);
  });
}

export const storageClassStrategy: Strategy = {
  namespaced: false,
  returnDeletedObject: true,
  validateCreate: validateClass,
  validateUpdate(object, old, errors) {
    validateClass(object, errors);
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy']) {
      if (!semanticEqual(get(object, field), get(old, field)))
        errors.forbidden(path(field), `updates to ${field} are forbidden.`);
    }
    validateImmutable(
      get(object, 'volumeBindingMode'),
      get(old, 'volumeBindingMode'),
      errors,
      path('volumeBindingMode'),
    );
  },
};

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];

function validateDriver(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const at = path('spec');
  const policy = str(spec, 'fsGroupPolicy');
  if (policy !== '' && !GROUP_POLICIES.includes(policy))
    errors.notSupported(at.child('fsGroupPolicy'), policy, GROUP_POLICIES);
  const audiences = new Set<string>();
  dicts(spec, 'tokenRequests').forEach((request, index) => {
    const here = at.child('tokenRequests').index(index);
    const audience = str(request, 'audience');
    if (audiences.has(audience)) errors.duplicate(here.child('audience'), audience);
    audiences.add(audience);
    const seconds = num(request, 'expirationSeconds');
    if (seconds !== undefined && seconds < 600)
      errors.invalid(here.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes');
  });
  for (const mode of strings(spec, 'volumeLifecycleModes')) {
    if (mode !== 'Persistent' && mode !== 'Ephemeral')
      errors.notSupported(at.child('volumeLifecycleModes'), mode, ['Persistent', 'Ephemeral']);
  }
}

export const csiDriverStrategy: Strategy = {
  namespaced: false,
  allowUnconditionalUpdate: false,
  returnDeletedObject: true,
  prepareForUpdate(object, old) {
    // No generation at create, but changes are counted from there.
    if (!semanticEqual(get(object, 'spec'), get(old, 'spec')))
      put(metadata(object), 'generation', (num(metadata(old), 'generation') ?? 0) + 1);
  },
  validateCreate: validateDriver,
  validateUpdate(object, old, errors) {
    validateDriver(object, errors);
    const [spec, oldSpec] = [dict(object, 'spec'), dict(old, 'spec')];
    validateImmutable(
      get(spec, 'attachRequired'),
      get(oldSpec, 'attachRequired'),
      errors,
      path('spec', 'attachedRequired'),
    );
    validateImmutable(
      get(spec, 'volumeLifecycleModes'),
      get(oldSpec, 'volumeLifecycleModes'),
      errors,
      path('spec', 'volumeLifecycleModes'),
    );
  },
};

function validateNodeDrivers(object: Draft, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(dict(object, 'spec'), 'drivers').forEach((driver, index) => {
    const at = path('spec', 'drivers').index(index);
    const name = str(driver, 'name');
    validateDriverName(name, at.child('name'), errors);
    if (str(driver, 'nodeID') === '') errors.required(at.child('nodeID'));
    if (seen.has(name)) errors.duplicate(at.child('name'), name);
    seen.add(name);
  });
}

export const csiNodeStrategy: Strategy = {
  namespaced: false,
  allowUnconditionalUpdate: false,
  returnDeletedObject: true,
  validateCreate: validateNodeDrivers,
  validateUpdate(object, old, errors) {
    validateNodeDrivers(object, errors);
    const now = dicts(dict(object, 'spec'), 'drivers');
    for (const before of dicts(dict(old, 'spec'), 'drivers')) {
      const same = now.find((driver) => str(driver, 'name') === str(before, 'name'));
      if (same !== undefined && !semanticEqual(same, before))
        errors.invalid(path('CSINodeDriver'), same, 'field is immutable');
    }
  },
};

function validateCapacity(object: Draft, errors: FieldErrors): void {
  validateLabelSelector(dict(object, 'nodeTopology'), path('nodeTopology'), errors);
  const name = str(object, 'storageClassName');
  messages(name, isDNS1123Subdomain(name), path('storageClassName'), errors);
  const capacity = quantity(get(object, 'capacity'));
  if (capacity !== undefined && capacity.sign < 0)
    errors.invalid(path('capacity'), capacity.toString(), 'must be greater than or equal to 0');
}

export const csiStorageCapacityStrategy: Strategy = {
  namespaced: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateCapacity,
  validateUpdate(object, old, errors) {
    validateCapacity(object, errors);
    for (const field of ['nodeTopology', 'storageClassName'])
      validateImmutable(get(object, field), get(old, field), errors, path(field));
  },
};

function validateAttachment(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec');
  const source = dict(spec, 'source');
  if (str(spec, 'attacher') === '') errors.required(path('spec', 'attacher'));
  const [inline, volume] = [has(source, 'inlineVolumeSpec'), has(source, 'persistentVolumeName')];
  const at = path('spec', 'source');
  const exactly = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (!inline && !volume) errors.required(at, exactly);
  else if (inline && volume) errors.forbidden(at, exactly);
  else if (volume && str(source, 'persistentVolumeName') === '')
    errors.required(at.child('persistentVolumeName'), 'must specify non empty persistentVolumeName');
  const node = str(spec, 'nodeName');
  messages(node, isDNS1123Subdomain(node), path('spec', 'nodeName'), errors);
}

export const volumeAttachmentStrategy: Strategy = {
  namespaced: false,
  allowUnconditionalUpdate: false,
  returnDeletedObject: true,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  prepareForCreate: dropStatus,
  prepareForUpdate: (object, old) => keep(object, old, 'status'),
  validateCreate(object, errors) {
    validateAttachment(object, errors);
    const attacher = str(dict(object, 'spec'), 'attacher');
    validateDriverName(attacher, path('spec', 'attacher'), errors);
    const volume = dict(object, 'spec', 'source')?.['persistentVolumeName'];
    if (typeof volume === 'string')
      messages(volume, isDNS1123Subdomain(volume), path('spec', 'source', 'persistentVolumeName'), errors);
  },
  validateUpdate(object, old, errors) {
    validateAttachment(object, errors);
    validateImmutable(get(object, 'spec'), get(old, 'spec'), errors, path('spec'));
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        keep(object, old, 'spec');
        keepMeta(object, old, 'labels', 'annotations', 'finalizers', 'ownerReferences');
      },
    },
  },
};
