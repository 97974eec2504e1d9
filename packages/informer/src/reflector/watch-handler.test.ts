import { beforeEach, describe, expect, it } from 'vitest';
import { errorEvent, event, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { ReflectorStore } from './reflector-store.ts';
import { WatchHandler } from './watch-handler.ts';

describe('WatchHandler', () => {
  let done: string[];
  let problems: string[];
  let store: ReflectorStore<TestObject>;
  const line = (op: string) => (object: TestObject) =>
    void done.push(`${op} ${object.metadata.name}@${object.metadata.resourceVersion}`);
  const handler = (initial = false) =>
    new WatchHandler<TestObject>('10', {
      store,
      expected: { apiVersion: 'v1', kind: 'ConfigMap' },
      initial,
      onProblem: (kind, error) => problems.push(`${kind}: ${error.message}`),
    });

  beforeEach(() => {
    done = [];
    problems = [];
    store = {
      add: line('add'),
      update: line('update'),
      delete: line('delete'),
      replace() {},
      updateResourceVersion: (version) => void done.push(`rv ${version}`),
    };
  });

  it('applies events in order and moves the version, bookmarks and deletions included', () => {
    const under = handler();
    for (const each of ['ADDED a@11', 'MODIFIED a@12', 'BOOKMARK 20', 'DELETED a@21']) under.apply(event(each));
    expect(done).toEqual(['add a@11', 'rv 11', 'update a@12', 'rv 12', 'rv 20', 'delete a@21', 'rv 21']);
    expect([under.events, under.resourceVersion, under.bookmark]).toEqual([4, '21', '20']);
  });

  it('has moved the version when the store is written', () => {
    let seen = '';
    const record = (): void => {
      seen = under.resourceVersion;
    };
    const under: WatchHandler<TestObject> = new WatchHandler<TestObject>('10', {
      store: { ...store, add: () => record() },
      expected: undefined,
      initial: false,
      onProblem() {},
    });
    under.apply(event('ADDED a@11'));
    expect(seen).toBe('11');
  });

  it('skips another kind: no version, no count, but a problem', () => {
    const under = handler();
    const secret = event('ADDED s@15');
    under.apply({ ...secret, object: { ...secret.object, kind: 'Secret' } } as typeof secret);
    expect([under.events, under.resourceVersion, done]).toEqual([0, '10', []]);
    expect(problems[0]).toMatch(/expected v1 ConfigMap, but the watch sent v1 Secret/);
  });

  it.each([
    ['one kind is expected', { apiVersion: 'v1', kind: 'ConfigMap' }, false],
    ['any kind is welcome', undefined, false],
    ['any kind is welcome, in the initial phase', undefined, true],
  ])('skips a Table where %s', (_where, expected, initial) => {
    const onProblem = (kind: string, error: Error) => void problems.push(`${kind}: ${error.message}`);
    const under = new WatchHandler<TestObject>('10', { store, expected, initial, onProblem });
    const row = event('ADDED a@15');
    for (const version of ['v1', 'v1beta1']) {
      const table = { ...row.object, kind: 'Table', apiVersion: `meta.k8s.io/${version}` };
      expect(under.apply({ ...row, object: table } as typeof row).kind).toBe('applied');
    }
    expect([under.events, under.resourceVersion, done]).toEqual([0, '10', []]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/^decode: .*Table/);
    // A kind of somebody else's may be called so.
    const furniture = { ...row.object, kind: 'Table', apiVersion: 'ikea.test/v1' };
    under.apply({ ...row, object: furniture } as typeof row);
    expect(done).toEqual(expected === undefined ? ['add a@15', 'rv 15'] : []);
  });

  it('goes on after a store that throws, with the version moved', () => {
    const under = handler();
    store.add = () => {
      throw new Error('full');
    };
    expect(under.apply(event('ADDED a@11')).kind).toBe('applied');
    expect([under.resourceVersion, problems]).toEqual(['11', ['store: full']]);
  });

  it('ends the initial phase only at the annotated bookmark, and only when there is one', () => {
    const under = handler(true);
    expect(under.apply(event('BOOKMARK 11')).kind).toBe('applied');
    expect(under.apply(event('BOOKMARK 12 end')).kind).toBe('initial-events-end');
    expect(handler().apply(event('BOOKMARK 12 end')).kind).toBe('applied');
  });

  it('turns an ERROR into an error and leaves the version alone', () => {
    const under = handler();
    expect(under.apply(errorEvent(410, 'Expired'))).toMatchObject({ kind: 'error', error: { status: { code: 410 } } });
    expect(under.resourceVersion).toBe('10');
    expect(under.apply({ type: 'ERROR', object: { kind: 'ConfigMap' } as never })).toMatchObject({
      kind: 'error',
      error: { code: 'BAD_EVENT' },
    });
  });
});
