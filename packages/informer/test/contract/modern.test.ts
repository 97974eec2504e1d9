// The informer with its own defaults against the same scripts, for half an hour each. It need not ask as client-go does, but what it ends
// with must be what the server has shown, what its handlers are told must add up to it, and it must not flood a server that is in trouble.
import { describe, expect, it } from 'vitest';
import { LastState } from './last-state.ts';
import { leftOut, leftOutOfModern } from './left-out.ts';
import { play } from './play.ts';
import { replay } from './replay.ts';
import { scenarios } from './scenario.ts';
import type { ServedRequest } from './scripted-server.ts';
import { storeLines } from './transcript.ts';

const HALF_AN_HOUR = 30 * 60_000;
// Waits grow to half a minute, and a few requests come before they have.
const MOST_REQUESTS = 70;
const MOST_IN_TEN_SECONDS = 7;
// Below the reflector a request is sent ten times more: at once where a server says so, a second later where the connection is lost.
const MORE_IN_TEN_SECONDS = new Map([
  ['list-429-retry-after-zero-forever', 13],
  ['list-reset-for-ever', 12],
  ['watch-reset-before-headers-for-ever', 12],
]);

const mostInTenSeconds = (requests: readonly ServedRequest[]): number =>
  Math.max(...requests.map(({ at }) => requests.filter((each) => each.at >= at && each.at < at + 10_000).length));

describe('the profile modern', () => {
  it('leaves out 3 scripts', () => {
    const names = Object.keys({ ...leftOut, ...leftOutOfModern });
    expect(names.filter((name) => scenarios.has(name))).toHaveLength(3);
  });

  for (const [name, scenario] of scenarios) {
    if (name in leftOut || name in leftOutOfModern) continue;
    it(`keeps the state shown in ${name}: ${scenario.why}`, async () => {
      const state = new LastState();
      const played = await play(scenario, { profile: 'modern', random: 0, state, untilMs: HALF_AN_HOUR });
      const { final, calls } = played.transcript([]);

      expect(final.store).toEqual(storeLines(state.items));
      if (scenario.driver.mode === 'informer') expect(final.hasSynced).toBe(true);
      const removed = scenario.driver.handlers?.filter((each) => each.removeWhen).map((each) => each.name) ?? [];
      for (const [handler, lines] of Object.entries(calls)) {
        if ('map' in lines && !removed.includes(handler)) expect(replay(lines)).toEqual(final.store);
      }

      expect(played.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
      expect(mostInTenSeconds(played.requests)).toBeLessThanOrEqual(
        MORE_IN_TEN_SECONDS.get(name) ?? MOST_IN_TEN_SECONDS,
      );
      // A silent watch is checked by a list beside it; nothing else is asked before an answer is done with.
      for (const { openBodies, query } of played.requests) {
        expect(openBodies).toBeLessThanOrEqual(query.get('limit') === '1' ? 1 : 0);
      }
      expect(played.timersLeft).toBe(0);
    });
  }
});
