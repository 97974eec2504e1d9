import { describe, expect, it } from 'vitest';
import {
  AUTO,
  expired,
  forbidden,
  internal,
  MODERN_WATCH_LIST,
  modern,
  parity,
  Run,
  refused,
  streaming,
  throttled,
  tooLarge,
  WATCH_LIST,
} from '../../test/support/machine-run.ts';
import { failureOf } from './error-classes.ts';
import type { RelistFrom } from './reflector-policy.ts';
import { resolveReflectorPolicy } from './reflector-policy.ts';

describe('transition, rows of the table', () => {
  it('S1 and S2: a start lists any state, in pages', () => {
    expect(parity().feed({ type: 'start' }).did).toEqual(['list 0 limit=500']);
  });

  it('S2: with the streaming list switched on a start opens one without a version', () => {
    expect(new Run(WATCH_LIST).feed({ type: 'start' }).did).toEqual(['open watch-list ""']);
  });

  it('S3: a list that succeeds is put in place and makes the version available', () => {
    const run = parity().listed();
    expect(run.did).toEqual(['replace list 10']);
    expect(run.state.isLastSyncResourceVersionUnavailable).toBe(false);
    expect(run.state.lastSyncResourceVersion).toBe('');
  });

  it.each([
    ['expired', expired],
    ['too large', tooLarge],
  ])('S4: %s is answered at once by a list without a version, once', (_, failure) => {
    const run = parity().feed({ type: 'start' }, { type: 'failed', failure });
    expect(run.did).toEqual([`fault ${failure.kind} list`, 'list "" limit=500']);
    run.feed({ type: 'failed', failure });
    expect(run.did).toEqual(['report', 'stop-resync', `fault ${failure.kind} list`, 'wait relist']);
    expect(run.state.isLastSyncResourceVersionUnavailable).toBe(true);
  });

  it('S4: pages of the second try count as pages of any state only when the first try asked for any state', () => {
    const pages = { type: 'listed', resourceVersion: '5', paginated: true } as const;
    const run = parity().feed({ type: 'start' }, { type: 'failed', failure: expired });
    expect(run.feed(pages).state.paginatedResult).toBe(true);
    const unavailable = parity().feed({ type: 'start' }, { type: 'failed', failure: expired });
    unavailable.feed({ type: 'failed', failure: expired }, { type: 'waited' }, { type: 'failed', failure: expired });
    expect(unavailable.did).toContain('list "" limit=500');
    expect(unavailable.feed(pages).state.paginatedResult).toBe(false);
  });

  it('S5: any other error of a list is reported and waited out, then the choice comes anew', () => {
    const run = parity().feed({ type: 'start' }, { type: 'failed', failure: internal });
    expect(run.did).toEqual(['report', 'stop-resync', 'fault server list', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 0 limit=500']);
  });

  it('S5: the flag keeps its value over another error', () => {
    const run = parity().feed(
      { type: 'start' },
      { type: 'failed', failure: expired },
      { type: 'failed', failure: internal },
      { type: 'waited' },
    );
    expect(run.did).toEqual(['list "" limit=500']);
  });

  it('S6: after the replacement the version counts, resync starts and the watch opens', () => {
    const run = parity().listed().feed({ type: 'replaced' });
    expect(run.did).toEqual(['start-resync', 'open watch 10']);
    expect(run.state.lastSyncResourceVersion).toBe('10');
  });

  it('S6: a store that cannot be replaced ends the cycle before the version moves', () => {
    const run = parity()
      .listed()
      .feed({ type: 'replace-failed', failure: failureOf(new Error('full')) });
    expect(run.did).toEqual(['report', 'stop-resync', 'fault server list', 'wait relist']);
    expect(run.state.lastSyncResourceVersion).toBe('');
  });

  it.each([
    ['refused', refused],
    ['429', throttled],
  ])('S7: a watch answered with %s is tried again with the same version, without a list or a report', (_, failure) => {
    const run = parity().listed().feed({ type: 'replaced' }, { type: 'failed', failure });
    expect(run.did).toEqual([`fault ${failure.kind} watch`, 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch 10']);
  });

  it('S8: any other refusal of a watch is reported and leads to a list of the last version; 410 sets no flag', () => {
    const run = parity().listed().feed({ type: 'replaced' }, { type: 'failed', failure: expired });
    expect(run.did).toEqual(['report', 'stop-resync', 'fault expired watch', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 10 limit=0']);
  });

  it('S9: a clean end is followed by the next watch at once', () => {
    expect(parity().watching().ended('closed').did).toEqual(['open watch 11']);
    expect(parity().watching().ended('closed', { events: 0, durationMs: 1000 }).did).toEqual(['open watch 11']);
    expect(parity().watching().ended('closed', { events: 1, durationMs: 5 }).did).toEqual(['open watch 11']);
  });

  it('S10: a very short watch waits and lists, without a report', () => {
    const run = parity().watching().ended('closed', { events: 0, durationMs: 999 });
    expect(run.did).toEqual(['stop-resync', 'fault early-close watch', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 11 limit=0']);
  });

  it('S11: 410 in the stream waits and lists from the last event, without a report or the flag', () => {
    const run = parity().watching().ended('error-event', { failure: expired });
    expect(run.did).toEqual(['stop-resync', 'fault expired watch', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 11 limit=0']);
    expect(run.feed({ type: 'failed', failure: expired }).did).toEqual(['fault expired list', 'list "" limit=0']);
  });

  it('S12: 429 in the stream waits and watches on', () => {
    const run = parity().watching().ended('error-event', { failure: throttled });
    expect(run.did).toEqual(['fault throttled watch', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch 11']);
  });

  it('S13: 500 in the stream is answered by a watch at once while the window is open', () => {
    const run = new Run(resolveReflectorPolicy('client-go-1.30', { maxInternalErrorRetryMs: 10_000 })).watching();
    expect(run.ended('error-event', { failure: internal }).did).toEqual(['fault server watch', 'open watch 11']);
    run.now += 9_999;
    expect(run.feed({ type: 'opened' }).ended('error-event', { failure: internal }).did).toEqual([
      'fault server watch',
      'open watch 11',
    ]);
    run.now += 1;
    expect(run.feed({ type: 'opened' }).ended('error-event', { failure: internal }).did).toContain('wait relist');
  });

  it('S13: the window is closed by default', () => {
    expect(parity().watching().ended('error-event', { failure: internal }).did).toEqual([
      'stop-resync',
      'fault server watch',
      'wait relist',
    ]);
  });

  it('S14: a failed resync and any other error of the stream wait and list', () => {
    const run = parity()
      .watching()
      .ended('resync-failed', { failure: failureOf(new Error('x')) });
    expect(run.did).toEqual(['stop-resync', 'fault server watch', 'wait relist']);
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 11 limit=0']);
  });

  it.each<[string, (run: Run) => Run]>([
    ['idle', (run) => run],
    ['listing', (run) => run.feed({ type: 'start' })],
    ['replacing', (run) => run.listed()],
    ['opening', (run) => run.listed().feed({ type: 'replaced' })],
    ['watching', (run) => run.watching()],
    ['waiting', (run) => run.feed({ type: 'start' }, { type: 'failed', failure: internal })],
  ])('S15: a stop while %s releases everything, and nothing follows', (_, prepare) => {
    const run = prepare(parity()).feed({ type: 'stop' });
    expect(run.did).toEqual(['release']);
    expect(
      run.feed({ type: 'waited' }, { type: 'listed', resourceVersion: '5', paginated: false }, { type: 'stop' }).did,
    ).toEqual([]);
    expect(run.state.phase.name).toBe('stopped');
  });

  it('ignores a result that the phase does not wait for', () => {
    const run = parity().watching();
    const before = run.state;
    expect(run.feed({ type: 'listed', resourceVersion: '99', paginated: false }, { type: 'waited' }).state).toBe(
      before,
    );
  });
});

describe('transition, versions and limits of a list', () => {
  it('keeps the limit off when a version is named, and the first limit for the retry, as upstream', () => {
    const run = parity().watching().ended('error-event', { failure: expired }).feed({ type: 'waited' });
    expect(run.did).toEqual(['list 11 limit=0']);
    expect(run.feed({ type: 'failed', failure: expired }).did.at(-1)).toBe('list "" limit=0');
  });

  it('pages the retry in the modern profile', () => {
    const run = modern()
      .watching()
      .ended('error-event', { failure: expired })
      .feed({ type: 'waited' }, { type: 'failed', failure: expired });
    expect(run.did.at(-1)).toBe('list "" limit=500');
  });

  it('always pages once a list of any state came in pages', () => {
    const run = parity()
      .listed('10', true)
      .feed({ type: 'replaced' }, { type: 'opened' })
      .ended('error-event', { failure: expired });
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 11 limit=500']);
  });

  it("uses the user's page size for every list", () => {
    const run = new Run(resolveReflectorPolicy('client-go-1.30', { pageSize: 2 }))
      .watching()
      .ended('error-event', { failure: expired });
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 11 limit=2']);
  });

  it('names a version again after a list without one succeeded', () => {
    const run = parity().feed(
      { type: 'start' },
      { type: 'failed', failure: expired },
      { type: 'listed', resourceVersion: '20', paginated: false },
      { type: 'replaced' },
      { type: 'opened' },
    );
    expect(run.ended('error-event', { failure: expired, resourceVersion: '21' }).feed({ type: 'waited' }).did).toEqual([
      'list 21 limit=0',
    ]);
  });
});

describe('transition, streaming list', () => {
  it('W3 and W4: the end mark replaces the store and the stream goes on', () => {
    const run = streaming().feed({ type: 'initial-events-end', resourceVersion: '10' });
    expect(run.did).toEqual(['replace initial-events 10']);
    expect(run.feed({ type: 'replaced' }).did).toEqual(['start-resync']);
    expect(run.state.phase.name).toBe('watching');
    expect(run.ended('closed').did).toEqual(['open watch 11']);
  });

  it.each([
    ['refused', refused],
    ['429', throttled],
  ])('%s is waited out without a fallback', (_, failure) => {
    const run = new Run(WATCH_LIST).feed({ type: 'start' }, { type: 'failed', failure });
    expect(run.did.at(-1)).toBe('wait relist');
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch-list ""']);
  });

  it('410 of a relist is tried again at once without a version', () => {
    const run = streaming()
      .feed({ type: 'initial-events-end', resourceVersion: '10' }, { type: 'replaced' })
      .ended('error-event', { failure: expired });
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch-list 11']);
    expect(run.feed({ type: 'failed', failure: expired }).did).toEqual([
      'fault expired watch-list',
      'open watch-list ""',
    ]);
  });

  it('any other error falls back to a list in the same cycle', () => {
    const run = new Run(WATCH_LIST).feed({ type: 'start' }, { type: 'failed', failure: forbidden });
    expect(run.did).toEqual(['fault forbidden watch-list', 'list 0 limit=500']);
    expect(streaming().ended('error-event', { failure: internal }).did).toEqual([
      'fault server watch-list',
      'list 0 limit=500',
    ]);
  });

  it('a stream that ended with events but no mark is opened again at once, as upstream', () => {
    expect(streaming().ended('closed', { events: 3, durationMs: 100 }).did).toEqual([
      'fault early-close watch-list',
      'open watch-list ""',
    ]);
    expect(streaming().ended('closed', { events: 0, durationMs: 100 }).did).toEqual([
      'fault early-close watch-list',
      'list 0 limit=500',
    ]);
  });

  it('B9: silence before the mark falls back to a list', () => {
    expect(streaming(MODERN_WATCH_LIST).ended('initial-events-timeout').did).toEqual([
      'fault initial-events-timeout watch-list',
      'list 0 limit=500',
    ]);
  });

  it('B10: after a fallback the streaming list is left alone for a while, then tried again', () => {
    const run = streaming(MODERN_WATCH_LIST)
      .ended('initial-events-timeout')
      .feed({ type: 'failed', failure: internal });
    expect(run.feed({ type: 'waited' }).did).toEqual(['list 0 limit=500']);
    run.feed({ type: 'failed', failure: internal });
    run.now += 600_001;
    expect(run.feed({ type: 'waited' }).did).toEqual(['open watch-list ""']);
  });

  it('B11: a stream without its mark is a failure: waited out once, then a list', () => {
    const run = streaming(MODERN_WATCH_LIST).ended('closed', { events: 3, durationMs: 2000 });
    expect(run.did.at(-1)).toBe('wait connect');
    expect(
      run.feed({ type: 'waited' }, { type: 'opened' }).ended('closed', { events: 3, durationMs: 2000 }).did,
    ).toEqual(['fault early-close watch-list', 'list 0 limit=500']);
  });

  it('auto asks first, and takes the list for any no', () => {
    const run = new Run(AUTO).feed({ type: 'start' });
    expect(run.did).toEqual(['ask-watch-list']);
    expect(run.feed({ type: 'watch-list-support', supported: false }).did).toEqual(['list 0 limit=500']);
    expect(run.feed({ type: 'watch-list-support', supported: true }).did).toEqual([]);
  });

  it('auto streams where the server can, asks anew in each cycle, and does not ask while a fallback is fresh', () => {
    const run = new Run(AUTO).feed({ type: 'start' }, { type: 'watch-list-support', supported: true });
    expect(run.did).toEqual(['open watch-list ""']);
    run.feed({ type: 'opened' }, { type: 'initial-events-end', resourceVersion: '10' }, { type: 'replaced' });
    expect(run.ended('error-event', { failure: expired }).feed({ type: 'waited' }).did).toEqual(['ask-watch-list']);
    run.feed({ type: 'watch-list-support', supported: true });
    expect(run.did).toEqual(['open watch-list 11']);
    expect(run.feed({ type: 'failed', failure: internal }).did).toEqual(['fault server watch-list', 'list 11 limit=0']);
    expect(run.feed({ type: 'failed', failure: internal }, { type: 'waited' }).did).toEqual(['list 11 limit=0']);
    run.feed({ type: 'failed', failure: internal });
    run.now += 600_001;
    expect(run.feed({ type: 'waited' }).did).toEqual(['ask-watch-list']);
  });

  it('does not ask for ever when a server calls even the newest state expired', () => {
    const run = new Run(MODERN_WATCH_LIST).feed({ type: 'start' }, { type: 'failed', failure: expired });
    expect(run.did).toEqual(['fault expired watch-list', 'list 0 limit=500']);
  });
});

describe('transition, what a relist is served from', () => {
  const relistOf = (relistFrom: RelistFrom, initial: 'list' | 'watch-list'): string[] => {
    const run = new Run(resolveReflectorPolicy('modern', { relistFrom, initial })).feed({ type: 'start' });
    const first = run.did.at(-1)!;
    if (initial === 'list') run.feed({ type: 'listed', resourceVersion: '10', paginated: false });
    else run.feed({ type: 'opened' }, { type: 'initial-events-end', resourceVersion: '10' });
    run.feed({ type: 'replaced' });
    if (initial === 'list') run.feed({ type: 'opened' });
    run.ended('error-event', { failure: expired }).feed({ type: 'waited' });
    const relist = run.did.at(-1)!;
    return [first, relist, run.feed({ type: 'failed', failure: expired }).did.at(-1)!];
  };

  it.each<[RelistFrom, string[]]>([
    ['last', ['list 0 limit=500', 'list 11 limit=0', 'list "" limit=500']],
    ['any', ['list 0 limit=500', 'list 0 limit=500', 'list "" limit=500']],
    ['most-recent', ['list "" limit=500', 'list "" limit=500', 'list "" limit=500']],
  ])('%s: the first list, a relist, and the one after a version that is gone', (relistFrom, requests) => {
    expect(relistOf(relistFrom, 'list')).toEqual(requests);
  });

  it.each<[RelistFrom, string[]]>([
    ['last', ['open watch-list ""', 'open watch-list 11', 'open watch-list ""']],
    ['any', ['open watch-list ""', 'open watch-list 0', 'open watch-list ""']],
    ['most-recent', ['open watch-list ""', 'open watch-list ""', 'list "" limit=500']],
  ])('%s: the same for streaming lists, of which the first is always consistent', (relistFrom, requests) => {
    expect(relistOf(relistFrom, 'watch-list')).toEqual(requests);
  });

  it('the watch goes on from what was seen last, whatever lists are served from', () => {
    for (const relistFrom of ['any', 'most-recent'] as const) {
      const run = new Run(resolveReflectorPolicy('modern', { relistFrom, initial: 'list' }));
      expect(run.watching().ended('closed').did).toEqual(['open watch 11']);
    }
  });
});
