// The short way into an election.
import type { RestClient } from '../rest/rest-client.ts';
import type { LeaderElectorOptions, LeaderWork } from './leader-elector.ts';
import { LeaderElector } from './leader-elector.ts';
import { LeaseLock } from './lease-lock.ts';

export interface ElectOptions extends Omit<LeaderElectorOptions, 'lock'> {
  /** The Lease that is the lock; it is created when it is not there. */
  readonly lease: { readonly name: string; readonly namespace: string };
  readonly signal?: AbortSignal | undefined;
}

/** A LeaderElector whose signal is given already. */
export interface Election extends Pick<LeaderElector, 'identity' | 'state$' | 'state' | 'isHealthy'> {
  /** See {@link LeaderElector.whileLeader}. */
  whileLeader<R>(work: LeaderWork<R>): Promise<R | undefined>;
}

/**
 * @example
 * await elect(client, { lease: { name: 'rollout', namespace: 'kube-system' }, signal })
 *   .whileLeader((leading, fence) => controller.run({ signal: leading }));
 */
export function elect(client: RestClient | { readonly rest: RestClient }, options: ElectOptions): Election {
  const { lease, signal, ...rest } = options;
  const restClient = 'rest' in client ? client.rest : client;
  const elector = new LeaderElector({ clock: restClient.clock, ...rest, lock: new LeaseLock(restClient, lease) });
  return {
    identity: elector.identity,
    state$: elector.state$,
    get state() {
      return elector.state;
    },
    isHealthy: (toleranceMs) => elector.isHealthy(toleranceMs),
    whileLeader: (work) => elector.whileLeader(work, { signal }),
  };
}
