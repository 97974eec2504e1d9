import { describe, expect, it } from 'vitest';
import type { Status } from './status.ts';
import { isStatus } from './status.ts';
import * as errors from './status-error.ts';
import { StatusError } from './status-error.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };

describe('StatusError', () => {
  it('carries the Status, its code, reason and retry hint', () => {
    const error = errors.newTooManyRequests('slow down', 7);
    expect([error.message, error.code, error.reason, error.retryAfterSeconds]).toEqual([
      'slow down',
      429,
      'TooManyRequests',
      7,
    ]);
    expect(isStatus(error.status)).toBe(true);
  });

  it('has a text even for an empty Status, and keeps its cause', () => {
    const cause = new Error('socket');
    const error = new StatusError({}, { cause });
    expect([error.message, error.code, error.reason, error.cause]).toEqual(['unknown API error', 0, '', cause]);
  });
});

describe('constructors', () => {
  // Wording and details as recorded from kube-apiserver v1.30.3, or read off its source where no recording exists.
  it.each<[string, StatusError, number, string, string, unknown]>([
    [
      'not found',
      errors.newNotFound(pods, 'web'),
      404,
      'NotFound',
      'pods "web" not found',
      { name: 'web', kind: 'pods' },
    ],
    [
      'exists',
      errors.newAlreadyExists(deployments, 'web'),
      409,
      'AlreadyExists',
      'deployments.apps "web" already exists',
      { name: 'web', group: 'apps', kind: 'deployments' },
    ],
    [
      'generate name',
      errors.newGenerateNameConflict(pods, 'web-x', 1),
      409,
      'AlreadyExists',
      'pods "web-x" already exists, the server was not able to generate a unique name for the object',
      { name: 'web-x', kind: 'pods', retryAfterSeconds: 1 },
    ],
    [
      'conflict',
      errors.newConflict(pods, 'web', 'changed'),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "web": changed',
      { name: 'web', kind: 'pods' },
    ],
    ['apply', errors.newApplyConflict([{ field: '.a' }], 'm'), 409, 'Conflict', 'm', { causes: [{ field: '.a' }] }],
    [
      'forbidden',
      errors.newForbidden(pods, 'web', 'no'),
      403,
      'Forbidden',
      'pods "web" is forbidden: no',
      { name: 'web', kind: 'pods' },
    ],
    [
      'forbidden list',
      errors.newForbidden(pods, '', 'no'),
      403,
      'Forbidden',
      'pods is forbidden: no',
      { kind: 'pods' },
    ],
    [
      'forbidden path',
      errors.newForbidden({ group: '', resource: '' }, '', 'no'),
      403,
      'Forbidden',
      'forbidden: no',
      {},
    ],
    ['unauthorized', errors.newUnauthorized(''), 401, 'Unauthorized', 'not authorized', undefined],
    ['bad request', errors.newBadRequest('bad'), 400, 'BadRequest', 'bad', undefined],
    [
      'method',
      errors.newMethodNotSupported(deployments, 'watch'),
      405,
      'MethodNotAllowed',
      'watch is not supported on resources of kind "deployments.apps"',
      { group: 'apps', kind: 'deployments' },
    ],
    ['expired', errors.newResourceExpired('too old'), 410, 'Expired', 'too old', undefined],
    ['unavailable', errors.newServiceUnavailable('later'), 503, 'ServiceUnavailable', 'later', undefined],
    [
      'internal',
      errors.newInternalError('oops'),
      500,
      'InternalError',
      'Internal error occurred: oops',
      { causes: [{ message: 'oops' }] },
    ],
    ['timeout', errors.newTimeout('slow', 0), 504, 'Timeout', 'Timeout: slow', {}],
    [
      'too large rv',
      errors.newTooLargeResourceVersion('9', '5', 1),
      504,
      'Timeout',
      'Timeout: Too large resource version: 9, current: 5',
      {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    ],
    [
      'body',
      errors.newRequestEntityTooLarge('limit is 3145728'),
      413,
      'RequestEntityTooLarge',
      'Request entity too large: limit is 3145728',
      undefined,
    ],
    ['unknown', errors.newUnknownError('raw'), 500, '', 'raw', undefined],
  ])('%s', (_, error, code, reason, message, details) => {
    const expected: Record<string, unknown> = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      code,
    };
    if (reason !== '') expected['reason'] = reason;
    if (details !== undefined) expected['details'] = details;
    expect(error.status).toStrictEqual(expected);
  });

  it('quote names as Go does', () => {
    expect(errors.newNotFound(pods, 'a"\n').message).toBe('pods "a\\"\\n" not found');
  });
});

