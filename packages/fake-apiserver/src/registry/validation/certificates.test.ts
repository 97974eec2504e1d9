// What may be done to a signing request after its creation, and by which of its subresources.
import { describe, expect, it } from 'vitest';
import type { Draft } from '../draft.ts';
import { type SigningRequestPart, validateSigningRequestUpdate } from './certificates.ts';
import { FieldErrors } from './field-errors.ts';

const spec = { request: '', usages: ['client auth'], signerName: 'a.b/c' };
const request = (status: Draft): Draft => ({ metadata: { name: 'r' }, spec, status });
const decided = (...types: readonly string[]): Draft => ({
  conditions: types.map((type) => ({ type, status: 'True' })),
});

describe('validateSigningRequestUpdate', () => {
  it.each<[string, SigningRequestPart, Draft, Draft, readonly string[]]>([
    ['approves through approval', 'approval', {}, decided('Approved'), []],
    [
      'not through status',
      'status',
      {},
      decided('Approved'),
      ['Forbidden: updates may not add a condition of type "Approved"'],
    ],
    [
      'takes no decision back',
      'approval',
      decided('Approved'),
      {},
      ['Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    [
      'knows no two decisions',
      'approval',
      decided('Approved'),
      decided('Approved', 'Denied'),
      ['Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      'wants PEM as certificate',
      'status',
      {},
      { certificate: Buffer.from('x').toString('base64') },
      ['Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      'wants certificates in it',
      'status',
      {},
      { certificate: Buffer.from('-----BEGIN KEY-----\nAA==\n-----END KEY-----\n').toString('base64') },
      ['Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "KEY"'],
    ],
  ])('%s', (_what, part, before, after, messages) => {
    const errors = new FieldErrors();
    validateSigningRequestUpdate(request(after), request(before), errors, part);
    expect(errors.causes.map(({ message }) => message)).toEqual(messages);
  });
});
