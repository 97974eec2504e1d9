// The security context of a whole pod.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validatePodSpecSecurityContext
// Differs: options of Windows and AppArmor are not looked at.
import { bool, type Draft, dict, dicts, has, list, num, str } from '../draft.ts';
import { validateDescendingPath } from './descending-path.ts';
import { type FieldErrors, type FieldPath, go } from './field-errors.ts';

const MAX_ID = 2_147_483_647;
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const MAX_SYSCTL = 253;
const CHANGE_POLICIES = ['Always', 'OnRootMismatch'];
const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateId(id: unknown, at: FieldPath, errors: FieldErrors): void {
  if (typeof id !== 'number' || (id >= 0 && id <= MAX_ID)) return;
  errors.invalid(at, id, 'must be between 0 and 2147483647, inclusive');
}

function validateSysctls(context: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(context, 'sysctls').forEach((sysctl, index) => {
    const here = at.index(index).child('name');
    const name = str(sysctl, 'name');
    if (name === '') errors.required(here);
    else if (name.length > MAX_SYSCTL || !SYSCTL.test(name))
      errors.invalid(here, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL_TEXT}`);
    else if (seen.has(name)) errors.duplicate(here, name);
    seen.add(name);
  });
}

export function validateSeccomp(profile: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  if (profile === undefined) return;
  const type = str(profile, 'type');
  if (type === '') errors.required(at.child('type'), 'type is required when seccompProfile is set');
  else if (!PROFILES.includes(type)) errors.notSupported(at.child('type'), type, PROFILES);
  const here = at.child('localhostProfile');
  if (type !== 'Localhost') {
    const shown = `core.SeccompProfile{Type:${JSON.stringify(type)}, LocalhostProfile:(*string)(0xc000000000)}`;
    if (has(profile, 'localhostProfile'))
      errors.invalid(here, go(shown), 'can only be set when seccomp type is Localhost');
  } else if (!has(profile, 'localhostProfile')) {
    errors.required(here, 'must be set when seccomp type is Localhost');
  } else validateDescendingPath(str(profile, 'localhostProfile'), here, errors);
}

export function validatePodSecurityContext(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const context = dict(spec, 'securityContext');
  const here = at.child('securityContext');
  for (const field of ['fsGroup', 'runAsUser', 'runAsGroup'])
    validateId(num(context, field), here.child(field), errors);
  list(context, 'supplementalGroups').forEach((id, index) => {
    validateId(id, here.child('supplementalGroups').index(index), errors);
  });
  if (bool(spec, 'shareProcessNamespace') && bool(spec, 'hostPID')) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(here.child('shareProcessNamespace'), true, detail);
  }
  validateSysctls(context, here.child('sysctls'), errors);
  const change = str(context, 'fsGroupChangePolicy');
  if (has(context, 'fsGroupChangePolicy') && !CHANGE_POLICIES.includes(change))
    errors.notSupported(here.child('fsGroupChangePolicy'), change, CHANGE_POLICIES);
  validateSeccomp(dict(context, 'seccompProfile'), here.child('seccompProfile'), errors);
}