describe('newInvalid', () => {
  const kind = { group: 'apps', kind: 'Deployment' };
  const cause = (field: string) => ({ reason: 'FieldValueRequired', message: 'Required value', field });

  it('writes one error plainly, several as a list, equal ones once', () => {
    expect(errors.newInvalid(kind, 'web', [cause('a')]).message).toBe(
      'Deployment.apps "web" is invalid: a: Required value',
    );
    const several = errors.newInvalid(kind, 'web', [cause('a'), cause('b'), cause('a')]);
    expect(several.message).toBe('Deployment.apps "web" is invalid: [a: Required value, b: Required value]');
    expect(several.status.details?.causes).toHaveLength(3);
  });

  it('stops after "is invalid" when there is no error to tell', () => {
    const { status } = errors.newInvalid({ group: '', kind: 'Pod' }, '', []);
    expect(status.message).toBe('Pod "" is invalid');
    expect(status.details).toEqual({ kind: 'Pod' });
  });
});

describe('statusOf', () => {
  const status: Status = { kind: 'Status', reason: 'NotFound', code: 404 };

  it('finds the Status in an error, in its causes, and bare', () => {
    expect(errors.statusOf(new StatusError(status))).toBe(status);
    expect(errors.statusOf(new Error('wrapped', { cause: new Error('x', { cause: new StatusError(status) }) }))).toBe(
      status,
    );
    expect(errors.statusOf(status)).toBe(status);
    expect(errors.statusOf(Object.assign(new Error('of another copy'), { status }))).toBe(status);
  });

  it('is not misled by an object with a status, nor by a circle of causes', () => {
    expect(errors.statusOf({ kind: 'Pod', status: { reason: 'NotFound' } })).toBeUndefined();
    const circle = new Error('circle');
    circle.cause = circle;
    expect(errors.statusOf(circle)).toBeUndefined();
    for (const value of [undefined, null, 'NotFound', 404]) expect(errors.statusOf(value)).toBeUndefined();
  });
});

describe('predicates', () => {
  const error = (reason: string, code: number): StatusError => new StatusError({ kind: 'Status', reason, code });

  it.each([
    ['NotFound', 404, errors.isNotFound],
    ['Conflict', 409, errors.isConflict],
    ['Invalid', 422, errors.isInvalid],
    ['Gone', 410, errors.isGone],
    ['Unauthorized', 401, errors.isUnauthorized],
    ['Forbidden', 403, errors.isForbidden],
    ['MethodNotAllowed', 405, errors.isMethodNotSupported],
    ['Timeout', 504, errors.isTimeout],
    ['InternalError', 500, errors.isInternalError],
    ['ServiceUnavailable', 503, errors.isServiceUnavailable],
    ['BadRequest', 400, errors.isBadRequest],
  ] as const)('%s is decided by the reason, and by %d only for an unknown reason', (reason, code, predicate) => {
    expect(predicate(error(reason, 0))).toBe(true);
    expect(predicate(error('', code))).toBe(true);
    expect(predicate(error('NewInSomeVersion', code))).toBe(true);
    expect(predicate(error('TooManyRequests', code))).toBe(false);
    expect(predicate(error('', 200))).toBe(false);
  });

  it('AlreadyExists and Expired are decided by the reason alone', () => {
    expect(errors.isAlreadyExists(error('', 409))).toBe(false);
    expect(errors.isAlreadyExists(error('AlreadyExists', 0))).toBe(true);
    expect(errors.isResourceExpired(error('', 410))).toBe(false);
    expect(errors.isResourceExpired(error('Expired', 0))).toBe(true);
    expect(errors.isExpiredOrGone(error('', 410))).toBe(true);
    expect(errors.isGone(error('Expired', 410))).toBe(false);
  });

  it('TooManyRequests is decided by the code as well, whatever the reason', () => {
    expect(errors.isTooManyRequests(error('BadRequest', 429))).toBe(true);
    expect(errors.isTooManyRequests(error('TooManyRequests', 0))).toBe(true);
    expect(errors.isTooManyRequests(new Error('429'))).toBe(false);
  });

  it('a resource version of the future is known by its cause, or by the words of old servers', () => {
    expect(errors.isTooLargeResourceVersion(errors.newTooLargeResourceVersion('9', '5', 0))).toBe(true);
    expect(errors.isTooLargeResourceVersion(errors.newTimeout('Too large resource version: 9, current: 5', 0))).toBe(
      true,
    );
    expect(errors.isTooLargeResourceVersion(errors.newTimeout('slow', 0))).toBe(false);
    expect(errors.isTooLargeResourceVersion(errors.newBadRequest('Too large resource version'))).toBe(false);
  });
});
