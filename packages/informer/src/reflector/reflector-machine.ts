// One step of the state machine: each input that a phase expects, and what follows from it. Pure.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#ListAndWatch, list, watchList, watch
import type { BackoffKind } from './backoff-manager.ts';
import type { Failure, FaultCause } from './error-classes.ts';
import { faultOf, isRefusal } from './error-classes.ts';
import type { Fault, FaultVerb } from './informer-status.ts';
import { listLimit, listVersion, watchListVersion } from './list-request.ts';
import type { ReflectorEffect, ReflectorInput, ReflectorPhase, ReflectorState, Transition } from './reflector-input.ts';
import type { ReflectorPolicy } from './reflector-policy.ts';
import { retryInWindow } from './retry-with-deadline.ts';

type PhaseOf<N extends ReflectorPhase['name']> = Extract<ReflectorPhase, { name: N }>;
type StreamEnd = Extract<ReflectorInput, { type: 'stream-ended' }>;

/** One step of the machine; lives no longer than the call of `transition`. */
export class Machine {
  readonly #state: ReflectorState;
  readonly #policy: ReflectorPolicy;
  readonly #now: number;

  constructor(state: ReflectorState, policy: ReflectorPolicy, now: number) {
    this.#state = state;
    this.#policy = policy;
    this.#now = now;
  }

