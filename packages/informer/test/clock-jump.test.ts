// A machine that sleeps and wakes: time jumps, and the connections it had are dead without a word.
import { newInternalError, newResourceExpired, settle } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReflectorOptions } from '../src/reflector/reflector-options.ts';
import type { SharedIndexInformerOptions } from '../src/shared-informer/informer-options.ts';
import { SharedIndexInformer } from '../src/shared-informer/shared-index-informer.ts';
import { list, ScriptedListerWatcher, type TestObject } from './support/scripted-lister-watcher.ts';
import { SleepingClock, type Waking } from './support/sleeping-clock.ts';

const HOURS = 3_600_000;
const WATCHDOG_MS = 330_000;

describe.each<Waking>(['timers due', 'timers late'])('an informer that wakes after hours, %s', (waking) => {
  let clock: SleepingClock;
  let server: ScriptedListerWatcher;
  let informer: SharedIndexInformer<TestObject>;
  let seen: string[];
  beforeEach(() => {
    clock = new SleepingClock();
    server = new ScriptedListerWatcher();
    seen = [];
  });
  afterEach(async () => {
    await informer.close();
    expect([clock.pendingTimers, server.openStreams]).toEqual([0, 0]);
  });

  async function start(options: SharedIndexInformerOptions<TestObject> & ReflectorOptions = {}): Promise<void> {
    informer = new SharedIndexInformer<TestObject>(server, { clock, random: () => 0, ...options });
    informer.handle((each) => {
      if (each.type !== 'synced')
        seen.push(`${each.type} ${each.object.metadata.name}@${each.object.metadata.resourceVersion}`);
    });
    informer.start();
    await settle();
  }
  const watches = (): string[] => server.requests.filter((each) => each.startsWith('WATCH'));

  it('watches on from its last version within the bound of its watchdog, without a list', async () => {
    server.onList(list('5', 'a@5'));
    await start();
    server.stream.send('MODIFIED a@7');
    await clock.advance(60_000);
    await clock.sleep(8 * HOURS, waking);
    await clock.advance(WATCHDOG_MS);
    expect(watches().slice(0, 2)).toEqual(['WATCH rv=5', 'WATCH rv=7']);
    expect([server.listCount, server.openStreams]).toEqual([1, 1]);
    server.stream.send('ADDED b@9');
    expect(seen).toEqual(['added a@5', 'updated a@7', 'added b@9']);
    expect(informer.status.phase).toBe('watching');
  });

  it('lists when the server has forgotten its version meanwhile, and tells what it missed', async () => {
    server.onList(list('5', 'a@5', 'b@4'), list('90', 'a@80', 'c@85'));
    await start();
    const first = server.stream;
    server.onWatch(newResourceExpired('too old resource version'));
    await clock.sleep(8 * HOURS, waking);
    await clock.advance(WATCHDOG_MS + 5000);
    expect(first.stopped).toBe(true);
    expect(server.requests.slice(0, 5)).toEqual([
      'LIST rv=0 limit=500',
      'WATCH rv=5',
      'WATCH rv=5',
      'LIST rv=5',
      'WATCH rv=90',
    ]);
    expect(seen.slice(0, 2)).toEqual(['added a@5', 'added b@4']);
    expect(seen.slice(2).sort()).toEqual(['added c@85', 'deleted b@4', 'updated a@80']);
  });

  it('makes one request after a wait it slept through, not one for each', async () => {
    server.onList(...Array.from({ length: 6 }, () => newInternalError('down')), list('9', 'a@9'));
    await start();
    await clock.advance(20_000);
    expect(informer.status.phase).toBe('backing-off');
    const before = server.requests.length;
    await clock.sleep(8 * HOURS, waking);
    expect(server.requests.length - before).toBe(waking === 'timers due' ? 1 : 0);
    await clock.advance(60_000);
    expect(seen).toEqual(['added a@9']);
  });

  it('resyncs once, not once for each period it slept', async () => {
    server.onList(list('5', 'a@5'));
    await start({ resyncMs: 60_000, emitUnchanged: true });
    await clock.advance(60_000);
    expect(seen).toEqual(['added a@5', 'updated a@5']);
    await clock.sleep(HOURS, waking);
    await clock.advance(59_999);
    expect(seen).toHaveLength(waking === 'timers due' ? 3 : 2);
    await clock.advance(1);
    expect(seen).toHaveLength(waking === 'timers due' ? 4 : 3);
  });

  it('says in its health how long ago it heard of the server', async () => {
    server.onList(list('5'));
    await start();
    await clock.advance(1000);
    await clock.sleep(HOURS, 'timers late');
    expect(clock.now() - (informer.lastActivity ?? 0)).toBe(HOURS + 1000);
    await clock.advance(WATCHDOG_MS);
    expect(clock.now() - (informer.lastActivity ?? 0)).toBeLessThan(WATCHDOG_MS);
  });
});
