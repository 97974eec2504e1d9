// What the stores of custom resources do beyond the generic one, over real storage.
import { type ManagedFieldsEntry, parseFieldSelector } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CustomFixture, crdOf, LIST, versionOf } from '../../../test/support/custom-fixture.ts';
import { overrideProfile } from '../../profiles/profile.ts';
import { v1_30 } from '../../profiles/v1-30.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { RequestContext } from '../rest.ts';

const TEXT = { type: 'string' } as const;
const SPEC_X = {
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { x: { type: 'integer' } } } } },
} as const;

describe('the store of a custom resource', () => {
  let fixture: CustomFixture;
  beforeEach(async () => {
    fixture = await CustomFixture.open();
  });
  afterEach(() => fixture.close());
  const ctx = (): RequestContext => fixture.registry.ctx;

  it('warns users of a deprecated version', async () => {
    await fixture.createCrd(
      crdOf({
        versions: [
          versionOf('v1beta1', { deprecated: true }),
          versionOf('v1beta2', { deprecated: true, deprecationWarning: 'use v1 please' }),
          versionOf('v1'),
        ],
      }),
    );
    for (const name of ['v1beta1', 'v1beta2', 'v1']) await (await fixture.served(name)).list(ctx(), LIST);
    expect(fixture.registry.warnings).toEqual([
      'example.test/v1beta1 Widget is deprecated; use example.test/v1 Widget',
      'use v1 please',
    ]);
  });

  it('scales through the paths the CRD names', async () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    await fixture.createCrd(
      crdOf({
        versions: [versionOf('v1', { subresources: { scale } })],
      }),
    );
    const store = await fixture.served();
    await fixture.create(store, { spec: { replicas: 3 } });
    await fixture.create(store, {}, 'none');
    const handler = fixture.registry.registry.catalog.findSubresource('example.test', 'v1', 'widgets', 'scale')!;
    const ref = { namespace: 'ns', name: 'a' };
    expect(await handler.get!(ctx(), ref)).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 3 },
      status: { replicas: 0 },
    });
    const transform = (existing: ApiObject): ApiObject => ({ ...existing, spec: { replicas: 5 } });
    expect(await handler.update!(ctx(), ref, transform, { namespace: 'ns', dryRun: false })).toMatchObject({
      spec: { replicas: 5 },
    });
    const parent = await store.get(ctx(), { ...ref, resourceVersion: '' });
    expect(parent.object).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } });
    await expect(handler.get!(ctx(), { namespace: 'ns', name: 'none' })).rejects.toThrow(
      'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    );
  });

  it('refuses a group without a dot, and a protected one without approval', async () => {
    const named = (group: string): ApiObject => ({ ...crdOf({ group }), metadata: { name: `widgets.${group}` } });
    expect(await fixture.createCrd(named('nodots'))).toMatchObject({
      code: 422,
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "widgets.nodots" is invalid: spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    });
    expect(await fixture.createCrd(named('x.k8s.io'))).toMatchObject({
      message:
        'CustomResourceDefinition.apiextensions.k8s.io "widgets.x.k8s.io" is invalid: metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    });
  });

  it('gives a status its defaults, though no create may bring one', async () => {
    const properties = { status: { type: 'object', default: { phase: 'New' }, properties: { phase: TEXT } } };
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    await fixture.createCrd(crdOf({ versions: [versionOf('v1', { schema, subresources: { status: {} } })] }));
    const store = await fixture.served();
    const made = await fixture.create(store, { status: { phase: 'Old' } });
    expect(made['status']).toEqual({ phase: 'New' });
    expect(await fixture.update(store, { status: { phase: 'Set' } }, 'status')).toMatchObject({
      status: { phase: 'Set' },
    });
  });

  it('says that nobody converts when a webhook would have to', async () => {
    const webhook = { clientConfig: { url: 'https://convert.test/' }, conversionReviewVersions: ['v1'] };
    const conversion = { strategy: 'Webhook', webhook };
    await fixture.createCrd(crdOf({ conversion, versions: [versionOf('v1'), versionOf('v2')] }));
    await fixture.create(await fixture.served(), {});
    const get = (await fixture.served('v2')).get(ctx(), { namespace: 'ns', name: 'a', resourceVersion: '' });
    const text = 'conversion webhook for example.test/v1, Kind=Widget failed: this server does not call webhooks';
    await expect(get).rejects.toThrow(text);
    await expect(fixture.create(await fixture.served('v2'), {}, 'b')).rejects.toThrow('example.test/v2, Kind=Widget');
  });

  it('knows no field selectors but those of metadata', async () => {
    const selectableFields = [{ jsonPath: '.spec.x' }];
    await fixture.createCrd(crdOf({ versions: [versionOf('v1', { schema: SPEC_X, selectableFields })] }));
    expect((await fixture.getCrd())?.['spec']).not.toHaveProperty('versions.0.selectableFields');
    const store = await fixture.served();
    expect(() => store.convertFieldSelector(parseFieldSelector('spec.x=1'))).toThrow(
      'field label not supported: spec.x',
    );
  });

  it('moves the owners of replicas between parent and scale', async () => {
    const scale = { specReplicasPath: '.spec.pool.size', statusReplicasPath: '.status.size' };
    await fixture.createCrd(crdOf({ versions: [versionOf('v1', { subresources: { scale } })] }));
    const store = await fixture.served();
    const entry = (manager: string, apiVersion: string, fieldsV1: object): ManagedFieldsEntry => ({
      manager,
      operation: 'Apply',
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1,
    });
    const size = { 'f:spec': { 'f:pool': { 'f:size': {} } } };
    const both = { 'f:spec': { 'f:pool': { 'f:size': {} }, 'f:other': {} } };
    const managedFields = [entry('a', 'example.test/v1', both), entry('gone', 'example.test/v0', size)];
    const metadata = { name: 'a', namespace: 'ns', managedFields };
    await fixture.create(store, { metadata, spec: { pool: { size: 1 }, other: 1 } });
    const handler = fixture.registry.registry.catalog.findSubresource('example.test', 'v1', 'widgets', 'scale')!;
    let seen: ApiObject | undefined;
    const transform = (existing: ApiObject): ApiObject => {
      seen = existing;
      const owners = [entry('b', 'autoscaling/v1', { 'f:spec': { 'f:replicas': {} } })];
      return { ...existing, metadata: { ...existing.metadata, managedFields: owners }, spec: { replicas: 2 } };
    };
    await handler.update!(ctx(), { namespace: 'ns', name: 'a' }, transform, { namespace: 'ns', dryRun: false });
    expect(seen!.metadata.managedFields).toEqual([entry('a', 'autoscaling/v1', { 'f:spec': { 'f:replicas': {} } })]);
    const { object } = await store.get(ctx(), { namespace: 'ns', name: 'a', resourceVersion: '' });
    expect(object).toMatchObject({ spec: { pool: { size: 2 }, other: 1 } });
    expect(object.metadata.managedFields).toEqual([
      entry('a', 'example.test/v1', { 'f:spec': { 'f:other': {} } }),
      entry('b', 'example.test/v1', size),
    ]);
  });
});

