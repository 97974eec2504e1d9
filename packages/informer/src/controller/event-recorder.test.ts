import { newForbidden, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { TransportError } from '../errors.ts';
import { RestClient } from '../rest/rest-client.ts';
import { EventCorrelator } from './event-correlator.ts';
import { createEventRecorder } from './event-recorder.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' },
};
const EVENTS = '/api/v1/namespaces/shop/events';

function setUp() {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 });
  const recorder = createEventRecorder(rest, { component: 'tester', instance: 'tester-0', random: () => 0.5 });
  const sent = () =>
    api.requests.map(({ method, path, body }) => ({ method, path, body: body as Record<string, unknown> }));
  return { api, clock, recorder, sent };
}

describe('createEventRecorder', () => {
  it('writes an Event beside the object, and counts it when it happens again', async () => {
    const { clock, recorder, sent, api } = setUp();
    recorder.event(pod, 'Warning', 'BackOff', 'cannot start');
    await clock.advance(1000);
    recorder.event(pod, 'Warning', 'BackOff', 'cannot start');
    await clock.advance(0);
    const [created, counted] = sent();
    expect(created).toMatchObject({
      method: 'POST',
      path: EVENTS,
      body: {
        kind: 'Event',
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Pod',
          name: 'web',
          namespace: 'shop',
          uid: 'u1',
          resourceVersion: '7',
        },
        type: 'Warning',
        reason: 'BackOff',
        message: 'cannot start',
        count: 1,
        firstTimestamp: '2024-01-01T00:00:00Z',
        lastTimestamp: '2024-01-01T00:00:00Z',
        source: { component: 'tester' },
        reportingComponent: 'tester',
        reportingInstance: 'tester-0',
      },
    });
    const { name } = (created!.body as { metadata: { name: string } }).metadata;
    expect(name).toMatch(/^web\.[0-9a-f]{16}$/);
    expect(counted).toEqual({
      method: 'PATCH',
      path: `${EVENTS}/${name}`,
      body: { count: 2, message: 'cannot start', lastTimestamp: '2024-01-01T00:00:01Z' },
    });
    api.remove(`${EVENTS}/${name}`);
    recorder.event(pod, 'Warning', 'BackOff', 'cannot start');
    await clock.advance(0);
    expect(
      sent()
        .slice(2)
        .map(({ method }) => method),
    ).toEqual(['PATCH', 'POST']);
    recorder.event(pod, 'Warning', 'BackOff', 'cannot start');
    await clock.advance(0);
    expect(sent().at(-1)).toMatchObject({ method: 'PATCH', body: { count: 4 } });
    await recorder.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('puts Events about objects of the cluster into the default namespace', async () => {
    const { clock, recorder, sent } = setUp();
    recorder.event({ kind: 'Node', metadata: { name: 'n' } }, 'Normal', 'Ready', 'is ready');
    await clock.advance(0);
    expect(sent()[0]?.path).toBe('/api/v1/namespaces/default/events');
  });

  it('tries again when the server is away, not when it refuses', async () => {
    const { api, clock, recorder } = setUp();
    let failures = 0;
    api.intercept = () => {
      if (failures++ < 3) throw new TransportError('REFUSED', 'refused');
      return undefined;
    };
    recorder.event(pod, 'Normal', 'Started', 'started');
    await clock.advance(4999);
    expect(failures).toBe(1);
    await clock.advance(20_001);
    expect(failures).toBe(4);
    expect(api.requests.at(-1)?.method).toBe('POST');
    api.intercept = () => jsonResponse(403, newForbidden({ group: '', resource: 'events' }, '', 'no').status);
    recorder.event(pod, 'Normal', 'Stopped', 'stopped');
    const before = api.requests.length;
    await clock.advance(600_000);
    expect(api.requests.length).toBe(before + 1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives an Event up after twelve tries, and keeps at most a thousand waiting', async () => {
    const { api, clock, recorder } = setUp();
    api.intercept = () => {
      throw new TransportError('REFUSED', 'refused');
    };
    recorder.event(pod, 'Normal', 'First', 'first');
    for (let n = 0; n < 1500; n++) recorder.event({ kind: 'X', metadata: { name: `x${n}` } }, 'Normal', 'R', 'm');
    await clock.advance(106_000);
    expect(api.requests).toHaveLength(13);
    api.intercept = undefined;
    await clock.advance(60_000);
    const sent = api.requests.filter(({ method }) => method === 'POST').length;
    expect(sent).toBeGreaterThanOrEqual(1000);
    expect(sent).toBeLessThan(1030);
  });

  it('ends its wait when it is closed and takes nothing more', async () => {
    const { api, clock, recorder } = setUp();
    api.intercept = () => {
      throw new TransportError('REFUSED', 'refused');
    };
    recorder.event(pod, 'Normal', 'Started', 'started');
    await clock.advance(10_000);
    const closing = recorder.close({ timeoutMs: 1000 });
    await clock.advance(1000);
    await closing;
    recorder.event(pod, 'Normal', 'Late', 'late');
    await clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
    expect(() =>
      createEventRecorder(new RestClient({ server: 'http://x', transport: api }), { component: '' }),
    ).toThrow(/component/);
  });
});

describe('EventCorrelator', () => {
  const object = { kind: 'Pod', name: 'web' };

  it('combines the tenth different message of a reason within ten minutes', () => {
    const clock = new VirtualClock();
    const correlator = new EventCorrelator(clock);
    const tell = (message: string) => correlator.correlate({ object, type: 'Normal', reason: 'R', message }, 'n');
    const first = Array.from({ length: 11 }, (_, n) => tell(`m${n}`));
    expect(first.slice(0, 9).map(({ action }) => action)).toEqual(Array(9).fill('create'));
    expect(first[9]).toMatchObject({ action: 'create', message: '(combined from similar events): m9' });
    expect(first[10]).toMatchObject({ action: 'count', count: 2, message: '(combined from similar events): m10' });
    clock.advanceSync(600_001);
    expect(tell('m20')).toMatchObject({ action: 'create', message: 'm20' });
  });

  it('lets 25 through about one object, then one every five minutes', () => {
    const clock = new VirtualClock();
    const correlator = new EventCorrelator(clock);
    const tell = (name: string) =>
      correlator.correlate({ object: { ...object, name }, type: 'Normal', reason: 'R', message: 'm' }, 'n').action;
    expect(Array.from({ length: 30 }, () => tell('web')).filter((action) => action === 'drop')).toHaveLength(5);
    expect(tell('other')).toBe('create');
    clock.advanceSync(300_000);
    expect([tell('web'), tell('web')]).toEqual(['count', 'drop']);
  });
});
