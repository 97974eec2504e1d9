// The informer in the profile client-go-1.30 against every script: the same requests at the same distances, the same calls of the
// handlers, the same errors and the same store as client-go v0.30.3 left when it was run against them.
import { describe, expect, it } from 'vitest';
import { leftOut } from './left-out.ts';
import { play } from './play.ts';
import { type Gap, goldens, scenarios } from './scenario.ts';

describe('client-go v0.30.3', () => {
  it('has 175 scripts, each with a transcript, of which one is left out', () => {
    expect(scenarios.size).toBe(175);
    expect([...goldens.keys()]).toEqual([...scenarios.keys()]);
    expect(Object.keys(leftOut).filter((name) => scenarios.has(name))).toHaveLength(1);
    expect(Object.keys(leftOut)).toHaveLength(1);
  });

  for (const [name, scenario] of scenarios) {
    if (name in leftOut) continue;
    it(`${name}: ${scenario.why}`, async () => {
      const golden = goldens.get(name)!;
      const gaps = golden.requests.map(({ gap }) => gap as Gap);
      for (const random of [0, 0.999]) {
        const played = await play(scenario, { profile: 'client-go-1.30', random });
        expect(played.transcript(gaps)).toEqual(golden);
        expect(new Set(played.requests.map(({ path }) => path))).toEqual(
          new Set(['/api/v1/namespaces/default/configmaps']),
        );
        expect(played.requests.filter(({ openBodies }) => openBodies > 0)).toEqual([]);
        expect(played.timersLeft).toBe(0);
      }
    });
  }
});
