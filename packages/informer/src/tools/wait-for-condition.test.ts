import { newForbidden, newInternalError, settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { ConfigMaps, MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { ResourceClient } from '../client/resource-client.ts';
import { TransportError } from '../errors.ts';
import { RestClient } from '../rest/rest-client.ts';
import { allOf, anyOf, exists, hasCondition, hasPhase, isDeleted, not } from './conditions.ts';
import { untilWithSync } from './until-with-sync.ts';
import { waitForCondition } from './wait-for-condition.ts';

const ROOT = '/api/v1/namespaces/shop/configmaps';

function setUp() {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock });
  return { api, clock, client: new ResourceClient(rest, ConfigMaps, { namespace: 'shop' }) };
}

describe('waitForCondition', () => {
  it('resolves when the object is as wanted, and leaves nothing open', async () => {
    const { api, clock, client } = setUp();
    const waiting = waitForCondition(client, 'a', (map) => map?.data?.ready === 'yes', { clock });
    await settle();
    api.put(ROOT, { metadata: { name: 'a' } });
    await settle();
    api.put(ROOT, { metadata: { name: 'a' }, data: { ready: 'yes' } });
    expect((await waiting)?.data).toEqual({ ready: 'yes' });
    expect(api.openWatches).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    expect(api.requests[0]?.query).toMatchObject({ fieldSelector: 'metadata.name=a' });
  });

  it('waits for a deletion, also when the object is replaced by one of the same name', async () => {
    const { api, clock, client } = setUp();
    const { uid } = api.put(ROOT, { metadata: { name: 'a' } }).metadata;
    const waiting = waitForCondition(client, { name: 'a', namespace: 'shop' }, isDeleted(uid), { clock });
    await settle();
    api.cutWatches();
    api.remove(`${ROOT}/a`);
    api.put(ROOT, { metadata: { name: 'a' } });
    await clock.advance(60_000);
    expect((await waiting)?.metadata.uid).not.toBe(uid);
    api.remove(`${ROOT}/a`);
    expect(await waitForCondition(client, 'a', isDeleted(), { clock })).toBeUndefined();
  });

  it('survives a server that fails for a while', async () => {
    const { api, clock, client } = setUp();
    let failures = 0;
    api.intercept = () => {
      if (failures++ < 3) throw new TransportError('REFUSED', 'refused');
      return undefined;
    };
    const waiting = waitForCondition(client, 'a', exists, { clock });
    await clock.advance(30_000);
    api.put(ROOT, { metadata: { name: 'a' } });
    await clock.advance(60_000);
    expect((await waiting)?.metadata.name).toBe('a');
  });

  it('names the last fault when time is up', async () => {
    const { api, clock, client } = setUp();
    api.intercept = () => jsonResponse(500, newInternalError('disk full').status);
    const waiting = waitForCondition(client, 'a', exists, { clock, timeoutMs: 10_000 });
    const outcome = expect(waiting).rejects.toThrow(/within 10000 ms.*disk full/);
    await clock.advance(10_000);
    await outcome;
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up on the faults it is told to give up on, and with the reason of its signal', async () => {
    const { api, clock, client } = setUp();
    api.intercept = () => jsonResponse(403, newForbidden({ group: '', resource: 'configmaps' }, '', 'no').status);
    await expect(
      waitForCondition(client, 'a', exists, { clock, giveUpOn: (fault) => fault.kind === 'forbidden' }),
    ).rejects.toMatchObject({ code: 'SYNC_REFUSED' });
    const abort = new AbortController();
    const waiting = waitForCondition(client, 'a', exists, { clock, signal: abort.signal });
    const outcome = expect(waiting).rejects.toThrow('enough');
    await settle();
    abort.abort(new Error('enough'));
    await outcome;
    expect(clock.pendingTimers).toBe(0);
    await expect(waitForCondition(client, 'a', exists, { clock, signal: abort.signal })).rejects.toThrow('enough');
  });
});

describe('untilWithSync', () => {
  it('asks about all objects after the first list and each change, and answers with the answer', async () => {
    const { api, clock, client } = setUp();
    api.put(ROOT, { metadata: { name: 'a' } });
    const sizes: number[] = [];
    const waiting = untilWithSync(
      client.listerWatcher(),
      (states) => {
        sizes.push(states.size);
        return states.size === 3 && [...states.keys()];
      },
      { clock },
    );
    await settle();
    for (const name of ['b', 'c']) api.put(ROOT, { metadata: { name } });
    expect(await waiting).toEqual(['shop/a', 'shop/b', 'shop/c']);
    expect(sizes).toEqual([1, 2, 3]);
  });

  it('rejects with what the condition throws', async () => {
    const { clock, client } = setUp();
    const failing = untilWithSync(
      client.listerWatcher(),
      () => {
        throw new Error('broken');
      },
      { clock },
    );
    await expect(failing).rejects.toThrow('broken');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('conditions', () => {
  const object = (status: unknown, generation = 1) =>
    ({ metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation }, status }) as never;

  it('reads conditions and phases, and ignores those of an older generation', () => {
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(hasCondition('Ready')(object(ready))).toBe(true);
    expect(hasCondition('Ready', 'False')(object(ready))).toBe(false);
    expect(hasCondition('Ready')(object({ ...ready, observedGeneration: 1 }, 2))).toBe(false);
    expect(
      hasCondition('Ready')(object({ conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }] }, 2)),
    ).toBe(false);
    expect(hasCondition('Ready')(undefined)).toBe(false);
    expect(hasCondition('Ready')(object({ conditions: 'nonsense' }))).toBe(false);
    expect(hasPhase('Running', 'Succeeded')(object({ phase: 'Succeeded' }))).toBe(true);
    expect(hasPhase('Running')(object(undefined))).toBe(false);
  });

  it('combines them', () => {
    expect(allOf(exists, not(hasPhase('Failed')))(object({ phase: 'Running' }))).toBe(true);
    expect(anyOf(isDeleted(), hasPhase('Failed'))(object({ phase: 'Running' }))).toBe(false);
    expect(isDeleted('other')(object({}))).toBe(true);
    expect(isDeleted('u')(object({}))).toBe(false);
  });
});