  #to(phase: ReflectorPhase, effects: readonly ReflectorEffect[], change: Partial<ReflectorState> = {}): Transition {
    return { state: { ...this.#state, ...change, phase }, effects };
  }

  #with(change: Partial<ReflectorState>): Machine {
    return new Machine({ ...this.#state, ...change }, this.#policy, this.#now);
  }

  choose(): Transition {
    const { initial } = this.#policy;
    if (initial === 'list' || this.#now < this.#state.noWatchListUntil) return this.begin(false);
    if (initial === 'watch-list') return this.begin(true);
    return this.#to({ name: 'asking' }, [{ type: 'ask-watch-list' }]);
  }

  begin(watchList: boolean): Transition {
    return watchList ? this.open('watch-list') : this.#relist();
  }

  #relist(effects: readonly ReflectorEffect[] = []): Transition {
    return this.#list(listVersion(this.#state, this.#policy), undefined, effects);
  }

  #list(
    resourceVersion: string,
    retryOf: PhaseOf<'listing'> | undefined,
    effects: readonly ReflectorEffect[] = [],
  ): Transition {
    const limit =
      retryOf !== undefined && this.#policy.unpagedRetry
        ? retryOf.limit
        : listLimit(this.#state, this.#policy, resourceVersion);
    const phase: ReflectorPhase = { name: 'listing', resourceVersion, limit, retryOf: retryOf?.resourceVersion };
    return this.#to(phase, [...effects, { type: 'list', resourceVersion, limit }]);
  }

  listed(phase: PhaseOf<'listing'>, input: Extract<ReflectorInput, { type: 'listed' }>): Transition {
    const { resourceVersion } = input;
    // Upstream looks at the version first asked for, not at that of the retry.
    const anyState = (phase.retryOf ?? phase.resourceVersion) === '0';
    return this.#to(
      { name: 'replacing', resourceVersion, next: 'open-watch' },
      [{ type: 'replace', from: 'list', resourceVersion }],
      {
        isLastSyncResourceVersionUnavailable: false,
        paginatedResult: this.#state.paginatedResult || (anyState && input.paginated),
      },
    );
  }

  listFailed(phase: PhaseOf<'listing'>, failure: Failure): Transition {
    const gone = failure.errorClass === 'expired' || failure.errorClass === 'too-large';
    if (!gone || phase.retryOf !== undefined) return this.fail('list', failure, phase.resourceVersion, gone);
    // The server says when it will know better; it is asked for the most recent state then.
    if (this.#asksToWait(failure)) {
      const machine = this.#with({ isLastSyncResourceVersionUnavailable: true });
      return machine.#wait('list', 'relist', 'choose', failure, phase.resourceVersion);
    }
    const fault = this.#fault('list', failure, phase.resourceVersion);
    return this.#with({ isLastSyncResourceVersionUnavailable: true }).#list('', phase, [{ type: 'fault', fault }]);
  }

  replaced(phase: PhaseOf<'replacing'>): Transition {
    const { resourceVersion } = phase;
    const change = { lastSyncResourceVersion: resourceVersion, unfinishedStreams: 0 };
    if (phase.next === 'go-on') return this.#to({ name: 'watching' }, [{ type: 'start-resync' }], change);
    return this.#with(change).open('watch', [{ type: 'start-resync' }]);
  }

  open(mode: 'watch' | 'watch-list', effects: readonly ReflectorEffect[] = []): Transition {
    const resourceVersion =
      mode === 'watch' ? this.#state.lastSyncResourceVersion : watchListVersion(this.#state, this.#policy);
    return this.#to({ name: 'opening', mode, resourceVersion }, [...effects, { type: 'open', mode, resourceVersion }]);
  }

  opened(phase: PhaseOf<'opening'>): Transition {
    const { mode, resourceVersion } = phase;
    const next =
      mode === 'watch' ? ({ name: 'watching' } as const) : ({ name: 'streaming-initial', resourceVersion } as const);
    return this.#to(next, [], { refusal: undefined });
  }

  watchRefused(failure: Failure): Transition {
    const { errorClass } = failure;
    const sameAgain =
      errorClass === 'refused' ||
      errorClass === 'too-many-requests' ||
      (this.#policy.retryLostConnections && errorClass === 'transport');
    if (sameAgain) return this.#wait('watch', 'connect', 'watch', failure, this.#state.lastSyncResourceVersion);
    return this.fail('watch', failure, this.#state.lastSyncResourceVersion);
  }

  initialEventsEnd(resourceVersion: string): Transition {
    const effects: ReflectorEffect[] = [{ type: 'replace', from: 'initial-events', resourceVersion }];
    const change = { isLastSyncResourceVersionUnavailable: false };
    return this.#to({ name: 'replacing', resourceVersion, next: 'go-on' }, effects, change);
  }

  /** The streaming list did not open, or an ERROR event ended it. */
  watchListFailed(failure: Failure, asked: string): Transition {
    const { errorClass } = failure;
    if (errorClass === 'refused' || errorClass === 'too-many-requests') {
      return this.#wait('watch-list', 'connect', 'watch-list', failure, asked);
    }
    const fault = this.#fault('watch-list', failure, asked);
    const gone = errorClass === 'expired' || errorClass === 'too-large';
    // A server that calls "anything" too old would be asked for ever.
    const again = gone && (asked !== '' || !this.#policy.boundedWatchList);
    const machine = again ? this.#with({ isLastSyncResourceVersionUnavailable: true }) : this.#withoutWatchList();
    if (this.#asksToWait(failure)) return machine.#waitFor('choose', 'connect', fault);
    return again ? machine.open('watch-list', [{ type: 'fault', fault }]) : machine.#relist([{ type: 'fault', fault }]);
  }

  /** An ordinary LIST in the same cycle. */
  #fallBack(fault: Fault): Transition {
    return this.#withoutWatchList().#relist([{ type: 'fault', fault }]);
  }

  /** The streaming list is left alone for a while. */
  #withoutWatchList(): Machine {
    const { boundedWatchList, watchListRetryMs } = this.#policy;
    if (!boundedWatchList) return this;
    return this.#with({ noWatchListUntil: this.#now + watchListRetryMs, unfinishedStreams: 0 });
  }

  streamEnded(input: StreamEnd, initial: boolean, asked: string): Transition {
    if (initial) return this.#initialStreamEnded(input, asked);
    return this.#with({ lastSyncResourceVersion: input.resourceVersion }).#liveStreamEnded(input);
  }

  #initialStreamEnded(input: StreamEnd, asked: string): Transition {
    if (input.failure !== undefined && input.how === 'error-event') return this.watchListFailed(input.failure, asked);
    const veryShort = input.durationMs < 1000 && input.events === 0;
    const kind = input.how === 'closed' ? 'early-close' : 'initial-events-timeout';
    const fault = this.#fault('watch-list', { kind, error: input.failure?.error }, asked);
    if (input.how !== 'closed' || veryShort) return this.#fallBack(fault);
    if (!this.#policy.boundedWatchList) return this.open('watch-list', [{ type: 'fault', fault }]);
    const unfinishedStreams = this.#state.unfinishedStreams + 1;
    const machine = this.#with({ unfinishedStreams });
    if (unfinishedStreams > 1) return machine.#fallBack(fault);
    return machine.#waitFor('watch-list', 'connect', fault);
  }

  #liveStreamEnded(input: StreamEnd): Transition {
    const { resourceVersion, how, failure } = input;
    if (how === 'idle') {
      const fault = this.#fault('watch', { kind: 'idle', error: failure?.error }, resourceVersion);
      return this.open('watch', [{ type: 'fault', fault }]);
    }
    if (how === 'closed') return this.#closed(input);
    const known: Failure = failure ?? { error: new Error(how), errorClass: 'other', kind: 'server' };
    if (known.errorClass === 'too-many-requests')
      return this.#wait('watch', 'connect', 'watch', known, resourceVersion);
    if (known.errorClass === 'internal') {
      const { retry, window } = retryInWindow(this.#state.retryWindow, this.#now, this.#policy.maxInternalErrorRetryMs);
      const machine = this.#with({ retryWindow: window });
      if (retry) return machine.open('watch', [{ type: 'fault', fault: this.#fault('watch', known, resourceVersion) }]);
      return machine.#wait('watch', 'relist', 'choose', known, resourceVersion);
    }
    return this.#wait('watch', 'relist', 'choose', known, resourceVersion);
  }

  #closed(input: StreamEnd): Transition {
    const { resourceVersion, durationMs, events } = input;
    const veryShort = durationMs < 1000 && events === 0;
    const early = { kind: 'early-close' as const, error: input.failure?.error };
    if (this.#policy.earlyCloseMs === 0) {
      // Upstream takes such a stream for an error and lists again.
      if (veryShort) return this.#waitFor('choose', 'relist', this.#fault('watch', early, resourceVersion));
      return this.open('watch');
    }
    if (durationMs >= this.#policy.earlyCloseMs) return this.#with({ earlyCloses: 0 }).open('watch');
    // One is forgiven, as servers restart; in a row they would be a hot loop. The version is kept: nothing says it is lost.
    const earlyCloses = this.#state.earlyCloses + 1;
    const machine = this.#with({ earlyCloses });
    const fault = this.#fault('watch', early, resourceVersion);
    if (earlyCloses === 1) return machine.open('watch', veryShort ? [{ type: 'fault', fault }] : []);
    return machine.#waitFor('watch', 'early-close', fault);
  }

  /** An error that ends the cycle: handler, back-off, and a new choice. */
  fail(verb: FaultVerb, failure: Failure, resourceVersion: string, gone = false): Transition {
    const machine = gone ? this.#with({ isLastSyncResourceVersionUnavailable: true }) : this;
    return machine.#wait(verb, 'relist', 'choose', failure, resourceVersion, [
      { type: 'report', error: failure.error },
    ]);
  }

  #wait(
    verb: FaultVerb,
    backoff: BackoffKind,
    next: PhaseOf<'waiting'>['next'],
    failure: Failure,
    resourceVersion: string,
    effects: readonly ReflectorEffect[] = [],
  ): Transition {
    return this.#waitFor(next, backoff, this.#fault(verb, failure, resourceVersion), effects);
  }

  #waitFor(
    next: PhaseOf<'waiting'>['next'],
    backoff: BackoffKind,
    fault: Fault,
    effects: readonly ReflectorEffect[] = [],
  ): Transition {
    const count = this.#state.refusal?.kind === fault.kind ? this.#state.refusal.count + 1 : 1;
    const refusal = isRefusal(fault.kind) ? { kind: fault.kind, count } : undefined;
    const { suspendAfter, suspendedProbeMs, maxRetryAfterMs } = this.#policy;
    const suspended = suspendAfter > 0 && refusal !== undefined && refusal.count >= suspendAfter;
    const minimumMs = Math.max(Math.min(fault.retryAfterMs ?? 0, maxRetryAfterMs), suspended ? suspendedProbeMs : 0);
    return this.#to(
      { name: 'waiting', next, suspended },
      [
        ...effects,
        // The resync timer lives as long as one list-and-watch cycle.
        ...(next === 'choose' ? [{ type: 'stop-resync' } as const] : []),
        { type: 'fault', fault },
        { type: 'wait', backoff: this.#policy.separateBackoffs ? backoff : 'relist', minimumMs, fault },
      ],
      { refusal },
    );
  }

  #asksToWait(failure: Failure): boolean {
    return this.#policy.maxRetryAfterMs > 0 && failure.retryAfterMs !== undefined;
  }

  #fault(verb: FaultVerb, failure: FaultCause, resourceVersion: string): Fault {
    return faultOf(verb, failure, resourceVersion, this.#now);
  }
}
