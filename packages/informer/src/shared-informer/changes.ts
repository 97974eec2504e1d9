// A handler turned into an async iterable: the consumer pulls, the handler's buffer holds what it has not got to.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { HandlerOptions, HandlerRegistration } from './event-handler.ts';
import type { ChangesOptions } from './informer.ts';
import type { StoreEvent } from './store-event.ts';

export interface ChangesSource<T extends KubernetesObject> {
  handle(handler: (event: StoreEvent<T>) => Promise<void>, options: HandlerOptions): HandlerRegistration;
  /** Registers what to do when the informer stops; returns how to take it back. */
  onStop(run: () => void): () => void;
}

/** Registers with the first `next`; ends with the informer, by `return`, or by the signal, whose reason it throws. */
export function changesOf<T extends KubernetesObject>(
  source: ChangesSource<T>,
  options: ChangesOptions = {},
): AsyncIterableIterator<StoreEvent<T>> {
  const { signal, buffer } = options;
  let registration: HandlerRegistration | undefined;
  let ended = false;
  let failure: { readonly reason: unknown } | undefined;
  let offered: StoreEvent<T> | undefined;
  let release: (() => void) | undefined;
  let waiting: { resolve(result: IteratorResult<StoreEvent<T>>): void; reject(reason: unknown): void } | undefined;
  let forgetStop: () => void = () => {};

  const take = (event: StoreEvent<T>): Promise<void> => {
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: event });
      waiting = undefined;
    } else offered = event;
    return new Promise((resolve) => {
      release = resolve;
    });
  };
  const finish = (): void => {
    if (ended) return;
    ended = true;
    signal?.removeEventListener('abort', abort);
    forgetStop();
    offered = undefined;
    void registration?.remove();
    release?.();
    if (failure !== undefined) waiting?.reject(failure.reason);
    else waiting?.resolve({ done: true, value: undefined });
    waiting = undefined;
  };
  const abort = (): void => {
    failure = { reason: signal?.reason };
    finish();
  };
  const begin = (): void => {
    if (signal?.aborted) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    forgetStop = source.onStop(finish);
    if (ended) return;
    registration = source.handle(take, { name: 'changes', ...(buffer === undefined ? {} : { buffer }) });
    if (ended) void registration.remove();
  };

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (registration === undefined && !ended) begin();
      if (ended) {
        const reason = failure;
        failure = undefined;
        return reason === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(reason.reason);
      }
      if (offered !== undefined) {
        const value = offered;
        offered = undefined;
        return Promise.resolve({ done: false, value });
      }
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        const next = release;
        release = undefined;
        // The handler's promise is the consumer's turn: it settles when the consumer asks again.
        next?.();
      });
    },
    return() {
      finish();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
