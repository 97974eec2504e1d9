// Waiting on a state instead of events: a reflector keeps the state right through every fault, so nothing can be missed.
// Upstream: client-go@v0.30.3:tools/watch/until.go#UntilWithSync
// Differs: the condition is asked about the objects, not about events, and so cannot depend on how they came.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import { WaitError } from '../errors.ts';
import type { Fault } from '../reflector/informer-status.ts';
import { Reflector } from '../reflector/reflector.ts';
import type { ReflectorOptions } from '../reflector/reflector-options.ts';
import type { ReflectorStore } from '../reflector/reflector-store.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';

export interface UntilWithSyncOptions {
  /** @defaultValue without end */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Rejects at the first fault for which it says true, for example a 403. @defaultValue none: it waits on */
  readonly giveUpOn?: ((fault: Fault) => boolean) | undefined;
  /** Of the reflector underneath. */
  readonly reflector?: Omit<ReflectorOptions, 'clock' | 'onFault'> | undefined;
}

/** The objects by `namespace/name`, in no particular order. */
export type ObjectStates<T extends KubernetesObject> = ReadonlyMap<string, Live<T>>;

/**
 * Lists, watches and relists until `condition` answers with something else than false, null or undefined, and resolves with that. It is
 * asked after the first list and after each change. Rejects with what it throws, a WaitError TIMED_OUT that names the last fault, or
 * the signal's reason.
 */
export async function untilWithSync<T extends KubernetesObject, R>(
  listerWatcher: ListerWatcher<T>,
  condition: (states: ObjectStates<T>) => R | false | null | undefined,
  options: UntilWithSyncOptions = {},
): Promise<R> {
  const { clock = realClock, timeoutMs, giveUpOn } = options;
  options.signal?.throwIfAborted();
  const child = childSignal(options.signal);
  let lastFault: Fault | undefined;
  let running: Promise<void> | undefined;
  try {
    return await new Promise<R>((resolve, reject) => {
      const states = new Map<string, Live<T>>();
      let decided = false;
      const decide = (run: () => void): void => {
        if (decided) return;
        decided = true;
        timer?.cancel();
        run();
      };
      const timer =
        timeoutMs === undefined
          ? undefined
          : clock.setTimer(() => decide(() => reject(timedOut(timeoutMs, lastFault))), timeoutMs);
      const ask = (): void => {
        if (decided) return;
        try {
          const answer = condition(states);
          if (answer !== false && answer !== null && answer !== undefined) decide(() => resolve(answer));
        } catch (error) {
          decide(() => reject(error));
        }
      };
      const reflector = new Reflector(listerWatcher, stateStore(states, ask), {
        ...options.reflector,
        clock,
        onFault: (fault) => {
          lastFault = fault;
          if (giveUpOn?.(fault)) decide(() => reject(refused(fault)));
        },
      });
      running = reflector.run({ signal: child.signal }).then(() => decide(() => reject(child.signal.reason)));
    });
  } finally {
    child.abort();
    child.release();
    await running;
  }
}

function stateStore<T extends KubernetesObject>(states: Map<string, Live<T>>, changed: () => void): ReflectorStore<T> {
  const put = (object: T): void => {
    states.set(keyOf(object), object as Live<T>);
    changed();
  };
  return {
    add: put,
    update: put,
    delete(object) {
      states.delete(keyOf(object));
      changed();
    },
    replace(items) {
      states.clear();
      for (const item of items) states.set(keyOf(item), item as Live<T>);
      changed();
    },
  };
}

function keyOf(object: KubernetesObject): string {
  const { namespace = '', name = '' } = object.metadata ?? {};
  return namespace === '' ? name : `${namespace}/${name}`;
}

function timedOut(timeoutMs: number, fault: Fault | undefined): WaitError {
  const why = fault === undefined ? '' : `; the last fault was: ${fault.error?.message ?? fault.kind}`;
  return new WaitError('TIMED_OUT', `the condition was not met within ${timeoutMs} ms${why}`, { cause: fault?.error });
}

function refused(fault: Fault): WaitError {
  return new WaitError('SYNC_REFUSED', `gave up waiting: ${fault.error?.message ?? fault.kind}`, {
    cause: fault.error,
  });
}
