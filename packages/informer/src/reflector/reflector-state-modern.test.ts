import { newTooManyRequests } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import {
  forbidden,
  MODERN_WATCH_LIST,
  modern,
  notFound,
  parity,
  Run,
  refused,
  reset,
  streaming,
  throttled,
  tooLarge,
  unavailable,
} from '../../test/support/machine-run.ts';
import { failureOf } from './error-classes.ts';

describe('transition, what the modern profile does better', () => {
  it('B1: one stream that ended too soon is forgiven, from the second on the watch waits and keeps its version', () => {
    const run = modern().watching().ended('closed', { events: 1, durationMs: 100 });
    expect(run.did).toEqual(['open watch 11']);
    run.feed({ type: 'opened' }).ended('closed', { events: 1, durationMs: 100, resourceVersion: '12' });
    expect(run.did).toEqual(['fault early-close watch', 'wait early-close']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch 12']);
    run.feed({ type: 'opened' }).ended('closed', { durationMs: 6000 });
    expect(run.feed({ type: 'opened' }).ended('closed', { events: 1, durationMs: 100 }).did).toEqual(['open watch 11']);
  });

  it('B2: a very short watch lists nothing', () => {
    const run = modern().watching().ended('closed', { events: 0, durationMs: 10 });
    expect(run.did).toEqual(['fault early-close watch', 'open watch 11']);
  });

  it('B4: connecting and listing grow apart', () => {
    expect(modern().listed().feed({ type: 'replaced' }, { type: 'failed', failure: refused }).did.at(-1)).toBe(
      'wait connect',
    );
    expect(modern().feed({ type: 'start' }, { type: 'failed', failure: refused }).did.at(-1)).toBe('wait relist');
  });

  it('B5: three equal refusals in a row suspend, with a slow probe; success ends it', () => {
    const run = modern().feed({ type: 'start' });
    for (let count = 1; count <= 2; count++) {
      run.feed({ type: 'failed', failure: forbidden });
      expect(run.state.phase).toMatchObject({ name: 'waiting', suspended: false });
      run.feed({ type: 'waited' });
    }
    run.feed({ type: 'failed', failure: forbidden });
    expect(run.state.phase).toMatchObject({ name: 'waiting', suspended: true });
    expect(run.did.at(-1)).toBe('wait relist >=30000');
    run.feed(
      { type: 'waited' },
      { type: 'listed', resourceVersion: '5', paginated: false },
      { type: 'replaced' },
      { type: 'opened' },
    );
    expect(run.state.refusal).toBeUndefined();
  });

  it('B5: different refusals do not add up', () => {
    const run = modern().feed({ type: 'start' });
    for (const failure of [forbidden, notFound, forbidden, notFound])
      run.feed({ type: 'failed', failure }, { type: 'waited' });
    expect(run.feed({ type: 'failed', failure: notFound }).state.refusal).toEqual({ kind: 'not-found', count: 2 });
  });

  it('B6: waits at least as long as the server asks', () => {
    expect(modern().feed({ type: 'start' }, { type: 'failed', failure: throttled }).did.at(-1)).toBe(
      'wait relist >=7000',
    );
  });

  it('B6: waits no longer than its own limit, however long the server asks for', () => {
    const failure = failureOf(newTooManyRequests('come back tomorrow', 86_400));
    expect(modern().feed({ type: 'start' }, { type: 'failed', failure }).did.at(-1)).toBe('wait relist >=300000');
    expect(parity().feed({ type: 'start' }, { type: 'failed', failure }).did.at(-1)).toBe('wait relist');
  });

  it('B7: waits as a list of a version that is too large is told to, then asks for the most recent state', () => {
    const run = modern().feed({ type: 'start' }, { type: 'failed', failure: tooLarge });
    expect(run.did).toEqual(['stop-resync', 'fault rv-too-large list', 'wait relist >=1000']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list "" limit=500']);
    expect(parity().feed({ type: 'start' }, { type: 'failed', failure: tooLarge }).did.at(-1)).toBe(
      'list "" limit=500',
    );
  });

  it.each([
    ['a list', () => modern().feed({ type: 'start' }, { type: 'failed', failure: unavailable }), 'wait relist'],
    [
      'the opening of a watch',
      () => modern().listed().feed({ type: 'replaced' }, { type: 'failed', failure: unavailable }),
      'wait relist',
    ],
    ['an ERROR event', () => modern().watching().ended('error-event', { failure: unavailable }), 'wait relist'],
    ['throttling of a watch', () => modern().watching().ended('error-event', { failure: throttled }), 'wait connect'],
    [
      'the opening of a streaming list',
      () => new Run(MODERN_WATCH_LIST).feed({ type: 'start' }, { type: 'failed', failure: unavailable }),
      'wait connect',
    ],
    [
      'an ERROR event in a streaming list',
      () => streaming(MODERN_WATCH_LIST).ended('error-event', { failure: unavailable }),
      'wait connect',
    ],
  ])('B6: Retry-After of %s is kept to', (_, run, wait) => {
    expect(run().did.at(-1)).toBe(`${wait} >=7000`);
  });

  it('B6: after the wait a streaming list that failed is replaced by a list', () => {
    const run = new Run(MODERN_WATCH_LIST).feed({ type: 'start' }, { type: 'failed', failure: unavailable });
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 0 limit=500']);
  });

  it('B8: a silent stream is opened anew at once, without a list', () => {
    expect(modern().watching().ended('idle').did).toEqual(['fault idle watch', 'open watch 11']);
  });

  it('a watch whose connection died before the answer is tried again without a list', () => {
    const run = modern().listed().feed({ type: 'replaced' }, { type: 'failed', failure: reset });
    expect(run.did).toEqual(['fault transport watch', 'wait connect']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch 10']);
  });
});
