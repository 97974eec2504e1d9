// What the storage layer relies on in etcd. Every backend passes it: embedded, embedded with a data directory, real etcd.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  EtcdClient,
  EtcdEvent,
  EtcdWatch,
  Revision,
  TxnRequest,
  WatchRequest,
} from '../../packages/fake-apiserver/src/etcd/client.ts';
import { prefixEnd } from '../../packages/fake-apiserver/src/etcd/client.ts';

export interface EtcdUnderTest {
  readonly client: EtcdClient;
  /** Lets what is under way arrive. */
  tick(): Promise<void>;
  /** Lets time pass for leases; absent where only real time can. */
  readonly advance?: ((ms: number) => Promise<void>) | undefined;
  close(): Promise<void>;
}

export interface EtcdClientSuiteOptions {
  readonly name: string;
  /** Keys of different tests must not meet on a shared etcd: all keys start with this. Default `/t/`. */
  readonly prefix?: string;
  create(): Promise<EtcdUnderTest>;
}

interface Recorded {
  readonly watch: EtcdWatch;
  readonly lines: string[];
  readonly events: EtcdEvent[];
  readonly progress: Revision[];
  ended: Error | undefined | 'open';
}

export function describeEtcdClient(options: EtcdClientSuiteOptions): void {
  const prefix = options.prefix ?? '/t/';
  const key = (name: string): string => prefix + name;
  const all = { key: prefix, rangeEnd: prefixEnd(prefix) };

  describe(`EtcdClient: ${options.name}`, () => {
    let etcd: EtcdUnderTest;
    let client: EtcdClient;

    beforeEach(async () => {
      etcd = await options.create();
      client = etcd.client;
    });
    afterEach(() => etcd.close());

    const put = async (name: string, value: string, lease?: string): Promise<Revision> => {
      const op = { op: 'put' as const, key: key(name), value: Buffer.from(value), lease };
      return (await client.txn({ compare: [], success: [op], failure: [] })).revision;
    };
    const remove = async (name: string): Promise<Revision> =>
      (await client.txn({ compare: [], success: [{ op: 'delete', key: key(name) }], failure: [] })).revision;
    const read = async (name: string, revision?: Revision) => (await client.range({ key: key(name), revision })).kvs[0];
    const now = async (): Promise<Revision> => (await client.status()).revision;

    const until = async (holds: () => boolean): Promise<void> => {
      for (let i = 0; i < 200 && !holds(); i++) await etcd.tick();
      expect(holds()).toBe(true);
    };
    const record = (request: Partial<WatchRequest> = {}): Recorded => {
      const recorded: { -readonly [K in keyof Recorded]: Recorded[K] } = {
        watch: undefined as unknown as EtcdWatch,
        lines: [],
        events: [],
        progress: [],
        ended: 'open',
      };
      recorded.watch = client.watch(
        { ...all, prevKv: true, ...request },
        {
          events: (events) => {
            for (const event of events) {
              recorded.events.push(event);
              const { key: full, modRevision } = event.kv;
              recorded.lines.push(`${event.type} ${full.slice(prefix.length)} ${modRevision}`);
            }
          },
          progress: (revision) => recorded.progress.push(revision),
          ended: (error) => {
            recorded.ended = error;
          },
        },
      );
      return recorded;
    };

    describe('writes', () => {
      it('count versions and remember the revision of creation', async () => {
        const created = await put('a', '1');
        const updated = await put('a', '2');
        expect(updated).toBe(created + 1);
        expect(await read('a')).toEqual({
          key: key('a'),
          value: Buffer.from('2'),
          createRevision: created,
          modRevision: updated,
          version: 2,
          lease: '',
        });
        await remove('a');
        expect(await read('a')).toBeUndefined();
        const again = await put('a', '3');
        expect(await read('a')).toMatchObject({ createRevision: again, modRevision: again, version: 1 });
      });

      it('of one transaction share one revision', async () => {
        const before = await now();
        const answer = await client.txn({
          compare: [],
          success: ['a', 'b'].map((name) => ({ op: 'put', key: key(name), value: Buffer.from(name) })),
          failure: [],
        });
        expect(answer.revision).toBe(before + 1);
        expect((await client.range(all)).kvs.map(({ modRevision }) => modRevision)).toEqual([before + 1, before + 1]);
      });

      it('that change nothing leave the revision alone', async () => {
        const before = await now();
        expect(await remove('missing')).toBe(before);
        expect(await now()).toBe(before);
      });

      it('of one key twice in a transaction are refused', async () => {
        const op = { op: 'put' as const, key: key('a'), value: Buffer.from('1') };
        await expect(client.txn({ compare: [], success: [op, op], failure: [] })).rejects.toMatchObject({
          name: 'EtcdError',
          code: 'DuplicateKey',
        });
      });

      it('above the size limit are refused with the text of etcd', async () => {
        const op = { op: 'put' as const, key: key('big'), value: Buffer.alloc(1.5 * 1024 * 1024) };
        const before = await now();
        await expect(client.txn({ compare: [], success: [op], failure: [] })).rejects.toMatchObject({
          name: 'EtcdError',
          code: 'RequestTooLarge',
          message: 'etcdserver: request is too large',
        });
        expect(await now()).toBe(before);
      });

      it('keep bytes that are no text', async () => {
        const value = Buffer.from([0x6b, 0x38, 0x73, 0x00, 0xff, 0xfe, 0x80]);
        await client.txn({ compare: [], success: [{ op: 'put', key: key('b'), value }], failure: [] });
        expect((await read('b'))?.value.equals(value)).toBe(true);
      });
    });

    describe('transactions', () => {
      const createOnly = (name: string): TxnRequest => ({
        compare: [{ key: key(name), target: 'modRevision', equals: 0 }],
        success: [{ op: 'put', key: key(name), value: Buffer.from('new') }],
        failure: [{ op: 'range', key: key(name) }],
      });

      it('compare a missing key as zero', async () => {
        expect((await client.txn(createOnly('a'))).succeeded).toBe(true);
        const second = await client.txn(createOnly('a'));
        expect(second.succeeded).toBe(false);
        const [found] = second.responses;
        expect(found?.op === 'range' && found.kvs[0]?.value.toString()).toBe('new');
      });

      it('compare create revision and version', async () => {
        const created = await put('a', '1');
        await put('a', '2');
        const ask = async (target: 'createRevision' | 'version', equals: number): Promise<boolean> =>
          (await client.txn({ compare: [{ key: key('a'), target, equals }], success: [], failure: [] })).succeeded;
        expect(await ask('createRevision', created)).toBe(true);
        expect(await ask('createRevision', created + 1)).toBe(false);
        expect(await ask('version', 2)).toBe(true);
        expect(await ask('version', 1)).toBe(false);
      });

      it('that only read do not move the revision', async () => {
        const before = await now();
        await client.txn({ compare: [], success: [{ op: 'range', key: key('a') }], failure: [] });
        expect(await now()).toBe(before);
      });

      it('tell how many keys a delete removed', async () => {
        await put('a', '1');
        const answer = await client.txn({
          compare: [],
          success: [
            { op: 'delete', key: key('a') },
            { op: 'delete', key: key('b') },
          ],
          failure: [],
        });
        expect(answer.responses).toEqual([
          { op: 'delete', deleted: 1 },
          { op: 'delete', deleted: 0 },
        ]);
      });

      it('let one of several writers with the same expectation win', async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => client.txn(createOnly('race'))));
        expect(answers.filter(({ succeeded }) => succeeded)).toHaveLength(1);
      });
    });

    describe('ranges', () => {
      it('come in key order, with the count of all behind a limit', async () => {
        for (const name of ['b', 'a/z', 'a', 'c', 'a-b']) await put(name, name);
        const names = async (limit?: number): Promise<string[]> =>
          (await client.range({ ...all, limit })).kvs.map((kv) => kv.key.slice(prefix.length));
        expect(await names()).toEqual(['a', 'a-b', 'a/z', 'b', 'c']);
        expect(await names(2)).toEqual(['a', 'a-b']);
        expect(await client.range({ ...all, limit: 2 })).toMatchObject({ more: true, count: 5 });
        expect(await client.range({ ...all, limit: 5 })).toMatchObject({ more: false, count: 5 });
        expect(await client.range({ ...all, countOnly: true })).toMatchObject({ kvs: [], count: 5 });
      });

      it('end before their end', async () => {
        for (const name of ['a', 'b', 'c']) await put(name, name);
        const { kvs } = await client.range({ key: key('a'), rangeEnd: key('c') });
        expect(kvs.map((kv) => kv.key)).toEqual([key('a'), key('b')]);
      });

      it('without values still show the keys', async () => {
        await put('a', 'value');
        const { kvs } = await client.range({ ...all, keysOnly: true });
        expect(kvs).toHaveLength(1);
        expect(kvs[0]!.value.length).toBe(0);
      });

      it('in the past see what was there', async () => {
        const first = await put('a', '1');
        const second = await put('b', '1');
        await put('a', '2');
        const last = await remove('b');
        expect((await read('a', first))?.value.toString()).toBe('1');
        expect(await read('b', first)).toBeUndefined();
        expect((await client.range({ ...all, revision: second })).count).toBe(2);
        expect((await client.range({ ...all, revision: last })).count).toBe(1);
        expect((await client.range({ ...all, revision: first })).revision).toBe(last);
      });

      it('of the future are refused with the text of etcd', async () => {
        await expect(client.range({ ...all, revision: (await now()) + 1 })).rejects.toMatchObject({
          code: 'FutureRev',
          message: 'etcdserver: mvcc: required revision is a future revision',
        });
      });

      it('stop when they are no longer wanted', async () => {
        const controller = new AbortController();
        controller.abort(new Error('gone'));
        await expect(client.range(all, controller.signal)).rejects.toThrow('gone');
      });
    });

    describe('compaction', () => {
      it('keeps the revision itself and what is current, and nothing before', async () => {
        const first = await put('a', '1');
        const second = await put('a', '2');
        await put('a', '3');
        await client.compact(second);
        await expect(client.range({ ...all, revision: first })).rejects.toMatchObject({
          code: 'Compacted',
          message: 'etcdserver: mvcc: required revision has been compacted',
        });
        expect((await read('a', second))?.value.toString()).toBe('2');
        expect((await read('a'))?.value.toString()).toBe('3');
      });

      it('is refused twice at the same revision and in the future', async () => {
        await put('a', '1');
        const revision = await put('a', '2');
        await client.compact(revision);
        await expect(client.compact(revision)).rejects.toMatchObject({ code: 'Compacted' });
        await expect(client.compact(revision + 100)).rejects.toMatchObject({ code: 'FutureRev' });
      });

      it('does not move the revision', async () => {
        const revision = await put('a', '1');
        await client.compact(revision);
        expect(await now()).toBe(revision);
      });
    });

    describe('watches', () => {
      it('tell changes in order with what was there before', async () => {
        const watch = record({ startRevision: (await now()) + 1 });
        const created = await put('a', '1');
        await put('a', '2');
        await remove('a');
        await until(() => watch.lines.length >= 3);
        expect(watch.lines).toEqual([`put a ${created}`, `put a ${created + 1}`, `delete a ${created + 2}`]);
        const [one, two, three] = watch.events;
        expect(one!.prevKv).toBeUndefined();
        expect(two!.prevKv).toMatchObject({ modRevision: created, version: 1 });
        expect(three!.prevKv?.value.toString()).toBe('2');
        expect(three!.kv.value.length).toBe(0);
        watch.watch.cancel();
      });

      it('from the past replay it and go on', async () => {
        const first = await put('a', '1');
        await put('b', '1');
        const watch = record({ startRevision: first });
        await until(() => watch.lines.length >= 2);
        const third = await put('c', '1');
        await until(() => watch.lines.length >= 3);
        expect(watch.lines).toEqual([`put a ${first}`, `put b ${first + 1}`, `put c ${third}`]);
        watch.watch.cancel();
      });

      it('of one key or of a prefix see nothing else', async () => {
        const start = (await now()) + 1;
        const one = record({ key: key('a'), rangeEnd: undefined, startRevision: start });
        const some = record({ key: key('dir/'), rangeEnd: prefixEnd(key('dir/')), startRevision: start });
        const odd = record({ key: key('a'), rangeEnd: key('b'), startRevision: start });
        for (const name of ['a', 'ab', 'dir', 'dir/x', 'directory', 'b']) await put(name, '1');
        const names = ({ lines }: Recorded): string[] => lines.map((line) => line.split(' ')[1]!);
        await until(() => names(one).length >= 1 && names(some).length >= 1 && names(odd).length >= 2);
        await etcd.tick();
        expect([names(one), names(some), names(odd)]).toEqual([['a'], ['dir/x'], ['a', 'ab']]);
        for (const { watch } of [one, some, odd]) watch.cancel();
      });

      it('of the future are silent until it has come', async () => {
        const start = (await now()) + 3;
        const watch = record({ startRevision: start });
        for (const name of ['a', 'b', 'c', 'd']) await put(name, '1');
        await until(() => watch.lines.length >= 2);
        expect(watch.lines).toEqual([`put c ${start}`, `put d ${start + 1}`]);
        watch.watch.cancel();
      });

      it('from a compacted revision end with that error', async () => {
        const first = await put('a', '1');
        await put('a', '2');
        const third = await put('a', '3');
        await client.compact(third);
        const watch = record({ startRevision: first });
        await until(() => watch.ended !== 'open');
        expect(watch.ended).toMatchObject({ code: 'Compacted', compactRevision: third });
        expect(watch.lines).toEqual([]);
      });

      it('from the compaction revision itself lack the previous value', async () => {
        await put('a', '1');
        const second = await put('a', '2');
        await client.compact(second);
        const watch = record({ startRevision: second });
        await until(() => watch.lines.length >= 1);
        expect(watch.events[0]!.prevKv).toBeUndefined();
        expect(watch.ended).toBe('open');
        watch.watch.cancel();
      });

      it('that are up to date survive a compaction', async () => {
        await put('a', '1');
        const watch = record({ startRevision: (await now()) + 1 });
        const second = await put('a', '2');
        await until(() => watch.lines.length >= 1);
        await client.compact(second);
        await put('a', '3');
        await until(() => watch.lines.length >= 2);
        expect(watch.ended).toBe('open');
        watch.watch.cancel();
      });

      it('that are up to date may pause after a compaction that passed by them', async () => {
        const watch = record({
          key: key('quiet/'),
          rangeEnd: prefixEnd(key('quiet/')),
          startRevision: (await now()) + 1,
        });
        await put('quiet/a', '1');
        await until(() => watch.lines.length >= 1);
        for (const value of ['1', '2', '3']) await put('loud', value);
        await client.compact(await now());
        watch.watch.pause();
        await etcd.tick();
        watch.watch.resume();
        await put('quiet/b', '1');
        await until(() => watch.lines.length >= 2);
        expect(watch.ended).toBe('open');
        watch.watch.cancel();
      });

      it('that are paused get everything once they go on', async () => {
        const watch = record({ startRevision: (await now()) + 1 });
        await put('a', '1');
        await until(() => watch.lines.length >= 1);
        watch.watch.pause();
        await etcd.tick();
        for (let i = 0; i < 50; i++) await put(`b${i}`, '1');
        await etcd.tick();
        expect(watch.lines).toHaveLength(1);
        watch.watch.resume();
        await until(() => watch.lines.length >= 51);
        await put('last', '1');
        await until(() => watch.lines.length >= 52);
        const revisions = watch.events.map(({ kv }) => kv.modRevision);
        expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
        watch.watch.cancel();
      });

      it('tell how far they are when asked', async () => {
        const watch = record({ key: key('quiet/'), rangeEnd: prefixEnd(key('quiet/')), progressNotify: true });
        await etcd.tick();
        const revision = await put('elsewhere', '1');
        watch.watch.requestProgress();
        await until(() => watch.progress.length >= 1);
        expect(watch.progress[0]).toBeGreaterThanOrEqual(revision);
        expect(watch.lines).toEqual([]);
        watch.watch.cancel();
      });

      it('do not hear what another was told of its progress', async () => {
        const request = { key: key('quiet/'), rangeEnd: prefixEnd(key('quiet/')), progressNotify: true };
        const [asked, other] = [record(request), record(request)];
        await etcd.tick();
        await put('elsewhere', '1');
        asked.watch.requestProgress();
        await until(() => asked.progress.length >= 1);
        for (let i = 0; i < 5; i++) await etcd.tick();
        expect([asked.progress.length, other.progress]).toEqual([1, []]);
        for (const { watch } of [asked, other]) watch.cancel();
      });

      it('say nothing after they were cancelled', async () => {
        const watch = record({ startRevision: (await now()) + 1 });
        await put('a', '1');
        await until(() => watch.lines.length >= 1);
        watch.watch.cancel();
        watch.watch.cancel();
        await put('b', '1');
        await etcd.tick();
        expect(watch.lines).toHaveLength(1);
        expect(watch.ended).toBe('open');
      });

      it('tell all changes of one transaction together', async () => {
        const batches: number[] = [];
        const watch = client.watch(
          { ...all, startRevision: (await now()) + 1 },
          { events: (events) => batches.push(events.length), ended: () => undefined },
        );
        await etcd.tick();
        await client.txn({
          compare: [],
          success: ['a', 'b', 'c'].map((name) => ({ op: 'put', key: key(name), value: Buffer.from('1') })),
          failure: [],
        });
        await until(() => batches.length >= 1);
        expect(batches).toEqual([3]);
        watch.cancel();
      });
    });

    describe('leases', () => {
      it('are shown on their keys, and must exist', async () => {
        const lease = await client.grantLease(60);
        await put('a', '1', lease);
        expect(await read('a')).toMatchObject({ lease });
        await expect(put('b', '1', '987654321')).rejects.toMatchObject({ code: 'LeaseNotFound' });
        await put('a', '2');
        expect(await read('a')).toMatchObject({ lease: '' });
      });

      it('that are revoked take their keys along in one revision', async () => {
        const lease = await client.grantLease(60);
        for (const name of ['a', 'b']) await put(name, '1', lease);
        await put('stays', '1', lease);
        const last = await put('stays', '2');
        const watch = record({ startRevision: last + 1 });
        await client.revokeLease(lease);
        await until(() => watch.lines.length >= 2);
        expect(watch.lines).toEqual([`delete a ${last + 1}`, `delete b ${last + 1}`]);
        expect((await client.range(all)).count).toBe(1);
        await expect(client.revokeLease(lease)).rejects.toMatchObject({ code: 'LeaseNotFound' });
        watch.watch.cancel();
      });

      it('that run out take their keys along', async () => {
        if (etcd.advance === undefined) return;
        const lease = await client.grantLease(10);
        await put('a', '1', lease);
        await etcd.advance(9_900);
        expect(await read('a')).toBeDefined();
        await etcd.advance(200);
        expect(await read('a')).toBeUndefined();
      });
    });
  });
}
