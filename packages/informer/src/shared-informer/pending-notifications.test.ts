// The queue before a handler, and what joining its events may and may not change for whoever is told them.
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { object, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import { PendingNotifications } from './pending-notifications.ts';
import type { StoreEvent } from './store-event.ts';

type Event = StoreEvent<TestObject>;
const live = (notation: string): Live<TestObject> => object(notation) as Live<TestObject>;

const added = (notation: string, initial = false, cause: 'list' | 'watch' | 'replay' = 'watch'): Event => ({
  type: 'added',
  object: live(notation),
  initial,
  cause,
});
const updated = (from: string, to: string, cause: 'list' | 'watch' | 'resync' = 'watch'): Event => {
  const [previous, next] = [live(from), live(to)];
  return { type: 'updated', object: next, previous, recreated: previous.metadata.uid !== next.metadata.uid, cause };
};
const deleted = (notation: string): Event => ({
  type: 'deleted',
  object: live(notation),
  finalState: 'known',
  cause: 'watch',
});
const synced = (resourceVersion: string, first: boolean): Event => ({
  type: 'synced',
  resourceVersion,
  size: 1,
  first,
});

const nameOf = (each: TestObject): string =>
  `${each.metadata.name}@${each.metadata.resourceVersion}${each.metadata.uid?.endsWith('-1') ? '' : '#'}`;
function text(event: Event): string {
  if (event.type === 'synced') return `synced ${event.resourceVersion}${event.first ? ' first' : ''}`;
  const cause = event.cause === 'watch' ? '' : ` by ${event.cause}`;
  if (event.type === 'added') return `add ${nameOf(event.object)}${event.initial ? ' initial' : ''}${cause}`;
  const unknown = event.type === 'deleted' && event.finalState === 'unknown' ? ' unknown' : '';
  if (event.type === 'deleted') return `delete ${nameOf(event.object)}${unknown}${cause}`;
  return `update ${nameOf(event.previous)}>${nameOf(event.object)}${event.recreated ? ' recreated' : ''}${cause}`;
}

describe('PendingNotifications', () => {
  let pending: PendingNotifications<TestObject>;
  beforeEach(() => {
    pending = new PendingNotifications<TestObject>();
  });
  const push = (...events: Event[]): void => {
    for (const event of events) pending.push(event);
  };
  const drain = (): string[] => {
    const lines: string[] = [];
    for (let event = pending.shift(); event !== undefined; event = pending.shift()) lines.push(text(event));
    expect(pending.length).toBe(0);
    return lines;
  };

  it('gives in order what came, also over thousands while more comes', () => {
    let next = 0;
    let expected = 0;
    for (let round = 0; round < 50; round++) {
      for (let count = 0; count < 100; count++) push(synced(String(next++), false));
      for (let count = 0; count < 95; count++)
        expect(pending.shift()).toMatchObject({ resourceVersion: String(expected++) });
      expect(pending.length).toBe(next - expected);
    }
    pending.clear();
    expect([pending.length, pending.shift()]).toEqual([0, undefined]);
    push(added('a@1'));
    expect(drain()).toEqual(['add a@1']);
  });

  it.each<[string, Event[], string[], number?]>([
    ['two updates', [updated('a@1', 'a@2'), updated('a@2', 'a@3')], ['update a@1>a@3']],
    ['an addition and an update', [added('a@1', true), updated('a@1', 'a@2')], ['add a@2 initial']],
    ['an addition and a deletion', [added('a@1'), deleted('a@2')], []],
    ['an initial addition and a deletion', [added('a@1', true), deleted('a@2')], [], 1],
    [
      'an initial addition, an update and a deletion',
      [added('a@1', true), updated('a@1', 'a@2'), deleted('a@3')],
      [],
      1,
    ],
    ['an update and a deletion', [updated('a@1', 'a@2'), deleted('a@3')], ['delete a@3']],
    ['a deletion and an addition', [deleted('a@3'), added('a@4#2')], ['update a@3>a@4# recreated']],
    [
      'an update, a deletion and an addition: the handler holds what the update was from',
      [updated('a@1', 'a@2'), deleted('a@3'), added('a@4#2'), updated('a@4#2', 'a@5#2')],
      ['update a@1>a@5# recreated'],
    ],
    [
      'a deletion of what the handler holds, and one that came and went meanwhile',
      [deleted('a@3'), added('a@4#2'), deleted('a@5#2')],
      ['delete a@3 unknown'],
    ],
    [
      'a deletion and two that came after it, of which the handler saw none',
      [updated('a@1', 'a@2'), deleted('a@3'), added('a@4#2'), deleted('a@5#2'), added('a@6#3')],
      ['update a@1>a@6# recreated'],
    ],
    [
      'a replacement and the deletion of the new one',
      [updated('a@1', 'a@4#2', 'list'), deleted('a@5#2')],
      ['delete a@1 unknown'],
    ],
    [
      'a replacement and an update',
      [updated('a@1', 'a@4#2', 'list'), updated('a@4#2', 'a@5#2')],
      ['update a@1>a@5# recreated'],
    ],
    [
      'an update and a replacement',
      [updated('a@1', 'a@2'), updated('a@2', 'a@4#2', 'list')],
      ['update a@1>a@4# recreated by list'],
    ],
    [
      'a deletion and a replay',
      [deleted('a@3'), added('a@4#2', false, 'replay')],
      ['update a@3>a@4# recreated by list'],
    ],
    ['an update and a resync', [updated('a@1', 'a@2'), updated('a@2', 'a@2', 'resync')], ['update a@1>a@2 by resync']],
    [
      'two objects, each at the place of its first event',
      [updated('b@1', 'b@2'), added('a@3'), updated('b@2', 'b@4')],
      ['update b@1>b@4', 'add a@3'],
    ],
    [
      'what vanished and came again',
      [added('a@1'), deleted('a@2'), added('b@3'), added('a@4#2')],
      ['add b@3', 'add a@4#'],
    ],
    [
      'the ends of two lists, the later behind everything',
      [synced('5', true), added('a@6'), synced('9', false), updated('a@6', 'a@10')],
      ['add a@10', 'synced 9 first'],
    ],
    ['the end of one list', [synced('5', false), added('a@6')], ['add a@6', 'synced 5']],
  ])('joins %s', (_what, events, lines, vanished = 0) => {
    push(synced('0', false));
    pending.shift();
    push(...events);
    expect(pending.conflate()).toBe(vanished);
    expect(pending.length).toBe(lines.length);
    expect(drain()).toEqual(lines);
  });

  it('tells a handler after joining the same end, with a past that fits what it holds', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean(), fc.boolean()), { maxLength: 40 });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 0, max: 40 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 3 }),
        (given, toldFirst, at) => {
          const queue = new PendingNotifications<TestObject>();
          const truth = new Map<string, Live<TestObject>>();
          const held = new Map<string, Live<TestObject>>();
          const initials = { sent: 0, told: 0 };
          let vanished = 0;
          const tell = (event: Event): void => {
            if (event.type === 'synced') return;
            const { name } = event.object.metadata;
            if (event.type === 'added') {
              expect(held.has(name)).toBe(false);
              if (event.initial) initials.told++;
            } else expect(held.has(name)).toBe(true);
            if (event.type === 'updated') {
              expect(event.recreated).toBe(held.get(name)!.metadata.uid !== event.object.metadata.uid);
              if (!event.recreated) expect(event.previous).toBe(held.get(name));
            }
            if (event.type === 'deleted') held.delete(name);
            else held.set(name, event.object);
          };
          let version = 0;
          let uid = 0;
          for (const [index, [name, remove, initial]] of given.entries()) {
            const known = truth.get(name);
            version++;
            if (known === undefined) {
              const made = live(`${name}@${version}#${++uid}`);
              truth.set(name, made);
              if (initial) initials.sent++;
              queue.push({ type: 'added', object: made, initial, cause: 'watch' });
            } else if (remove) {
              truth.delete(name);
              queue.push({ type: 'deleted', object: known, finalState: 'known', cause: 'watch' });
            } else {
              const next = live(`${name}@${version}#${known.metadata.uid!.split('-')[1]}`);
              truth.set(name, next);
              queue.push({ type: 'updated', object: next, previous: known, recreated: false, cause: 'watch' });
            }
            if (index === toldFirst)
              for (let count = 0; count < 3; count++) {
                const event = queue.shift();
                if (event !== undefined) tell(event);
              }
            if (at.includes(index)) vanished += queue.conflate();
          }
          for (let event = queue.shift(); event !== undefined; event = queue.shift()) tell(event);
          expect(held).toEqual(truth);
          // Every initial object is either told or said to have vanished.
          expect(initials.told + vanished).toBe(initials.sent);
        },
      ),
    );
  });
});
