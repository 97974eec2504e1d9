// Chunked LIST: pages joined, and one full list when the continue token expires.
// Upstream: client-go@v0.30.3:tools/pager/pager.go#ListPager
// Differs: pages are also an async iterable, read one ahead of the consumer at most.
import type { KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import { isResourceExpired } from '@kube-rx/apimachinery';
import type { ListContext, ListResult } from './lister-watcher.ts';

export type PageFunction<T extends KubernetesObject> = (
  options: ListOptions,
  context: ListContext,
) => Promise<ListResult<T>>;

export interface PagerOptions {
  /** Limit of each page; 0 asks for everything at once. @defaultValue 500 */
  readonly pageSize?: number;
  /** On 410 for a later page, list everything at the version first asked for. @defaultValue true */
  readonly fullListIfExpired?: boolean;
}

export interface PagedList<T extends KubernetesObject> extends ListResult<T> {
  /** The server really answered in pages. */
  readonly paginated: boolean;
}

export const DEFAULT_PAGE_SIZE = 500;

/** Items of all pages; the resource version is the first page's, as upstream. */
export async function listPages<T extends KubernetesObject>(
  page: PageFunction<T>,
  options: ListOptions,
  context: ListContext,
  pager: PagerOptions = {},
): Promise<PagedList<T>> {
  const { pageSize = DEFAULT_PAGE_SIZE, fullListIfExpired = true } = pager;
  const first = withLimit(options, options.limit ?? pageSize);
  let request = first;
  let result: ListResult<T> | undefined;
  let items: T[] = [];
  for (;;) {
    let answer: ListResult<T>;
    try {
      answer = await page(request, context);
    } catch (error) {
      if (!fullListIfExpired || request === first || !isResourceExpired(error)) throw error;
      const full = await page(withLimit(options, 0), context);
      return { ...full, paginated: true };
    }
    if (result === undefined) {
      if (answer.continue === '') return { ...answer, paginated: false };
      result = answer;
      items = answer.items;
    } else {
      for (const item of answer.items) items.push(item);
    }
    if (answer.continue === '') {
      return { items, resourceVersion: result.resourceVersion, continue: '', paginated: true };
    }
    request = nextPage(first, answer.continue);
  }
}

/** Page after page, without the full-list fallback: a 410 for a later page is thrown. */
export async function* eachPage<T extends KubernetesObject>(
  page: PageFunction<T>,
  options: ListOptions,
  context: ListContext,
  pager: PagerOptions = {},
): AsyncGenerator<ListResult<T>> {
  const first = withLimit(options, options.limit ?? pager.pageSize ?? DEFAULT_PAGE_SIZE);
  let next: Promise<ListResult<T>> | undefined = page(first, context);
  while (next !== undefined) {
    const answer: ListResult<T> = await next;
    next = answer.continue === '' ? undefined : page(nextPage(first, answer.continue), context);
    // The consumer may leave while the next page fails.
    next?.catch(() => {});
    yield answer;
  }
}

/** The token carries the version; sending both is refused by the server. */
function nextPage(first: ListOptions, token: string): ListOptions {
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = first;
  return { ...rest, continue: token };
}

function withLimit(options: ListOptions, limit: number): ListOptions {
  const { limit: _limit, continue: _continue, ...rest } = options;
  return limit > 0 ? { ...rest, limit } : rest;
}
