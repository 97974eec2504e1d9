import { isConflict, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { ConfigMap } from '../../test/support/memory-api.ts';
import { ConfigMaps, MemoryApi } from '../../test/support/memory-api.ts';
import { ResourceClient } from '../client/resource-client.ts';
import type { Live } from '../rest/resource-type.ts';
import { RestClient } from '../rest/rest-client.ts';
import { reconcileWithFinalizer } from './finalizer.ts';
import type { ReconcileAnswer } from './reconciler.ts';

const ROOT = '/api/v1/namespaces/shop/configmaps';
const NAME = 'example.com/cleanup';

function setUp() {
  const api = new MemoryApi();
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock: new VirtualClock(), maxRetries: 0 });
  const client = new ResourceClient(rest, ConfigMaps, { namespace: 'shop' });
  const log: string[] = [];
  let answer: ReconcileAnswer;
  const reconcile = (object: Live<ConfigMap>) =>
    reconcileWithFinalizer(
      object,
      { signal: new AbortController().signal, failures: 0, fence: undefined },
      {
        client,
        finalizer: NAME,
        apply() {
          log.push('apply');
          return { requeueAfterMs: 7 };
        },
        cleanup() {
          log.push('cleanup');
          return answer;
        },
      },
    );
  const put = (metadata: { finalizers?: string[]; deletionTimestamp?: string } = {}) =>
    api.put(ROOT, { metadata: { name: 'a', ...metadata } }) as unknown as Live<ConfigMap>;
  const finalizers = () => api.read(`${ROOT}/a`)?.metadata.finalizers;
  const answerWith = (next: ReconcileAnswer): void => {
    answer = next;
  };
  return { api, log, reconcile, put, finalizers, answerWith };
}

const DELETED = '2024-01-01T00:00:00Z';

describe('reconcileWithFinalizer', () => {
  it('puts the finalizer there first, beside others, and applies when it is there', async () => {
    const { log, reconcile, put, finalizers, api } = setUp();
    expect(await reconcile(put({ finalizers: ['other'] }))).toBeUndefined();
    expect(log).toEqual([]);
    expect(finalizers()).toEqual(['other', NAME]);
    expect(api.requests[0]?.body).toMatchObject({ metadata: { resourceVersion: '2', uid: 'uid-1' } });
    expect(await reconcile(put({ finalizers: ['other', NAME] }))).toEqual({ requeueAfterMs: 7 });
    expect(log).toEqual(['apply']);
  });

  it('cleans up and takes the finalizer away, once', async () => {
    const { log, reconcile, put, finalizers } = setUp();
    await reconcile(put({ finalizers: [NAME, 'other'], deletionTimestamp: DELETED }));
    expect(log).toEqual(['cleanup']);
    expect(finalizers()).toEqual(['other']);
    await reconcile(put({ finalizers: ['other'], deletionTimestamp: DELETED }));
    expect(log).toEqual(['cleanup']);
  });

  it('keeps the finalizer while the clean-up asks for another turn', async () => {
    const { reconcile, put, finalizers, answerWith } = setUp();
    answerWith({ requeueAfterMs: 1000 });
    expect(await reconcile(put({ finalizers: [NAME], deletionTimestamp: DELETED }))).toEqual({ requeueAfterMs: 1000 });
    expect(finalizers()).toEqual([NAME]);
  });

  it('takes an object that is gone for done, and throws a conflict', async () => {
    const { reconcile, put, api } = setUp();
    const gone = put({ finalizers: [NAME], deletionTimestamp: DELETED });
    api.remove(`${ROOT}/a`);
    expect(await reconcile(gone)).toBeUndefined();
    const stale = put();
    put({ finalizers: ['newer'] });
    await expect(reconcile(stale)).rejects.toSatisfy(isConflict);
  });
});
