import { isResourceExpired } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { FailedAnswer } from './http-status.ts';
import { statusErrorOf } from './http-status.ts';

const expired = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', message: 'old', code: 410 };

function answer(statusCode: number, body: unknown, contentType?: string): FailedAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  return { method: 'GET', url: 'http://x/api/v1/pods', statusCode, headers, body: new TextEncoder().encode(text) };
}
const told = (given: FailedAnswer, strict: boolean): string => {
  const { code, reason } = statusErrorOf(given, { strict });
  return `${code} ${reason}`;
};

describe('statusErrorOf', () => {
  it.each([true, false])('believes the Status of the body more than the code (strict: %s)', (strict) => {
    expect(isResourceExpired(statusErrorOf(answer(500, expired, 'application/json'), { strict }))).toBe(true);
  });

  it.each([true, false])('makes a Status from the code when that of the body is malformed (strict: %s)', (strict) => {
    expect(told(answer(500, { ...expired, code: '410' }), strict)).toBe('500 InternalError');
    expect(told(answer(500, { ...expired, details: { causes: {} } }), strict)).toBe('500 InternalError');
    expect(told(answer(429, '[', 'application/json'), strict)).toBe('429 TooManyRequests');
  });

  it('adds the code of the answer to a Status without one only when not strict', () => {
    const { code: _code, ...bare } = expired;
    expect([told(answer(410, bare), false), told(answer(410, bare), true)]).toEqual(['410 Expired', '0 Expired']);
  });

  it('takes whatever does not say Success for a failure only when not strict', () => {
    const { status: _status, ...unsaid } = expired;
    expect([told(answer(500, unsaid), false), told(answer(500, unsaid), true)]).toEqual([
      '410 Expired',
      '500 InternalError',
    ]);
  });

  it('reads a Status that is not called JSON only when not strict', () => {
    const plain = answer(500, expired, 'text/plain');
    expect([told(plain, false), told(plain, true)]).toEqual(['410 Expired', '500 InternalError']);
  });

  it('fails as an internal error of its own for a content type that cannot be read, when strict', () => {
    const garbled = answer(403, expired, 'two words');
    expect([told(garbled, false), told(garbled, true)]).toEqual(['410 Expired', '500 InternalError']);
  });

  it('takes a Status of any version when strict, if the version can be one', () => {
    expect(told(answer(500, { ...expired, apiVersion: 'meta.k8s.io/v1' }), true)).toBe('410 Expired');
    expect(told(answer(500, { ...expired, apiVersion: 'a/b/c' }), true)).toBe('500 InternalError');
  });

  it('quotes a body that is not called text only when not strict', () => {
    const causeOf = (contentType: string, strict: boolean) =>
      statusErrorOf(answer(504, ' Too large resource version ', contentType), { strict }).status.details?.causes;
    const quoted = [{ reason: 'UnexpectedServerResponse', message: 'Too large resource version' }];
    expect(causeOf('text/plain', true)).toEqual(quoted);
    expect(causeOf('application/json', false)).toEqual(quoted);
    expect(causeOf('application/json', true)).toEqual([{ reason: 'UnexpectedServerResponse', message: 'unknown' }]);
  });
});
