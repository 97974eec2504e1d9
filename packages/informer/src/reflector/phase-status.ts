// What the phases of the state machine are called where users look.
import type { InformerStatus } from './informer-status.ts';
import type { ReflectorEffect, ReflectorPhase, ReflectorState } from './reflector-input.ts';

/** Plain data for debugging. */
export interface ReflectorInspection {
  readonly name: string;
  readonly state: ReflectorState;
  readonly status: InformerStatus;
  readonly cursor: string;
}

/** Of a phase just entered; undefined for one that says nothing by itself. */
export function statusOfPhase(
  phase: ReflectorPhase,
  since: number,
  watching: () => InformerStatus,
): InformerStatus | undefined {
  switch (phase.name) {
    case 'listing':
      return { phase: 'listing', resourceVersion: phase.resourceVersion, received: 0, since };
    case 'opening': {
      const { mode, resourceVersion } = phase;
      return mode === 'watch'
        ? { phase: 'connecting', resourceVersion, since }
        : { phase: 'streaming-initial', resourceVersion, received: 0, since };
    }
    case 'watching':
      return watching();
    default:
      return undefined;
  }
}

/** Of a wait, whose length is known only when it begins. */
export function statusOfWait(
  phase: ReflectorPhase,
  { fault }: Extract<ReflectorEffect, { type: 'wait' }>,
  until: number,
  attempt: number,
): InformerStatus {
  const suspended = phase.name === 'waiting' && phase.suspended;
  return suspended ? { phase: 'suspended', until, fault } : { phase: 'backing-off', until, attempt, fault };
}
