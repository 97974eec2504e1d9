// Containers of a pod.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateContainers
import {
  isConfigMapKey,
  isDNS1123Subdomain,
  isEnvVarName,
  isHTTPHeaderName,
  isValidPortName,
  isValidPortNum,
} from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, get, has, num, str, strings } from '../draft.ts';
import { validateObjectFieldSelector, validateResourceFieldSelector } from './downward-api.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { validateResourceRequirements } from './quota.ts';
import { dnsLabel, messages, nonnegative, oneOf, PROTOCOLS, portNumOrName } from './values.ts';

export interface ContainerScope {
  /** Names of the valid volumes of the pod. */
  readonly volumes: ReadonlySet<string>;
  readonly gracePeriodSeconds: number;
}

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

function validateKeyRef(ref: Draft, at: FieldPath, errors: FieldErrors): void {
  const name = str(ref, 'name');
  messages(name, isDNS1123Subdomain(name), at.child('name'), errors);
  const key = str(ref, 'key');
  if (key === '') errors.required(at.child('key'));
  else messages(key, isConfigMapKey(key), at.child('key'), errors);
}

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

function validateEnvSource(variable: Draft, at: FieldPath, errors: FieldErrors): void {
  const source = dict(variable, 'valueFrom');
  if (source === undefined) return;
  let sources = 0;
  const fieldRef = dict(source, 'fieldRef');
  if (fieldRef !== undefined) {
    sources += 1;
    validateObjectFieldSelector(fieldRef, ENV_FIELDS, at.child('fieldRef'), errors);
  }
  const resource = dict(source, 'resourceFieldRef');
  if (resource !== undefined) {
    sources += 1;
    validateResourceFieldSelector(resource, at.child('resourceFieldRef'), errors, false);
  }
  for (const field of ['configMapKeyRef', 'secretKeyRef']) {
    const ref = dict(source, field);
    if (ref === undefined) continue;
    sources += 1;
    validateKeyRef(ref, at.child(field), errors);
  }
  if (sources === 0)
    errors.invalid(at, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`');
  else if (str(variable, 'value') !== '') errors.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) errors.invalid(at, '', 'may not have more than one field specified at a time');
}

function validateEnv(container: Draft, at: FieldPath, errors: FieldErrors): void {
  dicts(container, 'env').forEach((variable, index) => {
    const here = at.child('env').index(index);
    const name = str(variable, 'name');
    if (name === '') errors.required(here.child('name'));
    else messages(name, isEnvVarName(name), here.child('name'), errors);
    validateEnvSource(variable, here.child('valueFrom'), errors);
  });
  dicts(container, 'envFrom').forEach((source, index) => {
    const here = at.child('envFrom').index(index);
    const prefix = str(source, 'prefix');
    if (prefix !== '') messages(prefix, isEnvVarName(prefix), here.child('prefix'), errors);
    const refs = ['configMapRef', 'secretRef'].filter((field) => has(source, field));
    for (const field of refs) {
      const name = str(dict(source, field), 'name');
      if (name === '') errors.required(here.child(field, 'name'));
      else messages(name, isDNS1123Subdomain(name), here.child(field, 'name'), errors);
    }
    if (refs.length === 0)
      errors.invalid(at.child('envFrom'), '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (refs.length > 1)
      errors.invalid(at.child('envFrom'), '', 'may not have more than one field specified at a time');
  });
}

/** A path inside a volume. */
export function validateDescendingPath(text: string, at: FieldPath, errors: FieldErrors): void {
  if (text.startsWith('/')) errors.invalid(at, text, 'must be a relative path');
  if (text.split('/').includes('..')) errors.invalid(at, text, "must not contain '..'");
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

function validateHttpGet(action: Draft, at: FieldPath, errors: FieldErrors): void {
  if (str(action, 'path') === '') errors.required(at.child('path'));
  portNumOrName(get(action, 'port'), at.child('port'), errors);
  const scheme = str(action, 'scheme');
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') errors.notSupported(at.child('scheme'), scheme, ['HTTP', 'HTTPS']);
  for (const header of dicts(action, 'httpHeaders')) {
    const name = str(header, 'name');
    messages(name, isHTTPHeaderName(name), at.child('httpHeaders'), errors);
  }
}

const HANDLERS: Readonly<
  Record<string, (action: Draft, at: FieldPath, errors: FieldErrors, scope: ContainerScope) => void>
> = {
  exec: (action, at, errors) => {
    if (strings(action, 'command').length === 0) errors.required(at.child('command'));
  },
  httpGet: validateHttpGet,
  tcpSocket: (action, at, errors) => portNumOrName(get(action, 'port'), at.child('port'), errors),
  grpc: (action, at, errors) => portNumOrName(num(action, 'port') ?? 0, at.child('port'), errors),
  sleep: (action, at, errors, { gracePeriodSeconds }) => {
    const seconds = num(action, 'seconds') ?? 0;
    if (seconds > 0 && seconds <= gracePeriodSeconds) return;
    errors.invalid(
      at,
      seconds,
      `must be greater than 0 and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`,
    );
  },
};

function validateHandler(handler: Draft, scope: ContainerScope, at: FieldPath, errors: FieldErrors): void {
  let found = 0;
  for (const [type, validate] of Object.entries(HANDLERS)) {
    const action = dict(handler, type);
    if (action === undefined) continue;
    if (found > 0) errors.forbidden(at.child(type), 'may not specify more than 1 handler type');
    else validate(action, at.child(type), errors, scope);
    found += 1;
  }
  if (found === 0) errors.required(at, 'must specify a handler type');
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function validateProbe(
  container: Draft,
  kind: string,
  scope: ContainerScope,
  at: FieldPath,
  errors: FieldErrors,
): void {
  const probe = dict(container, kind);
  if (probe === undefined) return;
  const here = at.child(kind);
  validateHandler(probe, scope, here, errors);
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ])
    nonnegative(probe, field, here, errors);
  const grace = num(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace <= 0)
    errors.invalid(here.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0');
  if (kind === 'readinessProbe') {
    if (grace !== undefined)
      errors.invalid(here.child('terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes');
  } else if (num(probe, 'successThreshold') !== 1)
    errors.invalid(here.child('successThreshold'), num(probe, 'successThreshold') ?? 0, 'must be 1');
}

function validateLifecycleAndProbes(container: Draft, scope: ContainerScope, at: FieldPath, errors: FieldErrors): void {
  for (const hook of ['postStart', 'preStop']) {
    const handler = dict(container, 'lifecycle', hook);
    if (handler !== undefined) validateHandler(handler, scope, at.child('lifecycle', hook), errors);
  }
  for (const kind of PROBES) validateProbe(container, kind, scope, at, errors);
}

function validateCommon(container: Draft, scope: ContainerScope, at: FieldPath, errors: FieldErrors): void {
  const name = str(container, 'name');
  if (name === '') errors.required(at.child('name'));
  else dnsLabel(name, at.child('name'), errors);
  if (str(container, 'image') === '') errors.required(at.child('image'));
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
