import { describe, expect, it } from 'vitest';
import { differences, FollowedState } from './followed-state.ts';

const object = (name: string, resourceVersion: string, more: object = {}) => ({
  metadata: { name, namespace: 'a', resourceVersion },
  ...more,
});
const line = (type: string, name: string, resourceVersion: string, more: object = {}): string =>
  JSON.stringify({
    type,
    resource: 'pods',
    namespace: 'a',
    name,
    resourceVersion,
    object: object(name, resourceVersion),
    ...more,
  });

describe('FollowedState', () => {
  it('knows what is there after any number of lines', () => {
    const state = new FollowedState();
    state.read(line('added', 'x', '1'));
    state.read(line('added', 'y', '2'));
    state.read(line('updated', 'x', '3'));
    state.read(line('deleted', 'y', '2', { finalState: 'unknown' }));
    state.read(line('added', 'y', '5'));
    state.read(line('deleted', 'y', '6', { finalState: 'known' }));
    state.read('{"type":"synced","resource":"pods","first":true}');
    state.read('{"type":"fault","resource":"pods","kind":"expired"}');
    expect(state.problems).toEqual([]);
    expect([...state.objects]).toEqual([['pods a/x', object('x', '3')]]);
    expect(state.synced).toEqual(new Set(['pods']));
    expect(state.counts.get('fault expired')).toBe(1);
  });

  it.each([
    ['added twice', [line('added', 'x', '1'), line('added', 'x', '2')], /out of turn/],
    ['updated before it was added', [line('updated', 'x', '1')], /out of turn/],
    ['deleted twice', [line('added', 'x', '1'), line('deleted', 'x', '2'), line('deleted', 'x', '3')], /out of turn/],
    ['told in an older state', [line('added', 'x', '5'), line('updated', 'x', '4')], /went from 5 to 4/],
    ['told in the same state again', [line('added', 'x', '5'), line('updated', 'x', '5')], /went from 5 to 5/],
    [
      'added again from the past',
      [line('added', 'x', '5'), line('deleted', 'x', '7'), line('added', 'x', '6')],
      /from 7/,
    ],
    ['told with another version than its own', [line('added', 'x', '5', { object: object('x', '4') })], /two versions/],
    ['not told as JSON', ['{"type":'], /no JSON/],
  ])('objects to an object that is %s', (_what, lines, problem) => {
    const state = new FollowedState();
    for (const each of lines) state.read(each);
    expect(state.problems.join('\n')).toMatch(problem);
  });
});

describe('differences', () => {
  it('names what is missing, older, different or too much, whatever the order of fields', () => {
    const map = (...objects: ReturnType<typeof object>[]) => new Map(objects.map((each) => [each.metadata.name, each]));
    expect(differences(map(object('a', '1', { x: 1, y: 2 })), map(object('a', '1', { y: 2, x: 1 })))).toEqual([]);
    expect(
      differences(
        map(object('b', '1'), object('c', '1', { x: 1 }), object('d', '1')),
        map(object('a', '1'), object('b', '2'), object('c', '1', { x: 2 })),
      ),
    ).toEqual(['a is missing', 'b is at 1, not at 2', 'c has another content', 'd should not be there']);
  });
});
