// What an informer does, in words: for --explain.
import type { Fault, FaultKind, InformerStatus } from '../reflector/informer-status.ts';

const FAULTS: Readonly<Record<FaultKind, string>> = {
  expired:
    'the server no longer has the history since that version: its event window slid on, its cache was built anew, or etcd was compacted',
  'rv-too-large': 'the server does not know that version yet: its cache lags, or it was restored from a backup',
  throttled: 'the server asks to slow down',
  unauthorized: 'the credentials are not accepted',
  forbidden: 'the user may not do this',
  'not-found': 'the server does not serve this resource',
  'bad-request': 'the server does not understand the request',
  refused: 'nobody listens at the address of the server',
  transport: 'the connection broke',
  server: 'the server failed',
  decode: 'the answer could not be read',
  idle: 'nothing came from the server for too long: the connection is taken for dead',
  'early-close': 'the server ended the watch almost at once',
  'initial-events-timeout': 'the streaming list did not come to its end',
  store: 'the cache refused an object',
  inconsistent: 'the streamed list is not what the server has',
  handler: 'a handler failed',
};

export function explainFault(fault: Fault): string {
  const detail = fault.error?.message ?? fault.status?.message;
  const at = fault.resourceVersion === '' ? '' : ` at version ${fault.resourceVersion}`;
  const wait = fault.retryAfterMs === undefined ? '' : `; asked to wait ${fault.retryAfterMs} ms`;
  return `${fault.verb}${at} failed: ${FAULTS[fault.kind]}${detail === undefined ? '' : ` (${detail})`}${wait}`;
}

/** `previous` tells a first list from a relist. */
export function explainStatus(
  status: InformerStatus,
  previous: InformerStatus | undefined,
  relisted: boolean,
  now: number,
): string | undefined {
  switch (status.phase) {
    case 'idle':
      return undefined;
    case 'listing':
      return `${relisted ? 'lists again' : 'lists'} ${explainVersion(status.resourceVersion)}`;
    case 'streaming-initial':
      return `streams the list ${explainVersion(status.resourceVersion)}`;
    case 'connecting':
      return `opens a watch from version ${status.resourceVersion}${previous?.phase === 'watching' ? ': the server ended the last one' : ''}`;
    case 'watching':
      return previous?.phase === 'watching' ? undefined : `watches from version ${status.resourceVersion}`;
    case 'backing-off':
      return `waits ${Math.round(status.until - now)} ms before try ${status.attempt + 1}`;
    case 'suspended':
      return `tries rarely from now on, next in ${Math.round(status.until - now)} ms: ${FAULTS[status.fault.kind]}`;
    case 'stopped':
      return 'stopped';
    default:
      return status satisfies never;
  }
}

function explainVersion(resourceVersion: string): string {
  if (resourceVersion === '0') return 'any state the server has at hand (version 0)';
  if (resourceVersion === '') return 'the most recent state (no version)';
  return `a state not older than version ${resourceVersion}`;
}
