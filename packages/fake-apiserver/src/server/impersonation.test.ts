import { describe, expect, it } from 'vitest';
import { fakeRequest } from '../../test/support/exchange.ts';
import { type Attributes, alwaysAllow, forbidden } from './authorization.ts';
import { impersonate } from './impersonation.ts';

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
const as = (headers: Record<string, string | string[]>, authorizer = alwaysAllow) =>
  impersonate(fakeRequest('/api', { headers }), admin, authorizer);

describe('impersonate', () => {
  it('changes nothing without headers', async () => {
    expect(await as({})).toBe(admin);
  });

  it.each([
    [{ 'impersonate-user': 'alice' }, ['system:authenticated']],
    [{ 'impersonate-user': 'alice', 'impersonate-group': ['a', 'b'] }, ['a', 'b', 'system:authenticated']],
    [{ 'impersonate-user': 'system:anonymous' }, ['system:unauthenticated']],
    [
      { 'impersonate-user': 'system:serviceaccount:ns:sa' },
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    [{ 'impersonate-user': 'x', 'impersonate-group': 'system:unauthenticated' }, ['system:unauthenticated']],
  ])('%j acts with the groups %j', async (headers, groups) => {
    expect(await as(headers)).toMatchObject({ name: headers['impersonate-user'], groups });
  });

  it('takes over uid and extra fields', async () => {
    const headers = { 'impersonate-user': 'a', 'impersonate-uid': 'u1', 'impersonate-extra-scopes%2fx': 'one' };
    expect(await as(headers)).toMatchObject({ uid: 'u1', extra: { 'scopes/x': ['one'] } });
  });

  it('needs a user for everything else, and says so as upstream prints it', async () => {
    await expect(as({ 'impersonate-group': 'x' })).rejects.toThrow(
      'requested [{Group  x    }] without impersonating a user',
    );
  });

  it('asks for every name and stops at the first that is not allowed', async () => {
    const asked: string[] = [];
    const authorizer = {
      authorize(attributes: Attributes) {
        asked.push(`${attributes.verb} ${attributes.resource} ${attributes.name}`);
        return { allowed: attributes.resource !== 'groups', reason: '' };
      },
    };
    const headers = { 'impersonate-user': 'alice', 'impersonate-group': 'ops' };
    await expect(as(headers, authorizer)).rejects.toMatchObject({
      status: {
        code: 403,
        message:
          'groups "ops" is forbidden: User "admin" cannot impersonate resource "groups" in API group "" at the cluster scope',
      },
    });
    expect(asked).toEqual(['impersonate users alice', 'impersonate groups ops']);
  });
});

describe('forbidden', () => {
  const base: Attributes = {
    user: { name: 'alice', groups: [] },
    verb: 'get',
    isResourceRequest: true,
    path: '/x',
    apiGroup: 'apps',
    apiVersion: 'v1',
    namespace: 'ns',
    resource: 'deployments',
    subresource: 'scale',
    name: 'd',
  };

  it.each([
    [
      base,
      'deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" in the namespace "ns"',
    ],
    [
      { ...base, isResourceRequest: false, apiGroup: '', resource: '', name: '' },
      'forbidden: User "alice" cannot get path "/x"',
    ],
  ])('words the refusal as upstream', (attributes, message) => {
    expect(forbidden(attributes, '').message).toBe(message);
    expect(forbidden(attributes, 'why').message).toBe(`${message}: why`);
  });
});
