// The comparison itself: what it must notice.
import { describe, expect, it } from 'vitest';
import { canonical, isObject, type Json } from './json.ts';
import { compared, type Played } from './likeness.ts';
import { playCase } from './play.ts';
import { type RecordedCase, recordedCases } from './recorded-case.ts';
import { ServerUnderTest } from './server-under-test.ts';

const CASES = [
  'watch/ws-bookmark',
  'watch/table-include-object',
  'list/pages',
  'delete/uid-precondition',
  'kinds/deployment-table',
];

describe.each(CASES)('%s', (path) => {
  it('is like its golden only as long as no value is different, missing or more', async () => {
    const [area, name] = path.split('/');
    const recorded = recordedCases(area!).find((other) => other.name === name)!;
    await using server = await ServerUnderTest.start();
    const played = await playCase(recorded, server);
    expect(agree(recorded, played)).toBe(true);
    const unnoticed = variants(played.outcomes).filter(([, outcomes]) => agree(recorded, { ...played, outcomes }));
    expect(unnoticed.map(([where]) => where)).toEqual([]);
  });
});

function agree(recorded: RecordedCase, played: Played): boolean {
  const { actual, golden } = compared(recorded, played);
  try {
    expect(actual).toEqual(golden);
    return true;
  } catch {
    return false;
  }
}

/** Every copy with one value changed, left out, said twice, or exchanged with another one before. */
function variants(value: Json, where = ''): [string, Json][] {
  if (Array.isArray(value)) {
    return value.flatMap((element, place) => {
      const replaced = (...others: Json[]): Json => [...value.slice(0, place), ...others, ...value.slice(place + 1)];
      const before = value.slice(0, Math.max(place - 1, 0));
      return [
        ...variants(element, `${where}/${place}`).map(([at, other]): [string, Json] => [at, replaced(other)]),
        [`${where}/${place} missing`, replaced()],
        [`${where}/${place} twice`, replaced(element, element)],
        ...(place === 0 || canonical(element) === canonical(value[place - 1])
          ? []
          : [[`${where}/${place} earlier`, [...before, element, value[place - 1], ...value.slice(place + 1)]]]),
      ] as [string, Json][];
    });
  }
  if (!isObject(value)) return [[where, typeof value === 'string' ? `x${value}` : 'other']];
  return Object.keys(value)
    .filter((key) => key !== 'description')
    .flatMap((key) => {
      const { [key]: inner, ...rest } = value;
      const changed = variants(inner, `${where}/${key}`).map(([at, other]) => [at, { ...rest, [key]: other }]);
      return [...changed, [`${where}/${key} missing`, rest]] as [string, Json][];
    });
}
