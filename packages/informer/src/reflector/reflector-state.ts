// The list/watch/relist machine: (state, input) -> (state, effects). No timer, no I/O, no clock; each row of the table in
// docs is one test. The shell in reflector.ts performs the effects and feeds back what came of them.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#ListAndWatch, list, watchList, watch
import type { ReflectorInput, ReflectorState, Transition } from './reflector-input.ts';
import { Machine } from './reflector-machine.ts';
import type { ReflectorPolicy } from './reflector-policy.ts';

/** The next state and what to do. An input that the phase does not expect (a result that came too late) changes nothing. */
export function transition(
  state: ReflectorState,
  input: ReflectorInput,
  policy: ReflectorPolicy,
  now: number,
): Transition {
  const { phase } = state;
  if (phase.name === 'stopped') return { state, effects: [] };
  if (input.type === 'stop') return { state: { ...state, phase: { name: 'stopped' } }, effects: [{ type: 'release' }] };
  const machine = new Machine(state, policy, now);
  switch (phase.name) {
    case 'idle':
      if (input.type === 'start') return machine.choose();
      break;
    case 'asking':
      if (input.type === 'watch-list-support') return machine.begin(input.supported);
      break;
    case 'listing':
      if (input.type === 'listed') return machine.listed(phase, input);
      if (input.type === 'failed') return machine.listFailed(phase, input.failure);
      break;
    case 'replacing':
      if (input.type === 'replaced') return machine.replaced(phase);
      if (input.type === 'replace-failed') return machine.fail('list', input.failure, phase.resourceVersion);
      break;
    case 'opening':
      if (input.type === 'opened') return machine.opened(phase);
      if (input.type === 'failed') {
        return phase.mode === 'watch'
          ? machine.watchRefused(input.failure)
          : machine.watchListFailed(input.failure, phase.resourceVersion);
      }
      // The connection went silent before the server answered.
      if (input.type === 'stream-ended')
        return machine.streamEnded(input, phase.mode === 'watch-list', phase.resourceVersion);
      break;
    case 'streaming-initial':
      if (input.type === 'initial-events-end') return machine.initialEventsEnd(input.resourceVersion);
      if (input.type === 'stream-ended') return machine.streamEnded(input, true, phase.resourceVersion);
      break;
    case 'watching':
      if (input.type === 'stream-ended') return machine.streamEnded(input, false, '');
      break;
    case 'waiting':
      if (input.type !== 'waited') break;
      if (phase.next === 'choose') return machine.choose();
      return machine.open(phase.next);
  }
  return { state, effects: [] };
}
