// What becomes of events that a handler has not got to yet.
import { OptionsError } from '@kube-rx/apimachinery';

export interface BufferPolicy {
  /** Events that may wait before the policy applies. */
  readonly max: number;
  /**
   * `conflate`: per object only the first `previous` and the newest state are kept; the final state and the order per object stay
   * right. `drop-and-resync`: the queue is dropped and the difference between what the handler was told and the store is delivered;
   * costs a reference per object. `block`: reading stops until there is room; only for a raw watch, an informer refuses it.
   */
  readonly overflow: 'conflate' | 'block' | 'drop-and-resync';
}

export const DEFAULT_HANDLER_BUFFER: BufferPolicy = { max: 10_000, overflow: 'conflate' };

/** Refuses what an informer cannot do: several handlers share one connection. */
export function checkHandlerBuffer(policy: BufferPolicy | 'unbounded'): void {
  if (policy === 'unbounded') return;
  if (!(policy.max >= 1)) throw new OptionsError('buffer.max', policy.max, 'a number of at least 1');
  if (policy.overflow !== 'conflate' && policy.overflow !== 'drop-and-resync') {
    throw new OptionsError('buffer.overflow', policy.overflow, '"conflate" or "drop-and-resync"');
  }
}
