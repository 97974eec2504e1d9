// Probes and lifecycle handlers of a container.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateProbe, #validateHandler
import { isHTTPHeaderName } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, get, num, str, strings } from '../draft.ts';
import type { ContainerScope } from './container-scope.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { messages, nonnegative, portNumOrName } from './values.ts';

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

export const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

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

export function validateLifecycleAndProbes(
  container: Draft,
  scope: ContainerScope,
  at: FieldPath,
  errors: FieldErrors,
): void {
  for (const hook of ['postStart', 'preStop']) {
    const handler = dict(container, 'lifecycle', hook);
    if (handler !== undefined) validateHandler(handler, scope, at.child('lifecycle', hook), errors);
  }
  for (const kind of PROBES) validateProbe(container, kind, scope, at, errors);
}
