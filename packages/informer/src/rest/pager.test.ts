import type { ListOptions } from '@kube-rx/apimachinery';
import { newResourceExpired, newStatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { TestObject } from '../../test/support/scripted-lister-watcher.ts';
import { list, page } from '../../test/support/scripted-lister-watcher.ts';
import type { ListResult } from './lister-watcher.ts';
import { eachPage, listPages } from './pager.ts';

const context = { signal: new AbortController().signal };
const names = (result: ListResult<TestObject>): string[] => result.items.map((item) => item.metadata.name);

function server(...answers: (ListResult<TestObject> | Error)[]) {
  const requests: ListOptions[] = [];
  return {
    requests,
    page: async (options: ListOptions): Promise<ListResult<TestObject>> => {
      requests.push(options);
      const answer = answers.shift();
      if (answer === undefined) throw new Error('no more answers');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

describe('listPages', () => {
  it('returns a single page as it is', async () => {
    const { page: ask, requests } = server(list('10', 'a@1'));
    const result = await listPages(ask, { resourceVersion: '0' }, context);
    expect(result).toMatchObject({ resourceVersion: '10', paginated: false });
    expect(requests).toEqual([{ resourceVersion: '0', limit: 500 }]);
  });

  it('joins pages under the version of the first, and names none after it', async () => {
    const { page: ask, requests } = server(page('10', 'c1', 'a@1'), page('11', 'c2'), list('12', 'b@2'));
    const result = await listPages(ask, { resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' }, context, {
      pageSize: 1,
    });
    expect(names(result)).toEqual(['a', 'b']);
    expect(result).toMatchObject({ resourceVersion: '10', continue: '', paginated: true });
    expect(requests.slice(1)).toEqual([
      { limit: 1, continue: 'c1' },
      { limit: 1, continue: 'c2' },
    ]);
  });

  it('lists everything at the version first asked for when a token expires, and drops the pages it had', async () => {
    const { page: ask, requests } = server(page('10', 'c1', 'a@1'), newResourceExpired('x'), list('12', 'b@2'));
    const result = await listPages(ask, { resourceVersion: '0' }, context);
    expect(names(result)).toEqual(['b']);
    expect(result.paginated).toBe(true);
    expect(requests.at(-1)).toEqual({ resourceVersion: '0' });
  });

  it('gives up when the first page expires, when the full list does, and for the old reason Gone', async () => {
    await expect(listPages(server(newResourceExpired('x')).page, {}, context)).rejects.toThrow('x');
    await expect(
      listPages(server(page('10', 'c'), newResourceExpired('x'), newResourceExpired('y')).page, {}, context),
    ).rejects.toThrow('y');
    await expect(
      listPages(server(page('10', 'c'), newStatusError(410, 'Gone', 'gone')).page, {}, context),
    ).rejects.toThrow('gone');
  });

  it('asks without a limit when told so', async () => {
    const { page: ask, requests } = server(list('1'));
    await listPages(ask, { limit: 7 }, context, { pageSize: 0 });
    await listPages(server(list('1')).page, {}, context, { pageSize: 0 });
    expect(requests).toEqual([{ limit: 7 }]);
  });
});

describe('eachPage', () => {
  it('gives page after page', async () => {
    const seen: string[][] = [];
    for await (const each of eachPage(server(page('1', 'c', 'a@1'), list('1', 'b@1')).page, {}, context))
      seen.push(names(each));
    expect(seen).toEqual([['a'], ['b']]);
  });

  it('throws what a later page throws, after the pages before it', async () => {
    const seen: string[][] = [];
    const run = async (): Promise<void> => {
      for await (const each of eachPage(server(page('1', 'c', 'a@1'), newResourceExpired('late')).page, {}, context))
        seen.push(names(each));
    };
    await expect(run()).rejects.toThrow('late');
    expect(seen).toEqual([['a']]);
  });

  it('leaves no unhandled rejection when the consumer leaves before a failing page', async () => {
    for await (const _ of eachPage(server(page('1', 'c'), newResourceExpired('late')).page, {}, context)) break;
    await new Promise((resolve) => setImmediate(resolve));
  });
});
