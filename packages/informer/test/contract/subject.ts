// What a player needs of the thing it plays with, and what it finds out.
import type { Clock } from '@kube-rx/apimachinery';
import type { ReflectorOptions } from '../../src/reflector/reflector-options.ts';
import type { ReflectorProfile } from '../../src/reflector/reflector-policy.ts';
import type { ListWatch } from '../../src/rest/list-watch.ts';
import type { ConfigMap } from '../support/memory-api.ts';
import type { Scenario, Transcript } from './scenario.ts';

export interface SubjectSetup {
  readonly scenario: Scenario;
  readonly listWatch: ListWatch<ConfigMap>;
  readonly options: ReflectorOptions & { readonly clock: Clock; readonly profile: ReflectorProfile };
}

export type Findings = Omit<Transcript, 'stop' | 'requests' | 'errors'>;

export interface Subject {
  /** Grows with everything it says. */
  readonly said: number;
  /** Looks for what happens without a call: being synced, and the conditions for handlers to come and go. */
  look(): void;
  findings(): Findings;
  stop(): Promise<void>;
}

export const versionOf = (object: ConfigMap): string => object.metadata?.resourceVersion ?? '';
