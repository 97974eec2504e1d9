// What a reflector says about itself: where it is and what went wrong on the way.
import type { Status } from '@kube-rx/apimachinery';

export type FaultKind =
  | 'expired'
  | 'rv-too-large'
  | 'throttled'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'bad-request'
  | 'refused'
  | 'transport'
  | 'server'
  | 'decode'
  | 'idle'
  | 'early-close'
  | 'initial-events-timeout'
  | 'store'
  /** A streamed list was not what the server has, see {@link ReflectorOptions.verify}. */
  | 'inconsistent'
  | 'handler';

export type FaultVerb = 'list' | 'watch' | 'watch-list';

/** Something that went wrong and is being healed. A value, never an Observable's error. */
export interface Fault {
  readonly kind: FaultKind;
  readonly verb: FaultVerb;
  /** Clock time in ms since 1970. */
  readonly at: number;
  /** The resource version the failed request or stream had reached. */
  readonly resourceVersion: string;
  /** What the server asked to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly status?: Status | undefined;
  readonly error?: Error | undefined;
}

/** Times are ms since 1970 of the informer's clock. */
export type InformerStatus =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'listing' | 'streaming-initial';
      /** What the request asked for: `0` any state, empty the most recent one. */
      readonly resourceVersion: string;
      readonly received: number;
      readonly since: number;
    }
  | { readonly phase: 'connecting'; readonly resourceVersion: string; readonly since: number }
  | {
      readonly phase: 'watching';
      readonly resourceVersion: string;
      /** When the last byte came, as of this value; ask the informer for the present one. */
      readonly lastActivity: number;
      readonly since: number;
      /** The last bookmark on this stream, undefined before the first. */
      readonly lastBookmark?: { readonly resourceVersion: string; readonly at: number } | undefined;
    }
  | { readonly phase: 'backing-off'; readonly until: number; readonly attempt: number; readonly fault: Fault }
  | { readonly phase: 'suspended'; readonly until: number; readonly fault: Fault }
  | { readonly phase: 'stopped'; readonly reason: 'aborted' | 'disposed' };
