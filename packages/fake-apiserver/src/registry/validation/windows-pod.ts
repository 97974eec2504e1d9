// Fields that mean nothing on Windows must not be set for its pods.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateOS, validateWindows, validateLinux
import { bool, type Draft, dict, dicts, has, list, str } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';

const SYSTEMS = ['linux', 'windows'];
const POD = ['appArmorProfile', 'seLinuxOptions'];
const POD_LATER = ['seccompProfile', 'fsGroup', 'fsGroupChangePolicy'];
const CONTAINER = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

/** Containers with their paths, in upstream's order of visits. */
export function visitContainers(spec: Draft, at: FieldPath, visit: (container: Draft, here: FieldPath) => void): void {
  for (const field of ['initContainers', 'containers', 'ephemeralContainers']) {
    dicts(spec, field).forEach((container, index) => {
      visit(container, at.child(field).index(index));
    });
  }
}

function validateWindows(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const refuse = (here: FieldPath): void => errors.forbidden(here, 'cannot be set for a windows pod');
  const context = dict(spec, 'securityContext');
  const there = at.child('securityContext');
  for (const field of POD) if (has(context, field)) refuse(there.child(field));
  if (has(spec, 'hostUsers')) refuse(at.child('hostUsers'));
  for (const field of ['hostPID', 'hostIPC']) if (bool(spec, field)) refuse(at.child(field));
  for (const field of POD_LATER) if (has(context, field)) refuse(there.child(field));
  if (list(context, 'sysctls').length > 0) refuse(there.child('sysctls'));
  if (has(spec, 'shareProcessNamespace')) refuse(at.child('shareProcessNamespace'));
  for (const field of ['runAsUser', 'runAsGroup', 'supplementalGroups'])
    if (has(context, field)) refuse(there.child(field));
  visitContainers(spec, at, (container, here) => {
    const own = dict(container, 'securityContext');
    for (const field of CONTAINER) if (has(own, field)) refuse(here.child('securityContext', field));
  });
}

function validateLinux(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const refuse = (here: FieldPath): void => errors.forbidden(here, 'windows options cannot be set for a linux pod');
  const set = (of: Draft | undefined): boolean => has(dict(of, 'securityContext'), 'windowsOptions');
  if (set(spec)) refuse(at.child('securityContext', 'windowsOptions'));
  visitContainers(spec, at, (container, here) => {
    if (set(container)) refuse(here.child('securityContext', 'windowsOptions'));
  });
}

/** The name of the system itself. */
export function validateOs(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  if (!has(spec, 'os')) return;
  const name = str(dict(spec, 'os'), 'name');
  if (name === '') errors.required(at.child('os', 'name'), 'cannot be empty');
  else if (!SYSTEMS.includes(name)) errors.notSupported(at.child('os'), name, SYSTEMS);
}

/** Fields that its system does not have. */
export function validateForOs(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const name = str(dict(spec, 'os'), 'name');
  if (name === 'linux') validateLinux(spec, at, errors);
  if (name === 'windows') validateWindows(spec, at, errors);
}
