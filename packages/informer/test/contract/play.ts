// Runs an informer, or a reflector alone, against a script until the script's end, on a clock of its own.
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import type { ReflectorProfile } from '../../src/reflector/reflector-policy.ts';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import { ConfigMaps } from '../support/memory-api.ts';
import { InformerSubject } from './informer-subject.ts';
import { reflectorSubject } from './reflector-subject.ts';
import type { Gap, Scenario, Transcript } from './scenario.ts';
import { refuseUnknown } from './script-content.ts';
import { ScriptedServer, type ServedRequest, type ServedState } from './scripted-server.ts';
import type { Subject } from './subject.ts';
import { errorClass, requestLine } from './transcript.ts';

// Turns of the event loop without a sign of life after which nothing more comes at this instant.
const QUIET_TURNS = 4;
// Far above what the longest list takes.
const MOST_TURNS = 2000;

export interface PlayOptions {
  readonly profile: ReflectorProfile;
  /** In [0, 1): where in its range every wait and every timeout is. */
  readonly random: number;
  /** Plays on until then instead of to the script's end. */
  readonly untilMs?: number;
  readonly state?: ServedState;
}

export interface Played {
  readonly requests: readonly ServedRequest[];
  /** In the form of a recorded transcript, whose classes of gaps it takes over where they hold. */
  transcript(expectedGaps: readonly Gap[]): Transcript;
  /** Timers that were still set after everything had been stopped. */
  readonly timersLeft: number;
}

export async function play(scenario: Scenario, { profile, random, untilMs, state }: PlayOptions): Promise<Played> {
  const { driver, stop } = scenario;
  refuseUnknown('scenario', scenario, ['why', 'driver', 'stop', 'compare', 'listenAfterMs', 'rules']);
  refuseUnknown('driver', driver, ['mode', 'watchList', 'client', 'resyncMs', 'pageSize', 'handlers']);
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock, scenario, state);
  const errors: string[] = [];
  const client = new RestClient({ server: 'http://script.test', transport: server, clock });
  const parity = { decoding: driver.client === 'dynamic' ? 'dynamic' : 'typed', decodeWatchStatus: false } as const;
  const setup = {
    scenario,
    listWatch: new ListWatch(client, ConfigMaps, { namespace: 'default', ...(profile === 'modern' ? {} : parity) }),
    options: {
      expected: ConfigMaps,
      profile,
      initial: driver.watchList === true ? 'watch-list' : 'list',
      resyncMs: driver.resyncMs ?? 0,
      pageSize: driver.pageSize ?? 0,
      clock,
      random: () => random,
      onWatchError: (error: Error) => void errors.push(`${errorClass(error)} after request ${server.requests.length}`),
    },
  } as const;
  const subject = driver.mode === 'reflector' ? reflectorSubject(setup) : new InformerSubject(setup);

  const begin = clock.now();
  const last = (): ServedRequest | undefined => server.requests[stop.requests - 1];
  const endAt = (): number => {
    if (untilMs !== undefined) return begin + untilMs;
    return Math.min(
      (server.requests[0]?.at ?? begin) + stop.maxMs,
      (last()?.at ?? Number.POSITIVE_INFINITY) + stop.settleMs,
    );
  };
  for (;;) {
    await quiet(server, subject);
    const timerAt = clock.nextTimerAt ?? Number.POSITIVE_INFINITY;
    if (clock.now() >= endAt() && timerAt > clock.now()) break;
    await clock.advance(Math.min(endAt(), timerAt) - clock.now());
  }
  const stopped = last() === undefined ? 'maxMs' : 'requests';
  const requests = [...server.requests];
  const found = subject.findings();
  const reported = [...errors];
  await subject.stop();
  await quiet(server, subject);
  return {
    requests,
    transcript: (expectedGaps) => ({
      stop: stopped,
      requests: requests.map((request, index) => requestLine(request, expectedGaps[index] ?? 'now')),
      errors: reported,
      ...found,
    }),
    timersLeft: clock.pendingTimers,
  };
}

/** Lets the present instant come to its end. Throws when it has none, as in a loop without a wait. */
async function quiet(server: ScriptedServer, subject: Subject): Promise<void> {
  let seen = -1;
  let turns = 0;
  for (let still = 0; still < QUIET_TURNS; still++) {
    if (++turns > MOST_TURNS) throw new Error(`no rest after ${server.requests.length} requests`);
    await settle();
    subject.look();
    const signs = server.activity + subject.said;
    if (signs !== seen) still = 0;
    seen = signs;
  }
}
