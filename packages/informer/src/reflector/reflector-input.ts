// What the state machine of a reflector is made of: its phases, what it is fed and what it asks for.
import type { BackoffKind } from './backoff-manager.ts';
import type { Failure } from './error-classes.ts';
import type { Fault, FaultKind } from './informer-status.ts';
import type { RetryWindow } from './retry-with-deadline.ts';
import { NO_RETRY_WINDOW } from './retry-with-deadline.ts';

export type ReflectorPhase =
  | { readonly name: 'idle' }
  /** Finding out whether the server streams lists. */
  | { readonly name: 'asking' }
  /** `limit` is that of the first try; `retryOf`, set for the immediate second try, is the version of the first. */
  | {
      readonly name: 'listing';
      readonly resourceVersion: string;
      readonly limit: number;
      readonly retryOf: string | undefined;
    }
  | { readonly name: 'replacing'; readonly resourceVersion: string; readonly next: 'open-watch' | 'go-on' }
  | { readonly name: 'opening'; readonly mode: 'watch' | 'watch-list'; readonly resourceVersion: string }
  | { readonly name: 'streaming-initial'; readonly resourceVersion: string }
  | { readonly name: 'watching' }
  | { readonly name: 'waiting'; readonly next: 'choose' | 'watch' | 'watch-list'; readonly suspended: boolean }
  | { readonly name: 'stopped' };

export interface ReflectorState {
  readonly phase: ReflectorPhase;
  readonly lastSyncResourceVersion: string;
  /** The last version cannot be read any more (or not yet): the next LIST must not name it. */
  readonly isLastSyncResourceVersionUnavailable: boolean;
  /** A list of any state came in pages: the server has no watch cache for this resource. */
  readonly paginatedResult: boolean;
  readonly retryWindow: RetryWindow;
  /** Streams in a row that ended too soon. */
  readonly earlyCloses: number;
  /** Streaming lists in a row that ended before their end mark. */
  readonly unfinishedStreams: number;
  /** Until when the streaming list is not tried, after it failed. */
  readonly noWatchListUntil: number;
  /** The last refusal and how often in a row it came. */
  readonly refusal: { readonly kind: FaultKind; readonly count: number } | undefined;
}

export type ReflectorInput =
  | { readonly type: 'start' }
  | { readonly type: 'watch-list-support'; readonly supported: boolean }
  | { readonly type: 'listed'; readonly resourceVersion: string; readonly paginated: boolean }
  /** LIST or the opening of a stream failed. */
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'opened' }
  | { readonly type: 'initial-events-end'; readonly resourceVersion: string }
  | { readonly type: 'replaced' }
  | { readonly type: 'replace-failed'; readonly failure: Failure }
  | {
      readonly type: 'stream-ended';
      readonly how: 'closed' | 'error-event' | 'idle' | 'initial-events-timeout' | 'resync-failed';
      readonly failure?: Failure | undefined;
      readonly resourceVersion: string;
      readonly events: number;
      /** Since the request was sent. */
      readonly durationMs: number;
    }
  | { readonly type: 'waited' }
  | { readonly type: 'stop' };

export type ReflectorEffect =
  /** To be answered soon by `watch-list-support`. */
  | { readonly type: 'ask-watch-list' }
  | { readonly type: 'list'; readonly resourceVersion: string; readonly limit: number }
  | { readonly type: 'open'; readonly mode: 'watch' | 'watch-list'; readonly resourceVersion: string }
  | { readonly type: 'replace'; readonly from: 'list' | 'initial-events'; readonly resourceVersion: string }
  | { readonly type: 'wait'; readonly backoff: BackoffKind; readonly minimumMs: number; readonly fault: Fault }
  | { readonly type: 'start-resync' }
  | { readonly type: 'stop-resync' }
  /** Tell the watch error handler. */
  | { readonly type: 'report'; readonly error: Error }
  | { readonly type: 'fault'; readonly fault: Fault }
  | { readonly type: 'release' };

export interface Transition {
  readonly state: ReflectorState;
  readonly effects: readonly ReflectorEffect[];
}

export const INITIAL_STATE: ReflectorState = {
  phase: { name: 'idle' },
  lastSyncResourceVersion: '',
  isLastSyncResourceVersionUnavailable: false,
  paginatedResult: false,
  retryWindow: NO_RETRY_WINDOW,
  earlyCloses: 0,
  unfinishedStreams: 0,
  noWatchListUntil: Number.NEGATIVE_INFINITY,
  refusal: undefined,
};
