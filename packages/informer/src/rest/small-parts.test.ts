import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../errors.ts';
import { basicAuth } from './auth.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { childSignal } from './child-signal.ts';
import { retryAfterSeconds } from './http-status.ts';
import { isProbableEof, networkErrorCode, toTransportError } from './network-errors.ts';
import { tokenBucket } from './rate-limiter.ts';
import { parseWarnings } from './warnings.ts';
import { yieldToEventLoop } from './yield.ts';

describe('networkErrorCode', () => {
  it('looks through causes and aggregates', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(networkErrorCode(new Error('outer', { cause: refused }))).toBe('REFUSED');
    expect(networkErrorCode(new AggregateError([new Error('a'), refused]))).toBe('REFUSED');
    expect(networkErrorCode(new Error('?'))).toBeUndefined();
  });
  it('ends on a cause that points back', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(networkErrorCode(error)).toBeUndefined();
  });
  it('keeps a TransportError and wraps the rest with its cause', () => {
    const known = new TransportError('DNS', 'x');
    expect(toTransportError(known, 'y')).toBe(known);
    const cause = new Error('boom');
    expect(toTransportError(cause, 'GET /x')).toMatchObject({ code: 'NETWORK', message: 'GET /x: boom', cause });
  });
  it.each([
    ['EOF', true],
    ['RESET', true],
    ['UNEXPECTED_EOF', true],
    ['REFUSED', false],
    ['TLS', false],
  ] as const)('%s as end of a connection: %s', (code, expected) => {
    expect(isProbableEof(new TransportError(code, ''))).toBe(expected);
  });
});

describe('tokenBucket', () => {
  it('lets a burst through and then paces', async () => {
    const clock = new VirtualClock();
    const bucket = tokenBucket({ qps: 2, burst: 2, clock });
    const passed: number[] = [];
    const start = clock.now();
    for (let count = 0; count < 4; count++) void bucket.wait().then(() => passed.push(clock.now() - start));
    await clock.advance(2000);
    expect(passed).toEqual([0, 0, 500, 1000]);
  });
  it.each([
    { qps: 0, burst: 1 },
    { qps: 1, burst: 0 },
    { qps: Number.NaN, burst: 1 },
  ])('refuses %j', (options) => {
    expect(() => tokenBucket(options)).toThrow(/option (qps|burst)/);
  });
});

describe('childSignal', () => {
  it('aborts with its parent until it is released', () => {
    const parent = new AbortController();
    const kept = childSignal(parent.signal);
    const released = childSignal(parent.signal);
    released.release();
    parent.abort('why');
    expect(kept.signal.reason).toBe('why');
    expect(released.signal.aborted).toBe(false);
    expect(childSignal(parent.signal).signal.aborted).toBe(true);
  });
});

describe('ByteBuffer', () => {
  it('keeps what is not consumed, in order, over many appends', () => {
    const buffer = new ByteBuffer();
    let expected: number[] = [];
    for (let step = 0; step < 500; step++) {
      const chunk = Uint8Array.from({ length: (step * 7) % 13 }, (_, index) => (step + index) % 256);
      buffer.append(chunk);
      expected.push(...chunk);
      const eat = Math.min((step * 5) % 11, expected.length);
      buffer.consume(eat);
      expected = expected.slice(eat);
      expect([...buffer.view()]).toEqual(expected);
    }
  });
});

describe('parseWarnings', () => {
  it('stops at what is malformed', () => {
    expect(parseWarnings('299 - "a", nonsense, 299 - "b"')).toEqual([{ code: 299, agent: '-', text: 'a' }]);
    expect(parseWarnings('')).toEqual([]);
  });
});

describe('small helpers', () => {
  it('reads Retry-After only as whole seconds', () => {
    expect(['3', '0', '+2', '-1', '1.5', 'x', ''].map((value) => retryAfterSeconds({ 'retry-after': value }))).toEqual([
      3,
      0,
      2,
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });
  it('encodes user and password as UTF-8', () => {
    expect(basicAuth('ü', 'p').headers()).toEqual({ authorization: `Basic ${Buffer.from('ü:p').toString('base64')}` });
  });
  it('yields so that other work runs first', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await yieldToEventLoop();
    order.push('we');
    expect(order).toEqual(['other', 'we']);
  });
});
