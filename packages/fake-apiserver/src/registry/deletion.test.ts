// Finalizers, grace and propagation: what a delete leaves of an object, and what is left of that when others delete too.
// Upstream test: apiserver@v0.30.3:pkg/registry/generic/registry/store_test.go
import { type DeleteOptions, realClock } from '@kube-rx/apimachinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIST } from '../../test/support/custom-fixture.ts';
import { openRegistry, type Plain, RegistryCalls, type RegistryFixture } from '../../test/support/registry-fixture.ts';
import type { AdmissionPlugin } from '../admission/admission.ts';
import { deletionFinalizers, markAsDeleting } from './before-delete.ts';
import type { Store } from './store.ts';
import type { GarbageCollectionPolicy } from './strategy.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';
const PODS = '/api/v1/namespaces/ns/pods';
const OWN = 'foo.com/x';

const pod = (name: string, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i:1' }] },
});

describe('deletion', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  /** The object of this name is removed by somebody else when its removal is admitted. */
  let takeAway = '';
  let admitted = 0;
  beforeAll(async () => {
    const takeAwayOnce: AdmissionPlugin = {
      name: 'TakeAway',
      async validate({ operation, resource, name }) {
        if (operation !== 'DELETE' || name !== takeAway) return;
        // A pod is admitted when it is marked and when it is removed.
        if (resource.resource === 'pods' && admitted++ === 0) return;
        takeAway = '';
        admitted = 0;
        const store = fixture.storeAt(`/api/v1/namespaces/ns/${resource.resource}`) as Store;
        await store.core.storage.delete(store.keyOf('ns', name));
      },
    };
    fixture = await openRegistry({ admission: [takeAwayOnce] }, { start: false });
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
  });
  afterAll(() => fixture.close());

  const release = (path: string): Promise<unknown> =>
    calls.update(path, (object) => {
      object.metadata['finalizers'] = [];
    });
  const gone = { code: 404 };

  // Upstream: TestGracefulStoreHandleFinalizers, TestNonGracefulStoreHandleFinalizers
  describe('with finalizers', () => {
    it.each([
      ['a graceful kind deleted without grace', PODS, { gracePeriodSeconds: 0 }],
      ['a kind without grace', MAPS, {}],
    ])('marks %s once, keeps it through other updates, and lets it go with the last finalizer', async (...row) => {
      const [, at, options] = row;
      const name = 'marked';
      const path = `${at}/${name}`;
      await calls.create(
        at,
        at === PODS ? pod(name, { finalizers: [OWN] }) : { metadata: { name, finalizers: [OWN] } },
      );
      const marked = (await calls.delete(path, options)) as Plain;
      expect(marked.metadata).toMatchObject({
        deletionTimestamp: expect.any(String),
        deletionGracePeriodSeconds: 0,
        finalizers: [OWN],
      });
      const again = (await calls.delete(path, options)) as Plain;
      expect(again.metadata).toMatchObject({ deletionTimestamp: marked.metadata['deletionTimestamp'] });
      await calls.update(path, (object) => {
        object.metadata['labels'] = { a: 'b' };
      });
      expect(await calls.get(path)).toMatchObject({ metadata: { labels: { a: 'b' }, deletionGracePeriodSeconds: 0 } });
      expect(await release(path)).toMatchObject({ metadata: { name } });
      expect(await calls.get(path)).toMatchObject(gone);
    });

    it('takes no new finalizer on an object that is being deleted, and lets one go', async () => {
      await calls.create(MAPS, { metadata: { name: 'late', finalizers: [OWN, 'foo.com/y'] } });
      await calls.delete(`${MAPS}/late`);
      const set = (finalizers: string[]): Promise<unknown> =>
        calls.update(`${MAPS}/late`, (object) => {
          object.metadata['finalizers'] = finalizers;
        });
      expect(await set([OWN, 'foo.com/y', 'foo.com/z'])).toMatchObject({ code: 422 });
      expect(await set([OWN])).toMatchObject({ metadata: { finalizers: [OWN] } });
      await release(`${MAPS}/late`);
      expect(await calls.get(`${MAPS}/late`)).toMatchObject(gone);
    });

    it('keeps a pod in its grace when its finalizer goes first, and without grace until the finalizer goes', async () => {
      await calls.create(PODS, pod('grace-last', { finalizers: [OWN] }));
      expect(await calls.delete(`${PODS}/grace-last`)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
      await release(`${PODS}/grace-last`);
      expect(await calls.get(`${PODS}/grace-last`)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
      expect(await calls.delete(`${PODS}/grace-last`, { gracePeriodSeconds: 0 })).toBe(true);

      await calls.create(PODS, pod('finalizer-last', { finalizers: [OWN] }));
      await calls.delete(`${PODS}/finalizer-last`);
      expect(await calls.delete(`${PODS}/finalizer-last`, { gracePeriodSeconds: 0 })).toMatchObject({
        metadata: { deletionGracePeriodSeconds: 0, finalizers: [OWN] },
      });
      await release(`${PODS}/finalizer-last`);
      expect(await calls.get(`${PODS}/finalizer-last`)).toMatchObject(gone);
    });
  });

  it('shares the end of an object with others that delete or release it at the same time', async () => {
    await calls.create(MAPS, { metadata: { name: 'shared', finalizers: [OWN] } });
    await calls.delete(`${MAPS}/shared`);
    for (const answer of await Promise.all([release(`${MAPS}/shared`), release(`${MAPS}/shared`)]))
      expect(answer).toMatchObject({ metadata: { name: 'shared' } });
    expect(await calls.get(`${MAPS}/shared`)).toMatchObject(gone);
    // Somebody else removes a pod between its mark and its removal.
    await calls.create(PODS, pod('taken'));
    takeAway = 'taken';
    expect(await calls.delete(`${PODS}/taken`, { gracePeriodSeconds: 0 })).toBe(true);
    expect(takeAway).toBe('');
    await calls.create(MAPS, { metadata: { name: 'taken' } });
    takeAway = 'taken';
    expect(await calls.delete(`${MAPS}/taken`)).toMatchObject(gone);
  });

  it.each([
    ['later than now is brought forward', 10_000, 0],
    ['in the past stays', -10_000, -10_000],
    ['that is none is set', undefined, 0],
  ])('a time of deletion %s when finalizers keep the object', (_what, offsetMs, expectedMs) => {
    const now = Date.UTC(2024, 0, 1);
    const at = (ms: number): string => new Date(now + ms).toISOString().replace('.000', '');
    const object = {
      metadata: { generation: 3, ...(offsetMs === undefined ? {} : { deletionTimestamp: at(offsetMs) }) },
    };
    markAsDeleting(object, now);
    expect(object.metadata).toEqual({
      generation: offsetMs === undefined ? 4 : 3,
      deletionTimestamp: at(expectedMs),
      deletionGracePeriodSeconds: 0,
    });
  });

  // Upstream: TestStoreDeleteWithOrphanDependents, TestStoreDeletionPropagation, TestDeletionFinalizersForGarbageCollection
  describe('finalizers for the garbage collector', () => {
    const [ORPHAN, FOREGROUND] = ['orphan', 'foregroundDeletion'];
    const finalizers = (policy: GarbageCollectionPolicy, present: string[], options: DeleteOptions): string[] => [
      ...(deletionFinalizers(
        { namespaced: true, garbageCollection: policy },
        { metadata: { finalizers: present } },
        options,
      ) ?? present),
    ];
    const policies = ['background', 'orphan', 'unsupported'] as const;
    const starts = [
      [],
      [OWN],
      [ORPHAN],
      [FOREGROUND],
      [OWN, ORPHAN],
      [OWN, FOREGROUND],
      [ORPHAN, FOREGROUND],
    ] as string[][];

    it.each([
      ['orphanDependents true', { orphanDependents: true }, [ORPHAN]],
      ['orphanDependents false', { orphanDependents: false }, []],
      ['propagation Orphan', { propagationPolicy: 'Orphan' }, [ORPHAN]],
      ['propagation Foreground', { propagationPolicy: 'Foreground' }, [FOREGROUND]],
      ['propagation Background', { propagationPolicy: 'Background' }, []],
    ] as [string, DeleteOptions, string[]][])(
      'follow %s, whatever was there and whatever the kind prefers',
      (...row) => {
        const [, options, wanted] = row;
        for (const present of starts) {
          const others = present.filter((name) => name === OWN);
          for (const policy of ['background', 'orphan'] as const)
            expect(finalizers(policy, present, options).sort()).toEqual([...others, ...wanted].sort());
          expect(finalizers('unsupported', present, options)).toEqual(others);
        }
      },
    );

    it.each([
      ['the preference of the kind', [], { background: [], orphan: [ORPHAN], unsupported: [] }],
      ['the preference of the kind', [OWN], { background: [OWN], orphan: [OWN, ORPHAN], unsupported: [OWN] }],
      ['a finalizer that is there', [ORPHAN], { background: [ORPHAN], orphan: [ORPHAN], unsupported: [] }],
      ['a finalizer that is there', [FOREGROUND], { background: [FOREGROUND], orphan: [FOREGROUND], unsupported: [] }],
      ['the first of two', [ORPHAN, FOREGROUND], { background: [ORPHAN], orphan: [ORPHAN], unsupported: [] }],
      ['the first of two', [FOREGROUND, ORPHAN], { background: [FOREGROUND], orphan: [FOREGROUND], unsupported: [] }],
    ] as [string, string[], Record<GarbageCollectionPolicy, string[]>][])(
      'follow %s when nothing is asked (%j)',
      (_what, present, wanted) => {
        for (const policy of policies) expect(finalizers(policy, present, {})).toEqual(wanted[policy]);
      },
    );

    it('says that nothing changes when they are there already', () => {
      const metadata = { finalizers: [ORPHAN, OWN] };
      expect(deletionFinalizers({ namespaced: true }, { metadata }, { orphanDependents: true })).toBeUndefined();
    });

    it.each([
      [{ orphanDependents: true }, [OWN, ORPHAN]],
      [{ propagationPolicy: 'Foreground' }, [OWN, FOREGROUND]],
      [{ propagationPolicy: 'Background' }, [OWN]],
    ] as [DeleteOptions, string[]][])(
      'are stored beside others, and replaced by a later delete (%o)',
      async (...row) => {
        const [options, wanted] = row;
        await calls.create(MAPS, { metadata: { name: 'gc', finalizers: [OWN, ORPHAN] } });
        const marked = (await calls.delete(`${MAPS}/gc`, options)) as Plain;
        expect(marked.metadata['finalizers']).toEqual(wanted);
        const other = (await calls.delete(`${MAPS}/gc`, { propagationPolicy: 'Background' })) as Plain;
        expect(other.metadata['finalizers']).toEqual([OWN]);
        await release(`${MAPS}/gc`);
        expect(await calls.get(`${MAPS}/gc`)).toMatchObject(gone);
      },
    );

    it('let an object go at once when the delete takes the only one off', async () => {
      await calls.create(MAPS, { metadata: { name: 'freed', finalizers: [ORPHAN] } });
      expect(await calls.delete(`${MAPS}/freed`, { orphanDependents: false })).toBe(true);
      expect(await calls.get(`${MAPS}/freed`)).toMatchObject(gone);
    });

    it('are refused when a delete asks in both ways', async () => {
      const both = { orphanDependents: true, propagationPolicy: 'Orphan' } as const;
      await calls.create(MAPS, { metadata: { name: 'both' } });
      expect(await calls.delete(`${MAPS}/both`, both)).toMatchObject({ code: 422 });
    });
  });

  // Upstream: TestStoreDeleteCollectionNotFound
  describe('of a collection', () => {
    it('shares the work with others that delete at the same time, and none of them fails', async () => {
      const [maps, names] = ['/api/v1/namespaces/race/configmaps', Array.from({ length: 20 }, (_, at) => `m${at}`)];
      await fixture.createNamespace('race');
      for (const name of names) await calls.create(maps, { metadata: { name } });
      const store = fixture.storeAt(maps);
      const list = { ...LIST, namespace: 'race' };
      const drop = (): Promise<unknown> =>
        store.deleteCollection(fixture.ctx, { namespace: 'race', options: {}, list, dryRun: false });
      const watch = await store.watch(fixture.ctx, {
        ...list,
        resourceVersion: (await store.list(fixture.ctx, list)).resourceVersion,
        allowWatchBookmarks: false,
        sendInitialEvents: undefined,
        deadlineMs: realClock.now() + 60_000,
      });
      const single = names.map((name) => calls.delete(`${maps}/${name}`));
      const bulk = await Promise.all(Array.from({ length: 5 }, drop));
      const answers = await Promise.all(single);
      expect(bulk).toHaveLength(5);
      for (const answer of answers) expect([true, 404]).toContain((answer as { code?: number }).code ?? answer);
      expect((await store.list(fixture.ctx, list)).items).toEqual([]);
      // Each object went once.
      const deleted: (string | undefined)[] = [];
      await expect
        .poll(() => {
          for (let event = watch.next(); event !== undefined; event = watch.next())
            deleted.push(`${event.type} ${event.type === 'DELETED' ? event.object.object.metadata.name : ''}`);
          return deleted.length;
        })
        .toBe(names.length);
      expect(deleted.sort()).toEqual(names.map((name) => `DELETED ${name}`).sort());
      watch.stop();
    });
  });
});
