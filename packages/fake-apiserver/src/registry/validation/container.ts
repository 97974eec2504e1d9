// Containers of a pod.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateContainers
import { isValidPortName, isValidPortNum } from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, get, has, num, str, strings } from '../draft.ts';
import { validateEnv } from './container-env.ts';
import { PROBES, validateLifecycleAndProbes } from './container-probes.ts';
import type { ContainerScope } from './container-scope.ts';
import { validateDescendingPath } from './descending-path.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { validateSeccomp } from './pod-security-context.ts';
import { validateResourceRequirements } from './quota.ts';
import { dnsLabel, messages, oneOf, PROTOCOLS } from './values.ts';

function validatePorts(container: Draft, at: FieldPath, errors: FieldErrors): void {
  const names = new Set<string>();
  dicts(container, 'ports').forEach((port, index) => {
    const here = at.child('ports').index(index);
    const name = str(port, 'name');
    if (name !== '') {
      const wrong = isValidPortName(name);
      messages(name, wrong, here.child('name'), errors);
      if (wrong.length === 0 && names.has(name)) errors.duplicate(here.child('name'), name);
      if (wrong.length === 0) names.add(name);
    }
    const number = num(port, 'containerPort') ?? 0;
    if (number === 0) errors.required(here.child('containerPort'));
    else messages(number, isValidPortNum(number), here.child('containerPort'), errors);
    const host = num(port, 'hostPort') ?? 0;
    if (host !== 0) messages(host, isValidPortNum(host), here.child('hostPort'), errors);
    oneOf(port, 'protocol', PROTOCOLS, here, errors);
  });
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function validateMounts(container: Draft, scope: ContainerScope, at: FieldPath, errors: FieldErrors): void {
  const points = new Set<string>();
  const all = at.child('volumeMounts');
  dicts(container, 'volumeMounts').forEach((mount, index) => {
    const here = all.index(index);
    const [name, point] = [str(mount, 'name'), str(mount, 'mountPath')];
    if (name === '') errors.required(here.child('name'));
    if (!scope.volumes.has(name)) errors.notFound(here.child('name'), name);
    if (point === '') errors.required(here.child('mountPath'));
    if (points.has(point)) errors.invalid(here.child('mountPath'), point, 'must be unique');
    points.add(point);
    const sub = str(mount, 'subPath');
    if (sub !== '') validateDescendingPath(sub, all.child('subPath'), errors);
    const expression = str(mount, 'subPathExpr');
    if (expression !== '') {
      if (sub !== '')
        errors.invalid(here.child('subPathExpr'), expression, 'subPathExpr and subPath are mutually exclusive');
      validateDescendingPath(expression, all.child('subPathExpr'), errors);
    }
    const propagation = str(mount, 'mountPropagation');
    if (propagation === '') return;
    if (!PROPAGATIONS.includes(propagation))
      errors.notSupported(all.child('mountPropagation'), propagation, PROPAGATIONS);
    if (propagation === 'Bidirectional' && !bool(dict(container, 'securityContext'), 'privileged')) {
      errors.forbidden(
        all.child('mountPropagation'),
        'Bidirectional mount propagation is available only to privileged containers',
      );
    }
  });
}

function validateSecurityContext(container: Draft, at: FieldPath, errors: FieldErrors): void {
  const context = dict(container, 'securityContext');
  if (context === undefined) return;
  for (const field of ['runAsUser', 'runAsGroup']) {
    const id = num(context, field);
    if (id !== undefined && (id < 0 || id > 2_147_483_647))
      errors.invalid(at.child('securityContext', field), id, 'must be between 0 and 2147483647, inclusive');
  }
  validateSeccomp(dict(context, 'seccompProfile'), at.child('securityContext', 'seccompProfile'), errors);
  if (get(context, 'allowPrivilegeEscalation') !== false) return;
  const here = at.child('securityContext');
  if (bool(context, 'privileged'))
    errors.invalid(here, go(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  if (strings(dict(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN'))
    errors.invalid(
      here,
      go(context),
      'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    );
}

const go = (context: Draft): string => JSON.stringify(context);

function validateCommon(container: Draft, scope: ContainerScope, at: FieldPath, errors: FieldErrors): void {
  const name = str(container, 'name');
  if (name === '') errors.required(at.child('name'));
  else dnsLabel(name, at.child('name'), errors);
  const image = str(container, 'image');
  if (image === '') errors.required(at.child('image'));
  oneOf(container, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], at, errors);
  validatePorts(container, at, errors);
  validateEnv(container, at, errors);
  validateMounts(container, scope, at, errors);
  oneOf(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], at, errors);
  validateResourceRequirements(dict(container, 'resources'), at.child('resources'), errors);
  validateSecurityContext(container, at, errors);
}

function validateHostPorts(containers: readonly Draft[], at: FieldPath, errors: FieldErrors): void {
  const seen = new Set<string>();
  containers.forEach((container, index) => {
    dicts(container, 'ports').forEach((port, i) => {
      const number = num(port, 'hostPort') ?? 0;
      if (number === 0) return;
      const id = `${str(port, 'protocol')}/${str(port, 'hostIP')}/${number}`;
      if (seen.has(id)) errors.duplicate(at.index(index).child('ports').index(i).child('hostPort'), id);
      seen.add(id);
    });
  });
}

export function validateContainers(
  containers: readonly Draft[],
  scope: ContainerScope,
  at: FieldPath,
  errors: FieldErrors,
): void {
  if (containers.length === 0) {
    errors.required(at);
    return;
  }
  const names = new Set<string>();
  containers.forEach((container, index) => {
    const here = at.index(index);
    validateCommon(container, scope, here, errors);
    const name = str(container, 'name');
    if (names.has(name)) errors.duplicate(here.child('name'), name);
    names.add(name);
    validateLifecycleAndProbes(container, scope, here, errors);
    if (has(container, 'restartPolicy'))
      errors.forbidden(here.child('restartPolicy'), 'may not be set for non-init containers');
  });
  validateHostPorts(containers, at, errors);
}

export function validateInitContainers(
  containers: readonly Draft[],
  regular: readonly Draft[],
  scope: ContainerScope,
  at: FieldPath,
  errors: FieldErrors,
): void {
  const names = new Set(regular.map((container) => str(container, 'name')));
  containers.forEach((container, index) => {
    const here = at.index(index);
    validateCommon(container, scope, here, errors);
    const restart = str(container, 'restartPolicy');
    if (restart !== '' && restart !== 'Always') errors.notSupported(here.child('restartPolicy'), restart, ['Always']);
    const name = str(container, 'name');
    if (names.has(name)) errors.duplicate(here.child('name'), name);
    else if (name !== '') names.add(name);
    validateHostPorts([container], at, errors);
    if (restart === 'Always') validateLifecycleAndProbes(container, scope, here, errors);
    else {
      for (const field of ['lifecycle', ...PROBES]) {
        if (has(container, field))
          errors.forbidden(here.child(field), 'may not be set for init containers without restartPolicy=Always');
      }
    }
  });
}
