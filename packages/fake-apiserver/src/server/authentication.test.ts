import { describe, expect, it } from 'vitest';
import { fakeRequest } from '../../test/support/exchange.ts';
import { Authenticator, bearerToken, staticTokens } from './authentication.ts';

const authenticator = new Authenticator({
  tokens: [staticTokens(new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]))],
  anonymous: true,
});
const ask = (headers: Record<string, string>, more = {}) =>
  authenticator.authenticate(fakeRequest('/api', { headers, ...more }));

describe('Authenticator', () => {
  it('knows a token and adds the group of everybody who is known', async () => {
    expect(await ask({ authorization: 'Bearer secret' })).toEqual({
      name: 'admin',
      groups: ['system:masters', 'system:authenticated'],
    });
  });

  it.each(['Bearer wrong', 'bearer secret2', 'Bearer secre'])('refuses %s', async (authorization) => {
    await expect(ask({ authorization })).rejects.toMatchObject({ status: { code: 401, message: 'Unauthorized' } });
  });

  it.each([undefined, 'Basic eDp5', 'Bearer', 'Bearer ', ''])('takes %s for no credentials', async (authorization) => {
    const user = await ask(authorization === undefined ? {} : { authorization });
    expect(user).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] });
  });

  it('refuses strangers when told to', async () => {
    const strict = new Authenticator({ tokens: [], anonymous: false });
    await expect(strict.authenticate(fakeRequest('/'))).rejects.toMatchObject({ status: { code: 401 } });
  });

  it('reads a verified certificate and refuses another', async () => {
    const peer = { commonName: 'alice', organizations: ['dev'] };
    const user = await ask({}, { peer: { ...peer, verified: true } });
    expect(user).toEqual({ name: 'alice', groups: ['dev', 'system:authenticated'] });
    await expect(ask({}, { peer: { ...peer, verified: false } })).rejects.toMatchObject({ status: { code: 401 } });
  });
});

describe('bearerToken', () => {
  it('takes the word after the scheme', () => {
    expect(bearerToken('  BEARER  x')).toBeUndefined();
    expect(bearerToken('Bearer a b')).toBe('a');
  });
});
