import { describe, expect, it } from 'vitest';
import { OBJECTS, OVER_HTTP2, STREAMS } from './areas.ts';
import { recordedAreas, recordedCases } from './recorded-case.ts';

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
});
