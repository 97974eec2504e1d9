import { describe, expect, it } from 'vitest';
import { OBJECTS, OVER_HTTP2, STREAMS } from './areas.ts';
import { recordedAreas, recordedCases } from './recorded-case.ts';

/** Fields of steps that play.ts, answers.ts and likeness.ts heed; `meta` repeats a part of the body. */
const HEEDED =
  'do method path query headers body raw base64 http capture background id until timeout count n quiet vars ms rev ' +
  'transport protocols record keep drop textLimit recordHeaders framing tookAtLeastMs tookAtMostMs atLeastMs atMostMs ' +
  'listRV sort sortItems sortCauses collapseBookmarks dropBookmarks countOnly fewerThan meta';

describe('recorded areas', () => {
  it('are played each by one file', () => {
    expect([...STREAMS, ...OBJECTS].sort()).toEqual(recordedAreas());
  });

  it('hold all cases that were recorded', () => {
    expect(recordedAreas().flatMap(recordedCases)).toHaveLength(390);
    expect(OVER_HTTP2.flatMap(recordedCases)).toHaveLength(164);
  });

  it('have a golden for every case', () => {
    const silent = recordedAreas()
      .flatMap(recordedCases)
      .filter(({ golden }) => golden.length === 0);
    expect(silent).toEqual([]);
  });

  it('ask for nothing that is not heeded', () => {
    const steps = recordedAreas()
      .flatMap(recordedCases)
      .flatMap((recorded) => recorded.steps);
    const fields = new Set(steps.flatMap((step) => Object.keys(step)));
    expect([...fields].filter((field) => !HEEDED.split(' ').includes(field))).toEqual([]);
  });
});
