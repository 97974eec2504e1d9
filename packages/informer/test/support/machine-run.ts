// Runs inputs through the reflector's state machine and says what it did in short forms.
import {
  newForbidden,
  newInternalError,
  newNotFound,
  newResourceExpired,
  newStatusError,
  newTooLargeResourceVersion,
  newTooManyRequests,
} from '@kube-rx/apimachinery';
import { TransportError } from '../../src/errors.ts';
import { type Failure, failureOf } from '../../src/reflector/error-classes.ts';
import type { ReflectorEffect, ReflectorInput, ReflectorState } from '../../src/reflector/reflector-input.ts';
import { INITIAL_STATE } from '../../src/reflector/reflector-input.ts';
import { type ReflectorPolicy, resolveReflectorPolicy } from '../../src/reflector/reflector-policy.ts';
import { transition } from '../../src/reflector/reflector-state.ts';

export const PARITY: ReflectorPolicy = resolveReflectorPolicy('client-go-1.30');
export const MODERN: ReflectorPolicy = resolveReflectorPolicy('modern', { initial: 'list' });
export const AUTO: ReflectorPolicy = resolveReflectorPolicy('modern');
export const WATCH_LIST: ReflectorPolicy = resolveReflectorPolicy('client-go-1.30', { initial: 'watch-list' });
export const MODERN_WATCH_LIST: ReflectorPolicy = resolveReflectorPolicy('modern', { initial: 'watch-list' });

export const expired: Failure = failureOf(newResourceExpired('too old'));
export const tooLarge: Failure = failureOf(newTooLargeResourceVersion('9', '5', 1));
export const internal: Failure = failureOf(newInternalError('x'));
export const throttled: Failure = failureOf(newTooManyRequests('slow down', 7));
export const unavailable: Failure = failureOf(
  newStatusError(503, 'ServiceUnavailable', 'not now', { retryAfterSeconds: 7 }),
);
export const forbidden: Failure = failureOf(newForbidden({ group: '', resource: 'pods' }, '', 'no'));
export const notFound: Failure = failureOf(newNotFound({ group: '', resource: 'pods' }, ''));
export const refused: Failure = failureOf(new TransportError('REFUSED', 'refused'));
export const reset: Failure = failureOf(new TransportError('RESET', 'reset'));

/** Runs inputs through the machine and keeps the effects of the last one. */
export class Run {
  state: ReflectorState = INITIAL_STATE;
  effects: readonly ReflectorEffect[] = [];
  now = 1_000_000;
  readonly policy: ReflectorPolicy;

  constructor(policy: ReflectorPolicy) {
    this.policy = policy;
  }

  feed(...inputs: ReflectorInput[]): this {
    for (const input of inputs) {
      const next = transition(this.state, input, this.policy, this.now);
      this.state = next.state;
      this.effects = next.effects;
    }
    return this;
  }
  /** Short forms: `list 10 limit=500`, `open watch 10`, `wait connect >=7000`, `report`, `fault expired`. */
  get did(): string[] {
    return this.effects.map((effect) => {
      switch (effect.type) {
        case 'list':
          return `list ${effect.resourceVersion || '""'} limit=${effect.limit}`;
        case 'open':
          return `open ${effect.mode} ${effect.resourceVersion || '""'}`;
        case 'wait':
          return `wait ${effect.backoff}${effect.minimumMs > 0 ? ` >=${effect.minimumMs}` : ''}`;
        case 'fault':
          return `fault ${effect.fault.kind} ${effect.fault.verb}`;
        case 'replace':
          return `replace ${effect.from} ${effect.resourceVersion}`;
        default:
          return effect.type;
      }
    });
  }
  listed(resourceVersion = '10', paginated = false): this {
    return this.feed({ type: 'start' }, { type: 'listed', resourceVersion, paginated });
  }
  watching(resourceVersion = '10'): this {
    return this.listed(resourceVersion).feed({ type: 'replaced' }, { type: 'opened' });
  }
  ended(
    how: 'closed' | 'error-event' | 'idle' | 'initial-events-timeout' | 'resync-failed',
    more: Partial<Extract<ReflectorInput, { type: 'stream-ended' }>> = {},
  ): this {
    return this.feed({ type: 'stream-ended', how, resourceVersion: '11', events: 1, durationMs: 60_000, ...more });
  }
}
export const parity = (): Run => new Run(PARITY);
export const modern = (): Run => new Run(MODERN);
export const streaming = (policy: ReflectorPolicy = WATCH_LIST): Run =>
  new Run(policy).feed({ type: 'start' }, { type: 'opened' });
