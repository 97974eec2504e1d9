// etcd's refusals as API answers.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/errors.go, watcher.go#parseError
import {
  newInternalError,
  newResourceExpired,
  newStatusError,
  newUnknownError,
  StatusError,
  statusOf,
} from '@kube-rx/apimachinery';
import { isEtcdError } from '../../etcd/errors.ts';
import { encodeContinue } from '../continue.ts';

const WATCH_EXPIRED = 'The resourceVersion for the provided watch is too old.';
const LIST_EXPIRED = 'The resourceVersion for the provided list is too old.';
const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter';
const INCONSISTENT_OFFER =
  ', or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** What a running watch ends with. */
export function interpretWatchError(error: unknown): StatusError {
  if (isEtcdError(error, 'Compacted'))
    return new StatusError(newResourceExpired(WATCH_EXPIRED).status, { cause: error });
  if (statusOf(error) !== undefined) return error as StatusError;
  return new StatusError(newInternalError(textOf(error)).status, { cause: error });
}

export interface PageContext {
  /** Where the page was to start; absent when the list had no continue token. */
  readonly continueKey: string | undefined;
  readonly prefix: string;
}

export function interpretListError(error: unknown, page: PageContext): unknown {
  if (isEtcdError(error, 'Compacted')) {
    return page.continueKey === undefined
      ? new StatusError(newResourceExpired(LIST_EXPIRED).status, { cause: error })
      : continueExpired(page.continueKey, page.prefix);
  }
  return interpretError(error);
}

/** An error that is not an API status reaches the client as a 500 with its bare text. */
export function interpretError(error: unknown): unknown {
  if (error instanceof Error && error.name === 'EtcdError') {
    return new StatusError(newUnknownError(error.message).status, { cause: error });
  }
  return error;
}

/** 410 with a token that goes on at the latest revision, for clients that can live with a torn list. */
function continueExpired(continueKey: string, prefix: string): StatusError {
  let token: string;
  try {
    token = encodeContinue(continueKey, prefix, -1);
  } catch {
    return newResourceExpired(`${CONTINUE_EXPIRED}.`);
  }
  const { status } = newStatusError(410, 'Expired', CONTINUE_EXPIRED + INCONSISTENT_OFFER);
  return new StatusError({ ...status, metadata: { continue: token } });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
