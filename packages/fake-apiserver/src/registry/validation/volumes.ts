// Volumes of a pod.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateVolumes
import { isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, num, str } from '../draft.ts';
import { validateClaimSpec } from './claim-spec.ts';
import { validateDescendingPath } from './descending-path.ts';
import { validateObjectFieldSelector, validateResourceFieldSelector } from './downward-api.ts';
import type { FieldErrors } from './field-errors.ts';
import { FieldErrors as Errors, type FieldPath } from './field-errors.ts';
import { dnsLabel, fileMode, messages, quantity } from './values.ts';

const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

function required(source: Draft, at: FieldPath, errors: FieldErrors, ...fields: readonly string[]): void {
  for (const field of fields) if (str(source, field) === '') errors.required(at.child(field));
}

/** A relative path of a file in a volume. */
function validateFilePath(text: string, at: FieldPath, errors: FieldErrors): void {
  validateDescendingPath(text, at, errors);
  // Files of that name belong to the atomic writer.
  if (text.startsWith('..') && !text.startsWith('../')) errors.invalid(at, text, "must not start with '..'");
}

function validateItems(source: Draft, at: FieldPath, errors: FieldErrors): void {
  dicts(source, 'items').forEach((item, index) => {
    const here = at.child('items').index(index);
    required(item, here, errors, 'key', 'path');
    validateFilePath(str(item, 'path'), here.child('path'), errors);
    fileMode(item, 'mode', here, errors);
  });
}

function validateDownwardFile(file: Draft, at: FieldPath, errors: FieldErrors): void {
  required(file, at, errors, 'path');
  validateFilePath(str(file, 'path'), at.child('path'), errors);
  const field = dict(file, 'fieldRef');
  const resource = dict(file, 'resourceFieldRef');
  if (field !== undefined) {
    validateObjectFieldSelector(field, VOLUME_FIELDS, at.child('fieldRef'), errors);
    if (resource !== undefined)
      errors.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resource !== undefined) {
    validateResourceFieldSelector(resource, at.child('resourceFieldRef'), errors, true);
  } else errors.required(at, 'one of fieldRef and resourceFieldRef is required');
  fileMode(file, 'mode', at, errors);
}

const PROJECTIONS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle'];
const MAX_DRIVER_NAME = 63;
const TEN_MINUTES = 600;
const LONGEST = 4_294_967_296;

