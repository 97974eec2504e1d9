import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue.ts';

describe('continue tokens', () => {
  it('come back as they were made', () => {
    const segment = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.integer({ min: -1 }), (parts, revision) => {
        fc.pre(revision !== 0);
        const key = `/registry/pods/${parts.join('/')}\0`;
        const token = encodeContinue(key, '/registry/pods/', revision);
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeContinue(token, '/registry/pods/')).toEqual({ key, revision });
      }),
    );
  });

  it('never crash, and never lead out of their prefix, whatever somebody sends', () => {
    const start = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('..', '.', '', 'a', '%2e%2e', '\0'), { maxLength: 6 }).map((parts) => parts.join('/')),
    );
    const token = fc.oneof(
      fc.string(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
      fc
        .tuple(start, fc.oneof(fc.integer(), fc.double(), fc.string()))
        .map(([key, rv]) => Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: key })).toString('base64url')),
    );
    fc.assert(
      fc.property(token, (text) => {
        try {
          const { key } = decodeContinue(text, '/registry/pods/');
          expect(key.startsWith('/registry/pods/')).toBe(true);
          expect(key.split('/')).not.toContain('..');
        } catch (error) {
          expect((error as Error).message).toMatch(/^continue key is not valid: /);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('cannot be made for a key outside', () => {
    for (const key of ['/registry/secrets/a', '/registry/pods/']) {
      expect(() => encodeContinue(key, '/registry/pods/', 1)).toThrow('unable to encode next field');
    }
  });
});