describe('selectable fields', () => {
  it('are selectable when their gate is on, and nothing else is', async () => {
    await using fixture = await CustomFixture.open(
      overrideProfile(v1_30, { gates: { CustomResourceFieldSelectors: true } }),
    );
    const selectableFields = [{ jsonPath: '.spec.x' }];
    await fixture.createCrd(crdOf({ versions: [versionOf('v1', { schema: SPEC_X, selectableFields })] }));
    const store = await fixture.served();
    for (const [name, x] of [
      ['a', 1],
      ['b', 2],
      ['c', undefined],
    ] as const) {
      await fixture.create(store, { spec: x === undefined ? {} : { x } }, name);
    }
    const select = async (text: string): Promise<readonly (string | undefined)[]> => {
      const fieldSelector = store.convertFieldSelector(parseFieldSelector(text));
      const { items } = await store.list(fixture.registry.ctx, { ...LIST, fieldSelector });
      return items.map((item) => item.object.metadata.name);
    };
    expect(await select('spec.x=2')).toEqual(['b']);
    expect(await select('spec.x!=2,metadata.name!=a')).toEqual(['c']);
    expect(await select('spec.x=')).toEqual(['c']);
    await expect(select('spec.y=1')).rejects.toThrow('field label not supported: spec.y');
  });

  it('must lead to scalars outside the metadata, without brackets', async () => {
    await using fixture = await CustomFixture.open(
      overrideProfile(v1_30, { gates: { CustomResourceFieldSelectors: true } }),
    );
    const paths = ['.spec.x', '.spec.x', '.spec', '.spec.none', ".spec['x']", ''];
    const selectableFields = paths.map((jsonPath) => ({ jsonPath }));
    const refused = await fixture.createCrd(
      crdOf({ versions: [versionOf('v1', { schema: SPEC_X, selectableFields })] }),
    );
    const { details } = refused as { details: { causes: readonly { field: string; message: string }[] } };
    expect(details.causes.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.x"',
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[3].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
      `spec.selectableFields[4].jsonPath: Invalid value: ".spec['x']": is an invalid path: array notation is not allowed`,
      'spec.selectableFields[5].jsonPath: Required value',
    ]);
  });
});
