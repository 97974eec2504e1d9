// The table of list consistency: which state a list shows for each way of asking, and who may answer.
// Upstream: apiserver@v0.30.3:pkg/storage/testing/store_tests.go#RunTestList, #RunTestListContinuation
import { statusOf } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StorageList } from '../../packages/fake-apiserver/src/storage/interfaces.ts';
import { keyOf, type ListInit, listOptions, namesOf, PREFIX, pod, type StorageUnderTest } from './storage-fixture.ts';

const INCONSISTENT_OFFER =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export function describeStorageLists(current: () => StorageUnderTest): void {
  describe('lists', () => {
    let test: StorageUnderTest;
    const list = (init: ListInit = {}, path = PREFIX): Promise<StorageList> =>
      test.storage.getList(path, listOptions(init));
    const create = (path: string, init?: Parameters<typeof pod>[1]) =>
      test.storage.create(keyOf(path), pod(path, init));
    const remove = (path: string) => test.storage.delete(keyOf(path));
    const summary = (answer: StorageList) => ({ names: namesOf(answer), version: answer.resourceVersion });
    const failureOf = async (answer: Promise<unknown>) => {
      let failure: unknown;
      const done = answer.catch((error: unknown) => {
        failure = error;
      });
      await test.clock.advance(5000);
      await done;
      return statusOf(failure);
    };

    // Revisions: a 2, b 3, c 4, d 5, b gone 6.
    beforeEach(async () => {
      test = current();
      for (const path of ['x/a', 'x/b', 'x/c', 'y/d']) await create(path, { labels: { app: path.slice(2) } });
      await remove('x/b');
    });

    const NOW = { names: ['x/a', 'x/c', 'y/d'], version: '6' };
    const AT_4 = { names: ['x/a', 'x/b', 'x/c'], version: '4' };

    it.each<[string, ListInit, { names: string[]; version: string }]>([
      ['nothing: most recent', {}, NOW],
      ['0: any', { resourceVersion: '0' }, NOW],
      ['0, not older than', { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }, NOW],
      ['N: not older', { resourceVersion: '4' }, NOW],
      ['N, not older than', { resourceVersion: '4', resourceVersionMatch: 'NotOlderThan' }, NOW],
      ['N, exact', { resourceVersion: '4', resourceVersionMatch: 'Exact' }, AT_4],
    ])('without limit, %s', async (_, init, expected) => {
      const answer = await list(init);
      expect(summary(answer)).toEqual(expected);
      expect(answer.continue).toBe('');
      expect(answer.remainingItemCount).toBeUndefined();
    });

    it('with a limit, nothing: a page of the most recent state', async () => {
      const answer = await list({ limit: 2 });
      expect(summary(answer)).toEqual({ names: ['x/a', 'x/c'], version: '6' });
      expect(answer.continue).not.toBe('');
      expect(answer.remainingItemCount).toBe(1);
    });

    it('with a limit, 0: a cache ignores the limit, etcd does not', async () => {
      const answer = await list({ limit: 2, resourceVersion: '0' });
      if (test.cached) {
        expect(summary(answer)).toEqual(NOW);
        expect(answer.continue).toBe('');
      } else {
        expect(summary(answer)).toEqual({ names: ['x/a', 'x/c'], version: '6' });
        expect(answer.remainingItemCount).toBe(1);
      }
    });

    it('with a limit, N: exactly N', async () => {
      const answer = await list({ limit: 2, resourceVersion: '4' });
      expect(summary(answer)).toEqual({ names: ['x/a', 'x/b'], version: '4' });
      expect(answer.remainingItemCount).toBe(1);
    });

    it('with a limit, N, not older than: a page of the most recent state', async () => {
      const answer = await list({ limit: 2, resourceVersion: '4', resourceVersionMatch: 'NotOlderThan' });
      expect(summary(answer)).toEqual({ names: ['x/a', 'x/c'], version: '6' });
    });

    it('with a limit, N, exact: exactly N', async () => {
      const answer = await list({ limit: 2, resourceVersion: '4', resourceVersionMatch: 'Exact' });
      expect(summary(answer)).toEqual({ names: ['x/a', 'x/b'], version: '4' });
    });

    it('pages show one state, whatever happens in between', async () => {
      const first = await list({ limit: 2 });
      await create('x/aa');
      await remove('y/d');
      const second = await list({ limit: 2, continue: first.continue });
      expect(summary(second)).toEqual({ names: ['y/d'], version: '6' });
      expect(second.continue).toBe('');
      expect(second.remainingItemCount).toBeUndefined();
    });

    it('page tokens hold revision and place, readable as upstream writes them', async () => {
      const { continue: token } = await list({ limit: 1 });
      expect(Buffer.from(token, 'base64url').toString()).toBe('{"v":"meta.k8s.io/v1","rv":6,"start":"x/a\\u0000"}');
      const withSlash = Buffer.from('{"v":"meta.k8s.io/v1","rv":6,"start":"/x/a\\u0000"}').toString('base64url');
      expect(namesOf(await list({ continue: withSlash }))).toEqual(['x/c', 'y/d']);
    });

    it('pages behind a selector are filled, and do not tell what remains', async () => {
      for (let i = 0; i < 50; i++)
        await create(`x/n${String(i).padStart(2, '0')}`, { labels: { odd: String(i % 25) } });
      const first = await list({ limit: 1, labels: 'odd=3' });
      expect(namesOf(first)).toEqual(['x/n03']);
      expect(first.remainingItemCount).toBeUndefined();
      const second = await list({ limit: 1, labels: 'odd=3', continue: first.continue });
      expect(namesOf(second)).toEqual(['x/n28']);
      const rest = await list({ limit: 1, labels: 'odd=3', continue: second.continue });
      expect(summary(rest)).toEqual({ names: [], version: first.resourceVersion });
      expect(rest.continue).toBe('');
    });

    it('select by labels and fields', async () => {
      expect(namesOf(await list({ labels: 'app in (a,d)' }))).toEqual(['x/a', 'y/d']);
      expect(namesOf(await list({ labels: 'app!=a', resourceVersion: '0' }))).toEqual(['x/c', 'y/d']);
      expect(namesOf(await list({ fields: 'metadata.name=c', resourceVersion: '0' }))).toEqual(['x/c']);
    });

    it('of a namespace do not show another whose name begins the same', async () => {
      await create('x-y/e');
      for (const resourceVersion of ['', '0']) {
        expect(namesOf(await list({ resourceVersion }, keyOf('x')))).toEqual(['x/a', 'x/c']);
        expect(namesOf(await list({ resourceVersion }))).toEqual(['x-y/e', 'x/a', 'x/c', 'y/d']);
      }
    });

    it('of one object hold it or nothing', async () => {
      for (const resourceVersion of ['', '0', '4']) {
        const one = await list({ recursive: false, resourceVersion, limit: 5 }, keyOf('x/a'));
        expect(summary(one)).toEqual({ names: ['x/a'], version: '6' });
        expect(namesOf(await list({ recursive: false, resourceVersion }, keyOf('x/b')))).toEqual([]);
      }
      const exact = { recursive: false, resourceVersion: '4', resourceVersionMatch: 'Exact' as const };
      expect(summary(await list(exact, keyOf('x/b')))).toEqual({ names: ['x/b'], version: '4' });
    });

    it('of the future are too large, from a cache after three seconds and with a hint', async () => {
      expect(await failureOf(list({ resourceVersion: '99' }))).toMatchObject({
        code: 504,
        message: 'Timeout: Too large resource version: 99, current: 6',
        details: test.cached ? { retryAfterSeconds: 1 } : {},
      });
      const limited = await failureOf(list({ resourceVersion: '99', resourceVersionMatch: 'NotOlderThan', limit: 1 }));
      expect(limited?.code).toBe(504);
      expect(limited?.details?.retryAfterSeconds).toBeUndefined();
    });

    it('exactly in the future show what etcd says', async () => {
      const text = 'etcdserver: mvcc: required revision is a future revision';
      const exact = await failureOf(list({ resourceVersion: '99', resourceVersionMatch: 'Exact' }));
      expect(exact).toMatchObject({ code: 500, message: text });
      expect(await failureOf(list({ resourceVersion: '99', limit: 1 }))).toMatchObject({ code: 500, message: text });
    });

    it('with a version that is no number are refused, in words that depend on who answers', async () => {
      const text = 'resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax';
      const direct = { code: 400, reason: 'BadRequest', message: `invalid resource version: ${text}` };
      expect(await failureOf(list({ resourceVersion: '-1', limit: 1 }))).toMatchObject(direct);
      expect(await failureOf(list({ resourceVersion: '-1' }))).toMatchObject(
        test.cached ? { code: 500, message: text } : direct,
      );
    });

    it('of a compacted version are 410', async () => {
      await test.etcd.compact(5);
      const expired = {
        code: 410,
        reason: 'Expired',
        message: 'The resourceVersion for the provided list is too old.',
      };
      expect(await failureOf(list({ resourceVersion: '4', resourceVersionMatch: 'Exact' }))).toMatchObject(expired);
      expect(await failureOf(list({ resourceVersion: '4', limit: 1 }))).toMatchObject(expired);
      expect(summary(await list({ resourceVersion: '4' }))).toEqual(NOW);
    });

    it('with a token of a compacted version are 410 and offer to go on with what is there now', async () => {
      const first = await list({ limit: 1 });
      await create('x/bb');
      await test.etcd.compact(7);
      const status = await failureOf(list({ continue: first.continue, limit: 1 }));
      expect(status).toMatchObject({ code: 410, reason: 'Expired', message: INCONSISTENT_OFFER });
      const token = status?.metadata?.continue ?? '';
      expect(Buffer.from(token, 'base64url').toString()).toBe('{"v":"meta.k8s.io/v1","rv":-1,"start":"x/a\\u0000"}');
      const second = await list({ continue: token, limit: 1 });
      expect(summary(second)).toEqual({ names: ['x/bb'], version: '7' });
      expect(namesOf(await list({ continue: second.continue }))).toEqual(['x/c', 'y/d']);
    });

    it.each([
      ['no base64', '!!!', 'illegal base64 data at input byte 0'],
      ['no JSON', Buffer.from('hello').toString('base64url'), "invalid character 'h' looking for beginning of value"],
      [
        'another version',
        Buffer.from('{"v":"v2","rv":5,"start":"a"}').toString('base64url'),
        'server does not recognize this encoded version v2',
      ],
      [
        'no revision',
        Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}').toString('base64url'),
        'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
      ],
      [
        'no start',
        Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":""}').toString('base64url'),
        'encoded start key empty (version meta.k8s.io/v1)',
      ],
      [
        'a way out of the prefix',
        Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"../secrets"}').toString('base64url'),
        '../secrets',
      ],
    ])('with a token that is %s are refused', async (_, token, why) => {
      expect(await failureOf(list({ continue: token }))).toMatchObject({
        code: 400,
        message: `invalid continue token: continue key is not valid: ${why}`,
      });
    });

    it('with a token and a version are refused', async () => {
      const { continue: token } = await list({ limit: 1 });
      expect(await failureOf(list({ continue: token, resourceVersion: '6' }))).toMatchObject({
        code: 400,
        message: 'specifying resource version is not allowed when using continue',
      });
      expect(namesOf(await list({ continue: token, resourceVersion: '0' }))).toEqual(['x/c', 'y/d']);
    });

    it('of more than fit in one range of etcd are complete', async () => {
      for (let i = 0; i < 300; i++) await create(`z/${String(i).padStart(3, '0')}`);
      let token = '';
      const names: string[] = [];
      do {
        const answer = await list({ limit: 70, continue: token }, keyOf('z'));
        names.push(...namesOf(answer));
        token = answer.continue;
      } while (token !== '');
      expect(names).toEqual(Array.from({ length: 300 }, (_, i) => `z/${String(i).padStart(3, '0')}`));
    });
  });
}