function validateProjected(source: Draft, at: FieldPath, errors: FieldErrors): void {
  fileMode(source, 'defaultMode', at, errors);
  dicts(source, 'sources').forEach((projection, index) => {
    const here = at.child('sources').index(index);
    const types = PROJECTIONS.filter((type) => has(projection, type));
    for (const type of ['secret', 'configMap']) {
      const one = dict(projection, type);
      if (one === undefined) continue;
      required(one, here.child(type), errors, 'name');
      validateItems(one, here.child(type), errors);
    }
    for (const file of dicts(dict(projection, 'downwardAPI'), 'items'))
      validateDownwardFile(file, here.child('downwardAPI'), errors);
    const token = dict(projection, 'serviceAccountToken');
    if (token !== undefined) {
      const seconds = num(token, 'expirationSeconds') ?? 0;
      const there = here.child('serviceAccountToken');
      if (seconds < TEN_MINUTES)
        errors.invalid(there.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes');
      if (seconds > LONGEST)
        errors.invalid(
          there.child('expirationSeconds'),
          seconds,
          'may not specify a duration larger than 2^32 seconds',
        );
      // Upstream leaves out which source it is.
      if (str(token, 'path') === '') errors.required(at.child('path'));
      validateFilePath(str(token, 'path'), there.child('path'), errors);
    }
    if (types.length > 1) errors.forbidden(here, 'may not specify more than 1 volume type');
  });
}

type SourceCheck = (source: Draft, at: FieldPath, errors: FieldErrors) => void;

const HOST_PATH_TYPES = [
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
  '',
];

const needs =
  (...fields: readonly string[]): SourceCheck =>
  (source, at, errors) =>
    required(source, at, errors, ...fields);

export function validateDriverName(name: string, at: FieldPath, errors: FieldErrors): void {
  if (name === '') errors.required(at);
  if (name.length > MAX_DRIVER_NAME) errors.tooLong(at, MAX_DRIVER_NAME);
  messages(name, isDNS1123Subdomain(name.toLowerCase()), at, errors);
}

/** In upstream's order; types without rules of their own only count. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  emptyDir: (source, at, errors) => {
    const limit = quantity(source['sizeLimit']);
    if (limit !== undefined && limit.sign < 0)
      errors.forbidden(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
  },
  hostPath: (source, at, errors) => {
    const text = str(source, 'path');
    if (text === '') errors.required(at.child('path'));
    else if (text.split('/').includes('..')) errors.invalid(at.child('path'), text, "must not contain '..'");
    const type = str(source, 'type');
    if (!HOST_PATH_TYPES.includes(type)) errors.notSupported(at.child('type'), type, [...HOST_PATH_TYPES].sort());
  },
  gitRepo: needs('repository'),
  gcePersistentDisk: needs('pdName'),
  awsElasticBlockStore: needs('volumeID'),
  secret: (source, at, errors) => {
    required(source, at, errors, 'secretName');
    fileMode(source, 'defaultMode', at, errors);
    validateItems(source, at, errors);
  },
  nfs: (source, at, errors) => {
    required(source, at, errors, 'server', 'path');
    const text = str(source, 'path');
    if (!text.startsWith('/')) errors.invalid(at.child('path'), text, 'must be an absolute path');
  },
  iscsi: needs('targetPortal', 'iqn'),
  glusterfs: needs('endpoints', 'path'),
  flocker: () => {},
  persistentVolumeClaim: needs('claimName'),
  rbd: needs('image'),
  cinder: needs('volumeID'),
  cephfs: () => {},
  quobyte: needs('registry', 'volume'),
  downwardAPI: (source, at, errors) => {
    fileMode(source, 'defaultMode', at, errors);
    for (const file of dicts(source, 'items')) validateDownwardFile(file, at, errors);
  },
  fc: () => {},
  flexVolume: needs('driver'),
  configMap: (source, at, errors) => {
    required(source, at, errors, 'name');
    fileMode(source, 'defaultMode', at, errors);
    validateItems(source, at, errors);
  },
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: needs('diskName', 'diskURI'),
  storageos: needs('volumeName'),
  projected: validateProjected,
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: (source, at, errors) => validateDriverName(str(source, 'driver'), at.child('driver'), errors),
  ephemeral: (source, at, errors) => {
    const here = at.child('volumeClaimTemplate');
    if (!has(source, 'volumeClaimTemplate')) errors.required(here);
    else validateClaimSpec(dict(source, 'volumeClaimTemplate', 'spec') ?? {}, here.child('spec'), errors);
  },
};

function validateSource(volume: Draft, at: FieldPath, errors: FieldErrors): void {
  let found = 0;
  for (const [type, check] of Object.entries(SOURCES)) {
    const source = dict(volume, type);
    if (source === undefined) continue;
    if (found > 0) errors.forbidden(at.child(type), 'may not specify more than 1 volume type');
    else check(source, at.child(type), errors);
    found += 1;
  }
  if (found === 0) errors.required(at, 'must specify a volume type');
}

/** The names of the volumes that are valid; mounts may only name these. */
export function validateVolumes(
  volumes: readonly Draft[],
  podName: string,
  at: FieldPath,
  errors: FieldErrors,
): ReadonlySet<string> {
  const names = new Set<string>();
  volumes.forEach((volume, index) => {
    const here = at.index(index);
    const own = new Errors();
    const name = str(volume, 'name');
    validateSource(volume, here, own);
    if (name === '') own.required(here.child('name'));
    else dnsLabel(name, here.child('name'), own);
    if (names.has(name)) own.duplicate(here.child('name'), name);
    if (has(volume, 'ephemeral') && podName !== '' && name !== '')
      messages(name, isDNS1123Subdomain(`${podName}-${name}`), here.child('name'), own);
    if (own.empty) names.add(name);
    else errors.append(own);
  });
  return names;
}
