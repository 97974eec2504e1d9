import type { KubernetesObject } from '@kube-rx/apimachinery';
import { settle, sleep, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { ConfigMap, MutableObject } from '../../test/support/memory-api.ts';
import { ConfigMaps, MemoryApi } from '../../test/support/memory-api.ts';
import { TerminalError } from '../errors.ts';
import { defineResource } from '../rest/resource-type.ts';
import { RestClient } from '../rest/rest-client.ts';
import { SharedInformerFactory } from '../shared-informer/shared-informer-factory.ts';
import type { ControllerOptions } from './controller.ts';
import { createController } from './controller.ts';
import { generationChanged } from './predicates.ts';
import type { ReconcileAnswer, ReconcileContext, ReconcileReport, ReconcileRequest } from './reconciler.ts';
import { owned, watching } from './watches.ts';

const Secrets = defineResource()({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' });
const MAPS = '/api/v1/namespaces/shop/configmaps';
const SECRETS = '/api/v1/namespaces/shop/secrets';

type Work = (request: ReconcileRequest, context: ReconcileContext) => Promise<ReconcileAnswer> | ReconcileAnswer;

function setUp(work: Work = () => {}, options: Partial<ControllerOptions<ConfigMap>> = {}) {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock });
  const factory = new SharedInformerFactory(rest, { clock, random: () => 0 });
  const maps = factory.informer(ConfigMaps);
  const secrets = factory.informer(Secrets);
  const start = clock.now();
  const calls: string[] = [];
  const reports: ReconcileReport[] = [];
  const controller = createController({
    name: 'test',
    for: maps,
    clock,
    reconcile(request, context) {
      calls.push(`${request.namespace}/${request.name} @${clock.now() - start}`);
      return work(request, context);
    },
    ...options,
  });
  controller.results$.subscribe((report) => reports.push(report));
  const put = (name: string, more: Omit<MutableObject, 'metadata'> & { metadata?: object } = {}, root = MAPS) =>
    api.put(root, { ...more, metadata: { name, ...more.metadata } });
  const end = async (): Promise<void> => {
    await controller.close();
    for (const informer of [maps, secrets]) await informer[Symbol.asyncDispose]();
    await factory[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  };
  return { api, clock, rest, maps, secrets, calls, reports, controller, put, end };
}

describe('createController', () => {
  it('reconciles every object once after the caches are full, then what changes', async () => {
    const { clock, controller, calls, put, api, end } = setUp();
    for (const name of ['a', 'b']) put(name);
    const running = controller.run();
    await clock.advance(10);
    expect(calls).toEqual(['shop/a @0', 'shop/b @0']);
    put('a', { data: { x: '1' } });
    api.remove(`${MAPS}/b`);
    await clock.advance(10);
    expect(calls.slice(2)).toEqual(['shop/a @10', 'shop/b @10']);
    await end();
    await running;
    expect(controller.running).toBe(false);
  });

  it('does not start before every cache is full', async () => {
    const { clock, controller, calls, put, api, secrets, end } = setUp();
    put('a');
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    api.intercept = async ({ path, query }) => {
      if (path.includes('configmaps') && query['watch'] === undefined) await gate;
      return undefined;
    };
    await secrets.whenSynced();
    const running = controller.run();
    await clock.advance(1000);
    expect(calls).toEqual([]);
    open();
    await clock.advance(10);
    expect(calls).toHaveLength(1);
    await end();
    await running;
  });

  it('rejects when the caches do not fill in time', async () => {
    const { clock, controller, api, end } = setUp(undefined, { cacheSyncTimeoutMs: 5000 });
    api.intercept = () => new Promise(() => {});
    const outcome = expect(controller.run()).rejects.toMatchObject({ name: 'WaitError', code: 'NOT_SYNCED' });
    await clock.advance(5000);
    await outcome;
    expect(controller.running).toBe(false);
    await end();
  });

  it('never runs twice at once for one object, and once more for what came meanwhile', async () => {
    let running = 0;
    let most = 0;
    const { clock, controller, calls, put, end } = setUp(
      async () => {
        most = Math.max(most, ++running);
        await sleep(clock, 100);
        running--;
      },
      { concurrency: 4 },
    );
    put('a');
    void controller.run();
    await clock.advance(50);
    for (let n = 0; n < 5; n++) {
      put('a', { data: { n } });
      await clock.advance(1);
    }
    await clock.advance(1000);
    expect(most).toBe(1);
    expect(calls).toEqual(['shop/a @0', 'shop/a @100']);
    await end();
  });

  it('works on as many objects at once as it is told', async () => {
    let running = 0;
    let most = 0;
    const { clock, controller, put, end } = setUp(
      async () => {
        most = Math.max(most, ++running);
        await sleep(clock, 100);
        running--;
      },
      { concurrency: 3 },
    );
    for (let n = 0; n < 10; n++) put(`a${n}`);
    void controller.run();
    await clock.advance(2000);
    expect(most).toBe(3);
    await end();
  });

  it('tries again after an error, later each time, until it succeeds', async () => {
    const { clock, controller, calls, reports, put, end } = setUp((_request, { failures }) => {
      if (failures < 3) throw new Error(`try ${failures}`);
    });
    put('a');
    void controller.run();
    await clock.advance(1000);
    expect(calls).toEqual(['shop/a @0', 'shop/a @5', 'shop/a @15', 'shop/a @35']);
    expect(reports.map(({ outcome, failures }) => `${outcome} ${failures}`)).toEqual([
      'error 0',
      'error 1',
      'error 2',
      'success 3',
    ]);
    expect(reports[0]?.error).toEqual(new Error('try 0'));
    put('a', { data: { x: '1' } });
    await clock.advance(0);
    expect(reports.at(-1)).toMatchObject({ outcome: 'error', failures: 0 });
    await end();
  });

  it('does not try again after a TerminalError, but when the object changes', async () => {
    const { clock, controller, calls, reports, put, end } = setUp(() => {
      throw new TerminalError('no selector');
    });
    put('a');
    void controller.run();
    await clock.advance(3_600_000);
    expect(calls).toHaveLength(1);
    expect(reports[0]?.outcome).toBe('terminal-error');
    put('a', { data: { x: '1' } });
    await clock.advance(0);
    expect(calls).toHaveLength(2);
    await end();
  });

  it('looks again after the time the reconciler asks for, or later each time when it just asks', async () => {
    const answers: ReconcileAnswer[] = [
      { requeueAfterMs: 60_000 },
      { requeue: true },
      { requeue: true },
      { requeueAfterMs: 0 },
    ];
    const { clock, controller, calls, reports, put, end } = setUp(() => answers.shift());
    put('a');
    void controller.run();
    await clock.advance(600_000);
    expect(calls).toEqual(['shop/a @0', 'shop/a @60000', 'shop/a @60005', 'shop/a @60015']);
    expect(reports.map((report) => report.outcome)).toEqual(['requeue-after', 'requeue', 'requeue', 'success']);
    await end();
  });

  it('drops events its predicate does not want', async () => {
    const { clock, controller, calls, put, end } = setUp(undefined, { when: generationChanged });
    put('a', { metadata: { generation: 1 } });
    void controller.run();
    await clock.advance(0);
    put('a', { metadata: { generation: 1 }, status: { ready: true } });
    await clock.advance(0);
    expect(calls).toHaveLength(1);
    put('a', { metadata: { generation: 2 } });
    await clock.advance(0);
    expect(calls).toHaveLength(2);
    await end();
  });

  it('reconciles the owner of what changes, also the one that lost it', async () => {
    const { clock, controller, secrets, maps, calls, put, end } = setUp();
    const withOwned = createController({
      name: 'owner',
      for: maps,
      owns: [secrets, owned(secrets, { everyOwner: true, when: (event) => event.object.metadata.name === 'shared' })],
      clock,
      reconcile: ({ name }) => void calls.push(name),
    });
    void controller;
    const reference = (name: string, isController = true) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: maps.store.get(name, 'shop')?.metadata.uid ?? 'unknown',
      controller: isController,
    });
    for (const name of ['a', 'b']) put(name);
    void withOwned.run();
    await clock.advance(0);
    calls.length = 0;
    put('s', { metadata: { ownerReferences: [reference('a')] } }, SECRETS);
    await clock.advance(0);
    put('s', { metadata: { ownerReferences: [reference('b')] } }, SECRETS);
    await clock.advance(0);
    expect(calls).toEqual(['a', 'a', 'b']);
    put('plain', { metadata: { ownerReferences: [reference('a', false)] } }, SECRETS);
    put('stale', { metadata: { ownerReferences: [{ ...reference('a'), uid: 'before' }] } }, SECRETS);
    await clock.advance(0);
    expect(calls).toHaveLength(3);
    put('shared', { metadata: { ownerReferences: [reference('a', false), reference('b', false)] } }, SECRETS);
    await clock.advance(0);
    expect(calls.slice(3)).toEqual(['a', 'b']);
    await withOwned.close();
    await end();
  });

  it('reconciles what a watch maps its events to', async () => {
    const { clock, secrets, maps, calls, put, end } = setUp();
    const mapped = createController({
      name: 'mapped',
      for: maps,
      when: () => false,
      watches: [
        watching(secrets, ({ object }: { readonly object: KubernetesObject }) => {
          const app = object.metadata?.labels?.['app'];
          return app === undefined ? undefined : [{ name: app, namespace: 'shop' }, { name: 'all' }];
        }),
      ],
      clock,
      reconcile: ({ name, namespace = '-' }) => void calls.push(`${namespace}/${name}`),
    });
    void mapped.run();
    put('s', { metadata: { labels: { app: 'web' } } }, SECRETS);
    put('t', {}, SECRETS);
    await clock.advance(0);
    expect(calls).toEqual(['shop/web', '-/all']);
    await mapped.close();
    await end();
  });

  it('drains when it is closed: what is queued is done, nothing new is taken', async () => {
    const { clock, controller, calls, put, end } = setUp(() => sleep(clock, 100));
    for (const name of ['a', 'b', 'c']) put(name);
    const running = controller.run();
    await clock.advance(50);
    const closing = controller.close();
    put('d');
    await clock.advance(1000);
    await Promise.all([closing, running]);
    expect(calls).toEqual(['shop/a @0', 'shop/b @100', 'shop/c @200']);
    await expect(controller.run()).rejects.toMatchObject({ code: 'STOPPED' });
    await end();
  });

  it('aborts calls that do not end within the time a drain may take', async () => {
    const { clock, controller, reports, put, end } = setUp(
      (_request, { signal }) => sleep(clock, 3_600_000, { signal }),
      {
        drainTimeoutMs: 2000,
      },
    );
    for (const name of ['a', 'b']) put(name);
    const running = controller.run();
    await clock.advance(0);
    const closing = controller.close();
    await clock.advance(1999);
    expect(reports).toEqual([]);
    await clock.advance(1);
    await Promise.all([closing, running]);
    expect(reports.map(({ request, outcome }) => `${request.name} ${outcome}`)).toEqual(['a aborted']);
    await end();
  });

  it('ends at once by its signal and can run again', async () => {
    const { clock, controller, reports, calls, put, end } = setUp((_request, { signal }) =>
      sleep(clock, 100, { signal }),
    );
    for (const name of ['a', 'b']) put(name);
    const abort = new AbortController();
    const running = controller.run(abort.signal);
    await clock.advance(10);
    await expect(controller.run()).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    abort.abort();
    await running;
    expect(reports.map((report) => report.outcome)).toEqual(['aborted']);
    expect(calls).toEqual(['shop/a @0']);
    void controller.run();
    await clock.advance(200);
    expect(calls.slice(1)).toEqual(['shop/a @10', 'shop/b @110']);
    await controller.destroy();
    await end();
  });

  it('does not reconcile half a cache when it is closed before the caches are full', async () => {
    const { clock, controller, calls, put, api, end } = setUp();
    put('a');
    const page = new Promise<undefined>(() => {});
    api.intercept = ({ query }) => (query['watch'] === undefined ? page : undefined);
    const running = controller.run();
    await clock.advance(0);
    controller.trigger({ name: 'a', namespace: 'shop' });
    await controller.close();
    await running;
    expect(calls).toEqual([]);
    await end();
  });

  it('counts a call as failed that takes longer than it may, also when it then says that all is well', async () => {
    const { clock, controller, reports, put, end } = setUp(
      async (_request, { signal, failures }) => {
        if (failures === 0) await sleep(clock, 5000).then(() => expect(signal.aborted).toBe(true));
        else if (failures === 1) await sleep(clock, 5000, { signal });
      },
      { reconcileTimeoutMs: 1000 },
    );
    put('a');
    void controller.run();
    await clock.advance(20_000);
    expect(reports.map(({ outcome, durationMs }) => `${outcome} ${durationMs}`)).toEqual([
      'error 5000',
      'error 1000',
      'success 0',
    ]);
    expect(reports[1]?.error).toMatchObject({ code: 'TIMED_OUT' });
    await end();
  });

  it('looks at objects on demand, and hands on the fence of its term', async () => {
    const fences: unknown[] = [];
    const { clock, controller, calls, put, end } = setUp((_request, { fence }) => void fences.push(fence?.term));
    for (const name of ['a', 'b']) put(name);
    controller.trigger({ name: 'nobody' });
    const fence = { term: 7, identity: 'me', validUntil: 0, isValid: () => true, check() {} };
    void controller.run({ fence });
    await clock.advance(0);
    controller.triggerAll();
    controller.trigger({ name: 'other', namespace: 'far' });
    await settle();
    expect(calls.slice(2)).toEqual(['shop/a @0', 'shop/b @0', 'far/other @0']);
    expect(new Set(fences)).toEqual(new Set([7]));
    await end();
  });

  it('takes news before what the first list brought, and lets the reconciler say how urgent the next look is', async () => {
    const answers = new Map<string, ReconcileAnswer>([
      ['a0', { requeueAfterMs: 5, priority: 9 }],
      ['a1', { requeueAfterMs: 5 }],
    ]);
    const { clock, controller, calls, put, end } = setUp(async ({ name }) => {
      await sleep(clock, 10);
      const answer = answers.get(name);
      answers.delete(name);
      return answer;
    });
    for (let n = 0; n < 5; n++) put(`a${n}`);
    void controller.run();
    await clock.advance(5);
    put('news');
    put('a4', { data: { x: '1' } });
    await clock.advance(1000);
    expect(calls.map((call) => call.slice('shop/'.length, call.indexOf(' ')))).toEqual([
      'a0',
      'news',
      'a0',
      'a4',
      'a1',
      'a2',
      'a3',
      'a1',
    ]);
    await end();
  });

  it('tells its metrics what it does', async () => {
    const log: string[] = [];
    const { clock, controller, put, end } = setUp(() => sleep(clock, 10), {
      concurrency: 2,
      metrics: {
        reconciled: ({ outcome }) => log.push(outcome),
        activeWorkers: (count) => log.push(`active ${count}`),
        maxConcurrentReconciles: (count) => log.push(`max ${count}`),
      },
    });
    for (const name of ['a', 'b']) put(name);
    void controller.run();
    await clock.advance(100);
    expect(log).toEqual(['max 2', 'active 1', 'active 2', 'success', 'active 1', 'success', 'active 0']);
    await end();
  });

  it('refuses settings that make no sense', () => {
    expect(() => setUp(undefined, { concurrency: 0 })).toThrow(/concurrency/);
    expect(() => setUp(undefined, { name: '' })).toThrow(/name/);
  });
});
