import type { Status } from '@kube-rx/apimachinery';
import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { failureOf } from './error-classes.ts';

// As a lister that decodes for itself may throw it.
const failed = (status: unknown) => failureOf(new StatusError(status as Status));

describe('failureOf', () => {
  it.each([null, {}, 'x', 5, [null, 5]])('takes %j in place of causes for none', (causes) => {
    expect(failed({ code: 500, reason: 'InternalError', details: { causes } })).toMatchObject({
      errorClass: 'internal',
      kind: 'server',
    });
  });

  it('finds a cause beside what is none', () => {
    const causes = [null, { reason: 'ResourceVersionTooLarge' }];
    expect(failed({ code: 504, reason: 'Timeout', details: { causes } }).errorClass).toBe('too-large');
  });
});
