// Subresources with a kind of their own: scale, binding, eviction, tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openRegistry,
  type Plain,
  RegistryCalls,
  type RegistryFixture,
} from '../../../test/support/registry-fixture.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { SubresourceHandler } from '../rest.ts';
import { parentEntries, scaleEntries } from './replicas-owners.ts';

const PODS = '/api/v1/namespaces/ns/pods';
const call = { namespace: 'ns', dryRun: false };
const asObject = (value: object): ApiObject => value as unknown as ApiObject;

describe('subresources', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  const handler = (group: string, version: string, resource: string, name: string): SubresourceHandler => {
    const found = fixture.registry.catalog.findSubresource(group, version, resource, name);
    if (found === undefined) throw new Error(`no ${resource}/${name}`);
    return found;
  };
  const status = async (run: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await run();
    } catch (error) {
      return (error as { readonly status?: unknown }).status ?? error;
    }
  };
  const runningPod = async (name: string): Promise<void> => {
    const containers = [{ name: 'c', image: 'i' }];
    await calls.create(PODS, { metadata: { name, labels: { app: 'web' } }, spec: { containers } });
    await calls.update(
      `${PODS}/${name}`,
      (pod) => {
        pod['status'] = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      },
      'status',
    );
  };

  beforeAll(async () => {
    fixture = await openRegistry();
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
  });
  afterAll(() => fixture.close());

  it('scales a deployment and counts its generation', async () => {
    await calls.create('/apis/apps/v1/namespaces/ns/deployments', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['c', 'b'] }] },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const scale = handler('apps', 'v1', 'deployments', 'scale');
    const ref = { namespace: 'ns', name: 'd' };
    expect(await scale.get!(fixture.ctx, ref)).toMatchObject({
      spec: { replicas: 1 },
      status: { selector: 'a in (b,c)' },
    });
    const to =
      (replicas: number) =>
      (existing: ApiObject): ApiObject => ({ ...existing, spec: { replicas } });
    expect(await scale.update!(fixture.ctx, ref, to(4), call)).toMatchObject({ spec: { replicas: 4 } });
    expect(await calls.get('/apis/apps/v1/namespaces/ns/deployments/d')).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 4 },
    });
    expect(await status(() => scale.update!(fixture.ctx, ref, to(-1), call))).toMatchObject({
      code: 422,
      message: 'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    });
    expect(await status(() => scale.get!(fixture.ctx, { ...ref, name: 'none' }))).toMatchObject({
      message: 'deployments/scale.apps "none" not found',
    });
  });

  it('binds a pod once', async () => {
    await calls.create(PODS, { metadata: { name: 'b' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const bind = (node: string): Promise<unknown> =>
      handler('', 'v1', 'pods', 'binding').create!(
        fixture.ctx,
        { namespace: 'ns', name: 'b' },
        asObject({ metadata: { name: 'b' }, target: { kind: 'Node', name: node } }),
        call,
      );
    expect(await bind('n1')).toMatchObject({ status: 201, object: { status: 'Success' } });
    expect(await status(() => bind('n2'))).toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on pods/binding "b": pod b is already assigned to node "n1"',
    });
  });

  it('evicts only as far as the disruption budget goes', async () => {
    const budgets = '/apis/policy/v1/namespaces/ns/poddisruptionbudgets';
    await calls.create(budgets, {
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await runningPod('e1');
    await runningPod('e2');
    const evict = (name: string): Promise<unknown> =>
      status(() =>
        handler('', 'v1', 'pods', 'eviction').create!(
          fixture.ctx,
          { namespace: 'ns', name },
          asObject({ metadata: { name } }),
          call,
        ),
      );
    expect(await evict('e1')).toMatchObject({
      code: 429,
      details: { retryAfterSeconds: 10, causes: [{ reason: 'DisruptionBudget' }] },
    });
    const budget = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 };
    await calls.update(
      `${budgets}/web`,
      (object) => {
        object['status'] = { ...budget, expectedPods: 2 };
      },
      'status',
    );
    expect(await evict('e1')).toMatchObject({ status: 201 });
    expect(await evict('e2')).toMatchObject({
      code: 429,
      details: { causes: [{ message: 'The disruption budget web needs 1 healthy pods and has 2 currently' }] },
    });
  });

  it('issues tokens that stop working when their account is gone', async () => {
    const accounts = '/api/v1/namespaces/ns/serviceaccounts';
    await calls.create(accounts, { metadata: { name: 's' } });
    const ask = (spec: object): Promise<unknown> =>
      status(() =>
        handler('', 'v1', 'serviceaccounts', 'token').create!(
          fixture.ctx,
          { namespace: 'ns', name: 's' },
          asObject({ metadata: {}, spec }),
          call,
        ),
      );
    const { object } = (await ask({})) as { readonly object: Plain };
    expect(object).toMatchObject({ spec: { expirationSeconds: 3600 }, metadata: { name: 's' } });
    const { token } = object['status'] as { readonly token: string };
    expect(await fixture.registry.authenticateToken(token)).toMatchObject({ name: 'system:serviceaccount:ns:s' });
    expect(await fixture.registry.authenticateToken(`${token.slice(0, -2)}xx`)).toBeUndefined();
    expect(await ask({ expirationSeconds: 10 })).toMatchObject({ code: 422 });
    await calls.delete(`${accounts}/s`);
    expect(await fixture.registry.authenticateToken(token)).toBeUndefined();
  });
});

describe('owners of replicas', () => {
  const fields = { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } };
  const parent = [
    { manager: 'a', operation: 'Apply', apiVersion: 'apps/v1', time: '2024-01-01T00:00:00Z', fieldsV1: fields },
  ];

  it('show in the scale, and stay where they were when nothing changed', () => {
    const shown = scaleEntries(parent);
    expect(shown).toEqual([
      { ...parent[0], apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
    expect(parentEntries(parent, shown, 'apps/v1')).toEqual(parent);
  });

  it('lose the field to who scaled', () => {
    const taken = [
      {
        manager: 'b',
        operation: 'Update',
        apiVersion: 'autoscaling/v1',
        subresource: 'scale',
        time: 't',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
    ];
    expect(parentEntries(parent, taken, 'apps/v1')).toEqual([
      { ...parent[0], fieldsV1: { 'f:spec': { 'f:paused': {} } } },
      {
        manager: 'b',
        operation: 'Update',
        apiVersion: 'apps/v1',
        subresource: 'scale',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
    ]);
  });
});
