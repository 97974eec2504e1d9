// The generic store: what happens to metadata on the way in, when writes are refused, and how objects go.
import { everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry, type Plain, RegistryCalls, type RegistryFixture } from '../../test/support/registry-fixture.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/ns/deployments';
const PODS = '/api/v1/namespaces/ns/pods';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const deployment = (name: string): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template },
});
const pod = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
});

describe('Store', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  beforeAll(async () => {
    fixture = await openRegistry();
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
  });
  afterAll(() => fixture.close());

  describe('create', () => {
    it('fills in what the server owns and drops what the client made up', async () => {
      const made = await calls.create(MAPS, {
        metadata: { name: 'own', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' },
      });
      expect(made).toMatchObject({ metadata: { name: 'own', namespace: 'ns' } });
      const { metadata } = made as Plain;
      expect(metadata['uid']).not.toBe('mine');
      expect(metadata['creationTimestamp']).not.toBe('2001-01-01T00:00:00Z');
      expect(metadata).not.toHaveProperty('selfLink');
    });

    it('makes names from generateName, with five characters that cannot be misread', async () => {
      const made = (await calls.create(MAPS, { metadata: { generateName: 'g-' } })) as Plain;
      expect(made.metadata['name']).toMatch(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    });

    it.each([
      ['no name', {}, 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
      [
        'a resource version',
        { name: 'rv', resourceVersion: '5' },
        500,
        'resourceVersion should not be set on objects to be created',
      ],
      [
        'another namespace',
        { name: 'n', namespace: 'other' },
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
    ])('refuses an object with %s', async (_what, metadata, code, message) => {
      expect(await calls.create(MAPS, { metadata })).toMatchObject({ code, message });
    });

    it('refuses a name that exists, and one that is being deleted with another text', async () => {
      await calls.create(MAPS, { metadata: { name: 'twice', finalizers: ['a.b/c'] } });
      const again = (): Promise<unknown> => calls.create(MAPS, { metadata: { name: 'twice' } });
      expect(await again()).toMatchObject({ code: 409, message: 'configmaps "twice" already exists' });
      await calls.delete(`${MAPS}/twice`);
      expect(await again()).toMatchObject({
        code: 409,
        message: 'object is being deleted: configmaps "twice" already exists',
      });
    });

    it('says of a generated name that is taken that no other was found', async () => {
      const create = (): Promise<unknown> => calls.create(MAPS, { metadata: { name: 'taken', generateName: 'tak' } });
      await create();
      expect(await create()).toMatchObject({
        code: 409,
        message: 'configmaps "taken" already exists, the server was not able to generate a unique name for the object',
      });
    });

    it('stores nothing in a dry run', async () => {
      expect(await calls.create(MAPS, { metadata: { name: 'dry' } }, true)).toMatchObject({
        metadata: { name: 'dry' },
      });
      expect(await calls.get(`${MAPS}/dry`)).toMatchObject({ code: 404, message: 'configmaps "dry" not found' });
    });
  });

  describe('update', () => {
    it('counts generations for changes of the spec, not of labels or of an equal spec', async () => {
      await calls.create(DEPLOYMENTS, deployment('d'));
      const generation = async (change: (object: Plain) => void): Promise<unknown> =>
        ((await calls.update(`${DEPLOYMENTS}/d`, change)) as Plain).metadata['generation'];
      expect(
        await generation((object) => {
          object.metadata['labels'] = { x: 'y' };
        }),
      ).toBe(1);
      expect(
        await generation((object) => {
          (object['spec'] as Plain)['replicas'] = 3;
        }),
      ).toBe(2);
      expect(await generation(() => undefined)).toBe(2);
    });

    // Upstream test: apiserver@v0.30.3:pkg/registry/generic/registry/store_test.go#TestNoOpUpdates
    it('keeps the version when nothing changes, also when only defaults were left out', async () => {
      const made = (await calls.create(DEPLOYMENTS, deployment('same'))) as Plain;
      const version = async (change: (object: Plain) => void): Promise<unknown> =>
        ((await calls.update(`${DEPLOYMENTS}/same`, change)) as Plain).metadata['resourceVersion'];
      expect(await version(() => undefined)).toBe(made.metadata['resourceVersion']);
      expect(
        await version((object) => {
          delete (object['spec'] as Plain)['strategy'];
          delete (object['spec'] as Plain)['replicas'];
        }),
      ).toBe(made.metadata['resourceVersion']);
    });

    it('stores nothing in a dry run', async () => {
      const made = await calls.create(MAPS, { metadata: { name: 'dry-update' } });
      const change = (object: Plain): void => {
        object['data'] = { k: 'v' };
      };
      expect(await calls.update(`${MAPS}/dry-update`, change, '', true)).toMatchObject({ data: { k: 'v' } });
      expect(await calls.get(`${MAPS}/dry-update`)).toEqual(made);
    });

    it('keeps status out of the main resource and everything else out of status', async () => {
      await calls.create(DEPLOYMENTS, deployment('s'));
      const main = await calls.update(`${DEPLOYMENTS}/s`, (object) => {
        object['status'] = { replicas: 5 };
      });
      expect(main).toMatchObject({ status: {} });
      const change = (object: Plain): void => {
        object['status'] = { replicas: 5 };
        (object['spec'] as Plain)['replicas'] = 9;
        object.metadata['labels'] = { x: 'y' };
      };
      const status = (await calls.update(`${DEPLOYMENTS}/s`, change, 'status')) as Plain;
      expect(status).toMatchObject({ status: { replicas: 5 }, spec: { replicas: 1 } });
      expect(status.metadata).not.toHaveProperty('labels');
    });

    it.each([
      [
        'a stale version',
        (object: Plain) => {
          object.metadata['resourceVersion'] = '1';
        },
        409,
      ],
      [
        'another uid',
        (object: Plain) => {
          object.metadata['uid'] = 'x';
        },
        422,
      ],
      [
        'a version that is no number',
        (object: Plain) => {
          object.metadata['resourceVersion'] = 'abc';
        },
        500,
      ],
      [
        'a new finalizer name that is none',
        (object: Plain) => {
          object.metadata['finalizers'] = ['x y'];
        },
        422,
      ],
    ])('refuses %s', async (_what, change, code) => {
      await calls.create(MAPS, { metadata: { name: 'locked' } });
      expect(await calls.update(`${MAPS}/locked`, change)).toMatchObject({ code });
    });

    it('takes an update without a version where the kind allows it', async () => {
      await calls.create(MAPS, { metadata: { name: 'loose' } });
      const change = (object: Plain): void => {
        delete object.metadata['resourceVersion'];
        object['data'] = { k: 'v' };
      };
      expect(await calls.update(`${MAPS}/loose`, change)).toMatchObject({ data: { k: 'v' } });
      await calls.create('/apis/coordination.k8s.io/v1/namespaces/ns/leases', { metadata: { name: 'l' } });
      expect(
        await calls.update('/apis/coordination.k8s.io/v1/namespaces/ns/leases/l', (object) => {
          delete object.metadata['resourceVersion'];
        }),
      ).toMatchObject({
        code: 422,
        message:
          'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      });
    });

    it('creates what is missing where the kind allows it', async () => {
      const slices = '/apis/coordination.k8s.io/v1/namespaces/ns/leases';
      expect(await calls.update(`${slices}/new`, () => undefined)).toMatchObject({ metadata: { name: 'new' } });
      expect(await calls.update(`${MAPS}/new`, () => undefined)).toMatchObject({ code: 404 });
    });

    it('removes an object that is being deleted with its last finalizer', async () => {
      await calls.create(MAPS, { metadata: { name: 'held', finalizers: ['a.b/c'] } });
      expect(await calls.delete(`${MAPS}/held`)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 0 } });
      await calls.update(`${MAPS}/held`, (object) => {
        object.metadata['finalizers'] = [];
      });
      expect(await calls.get(`${MAPS}/held`)).toMatchObject({ code: 404 });
    });
  });

  describe('delete', () => {
    it('checks preconditions', async () => {
      const made = (await calls.create(MAPS, { metadata: { name: 'pre' } })) as Plain;
      const wrong = await calls.delete(`${MAPS}/pre`, { preconditions: { uid: 'x' } });
      expect(wrong).toMatchObject({ code: 409, reason: 'Conflict' });
      const stale = await calls.delete(`${MAPS}/pre`, { preconditions: { resourceVersion: '1' } });
      expect(stale).toMatchObject({ code: 409, reason: 'Conflict' });
      const uid = made.metadata['uid'] as string;
      expect(await calls.delete(`${MAPS}/pre`, { preconditions: { uid } })).toBe(true);
    });

    it('only marks a pod that runs on a node, and shortens its grace when asked again', async () => {
      const made = (await calls.create(PODS, pod('graceful', { nodeName: 'n' }))) as Plain;
      const resourceVersion = made.metadata['resourceVersion'] as string;
      expect(await calls.delete(`${PODS}/graceful`, { preconditions: { resourceVersion } })).toMatchObject({
        metadata: { deletionGracePeriodSeconds: 30 },
      });
      expect(await calls.delete(`${PODS}/graceful`, { gracePeriodSeconds: 5 })).toMatchObject({
        metadata: { deletionGracePeriodSeconds: 5 },
      });
      expect(await calls.delete(`${PODS}/graceful`, { gracePeriodSeconds: 0 })).toBe(true);
    });

    it('removes a pod without a node at once', async () => {
      await calls.create(PODS, pod('pending'));
      expect(await calls.delete(`${PODS}/pending`)).toBe(true);
    });

    it.each([
      ['Orphan', 'orphan'],
      ['Foreground', 'foregroundDeletion'],
    ] as const)('leaves a finalizer for propagation %s', async (propagationPolicy, finalizer) => {
      const path = `${DEPLOYMENTS}/p-${propagationPolicy.toLowerCase()}`;
      await calls.create(DEPLOYMENTS, deployment(`p-${propagationPolicy.toLowerCase()}`));
      expect(await calls.delete(path, { propagationPolicy })).toMatchObject({ metadata: { finalizers: [finalizer] } });
    });

    it('removes and marks nothing in a dry run', async () => {
      for (const finalizers of [[], ['a.b/c']]) {
        const name = `dry-delete-${finalizers.length}`;
        const made = await calls.create(MAPS, { metadata: { name, finalizers } });
        await calls.delete(`${MAPS}/${name}`, { dryRun: ['All'] });
        expect(await calls.get(`${MAPS}/${name}`)).toEqual(made);
      }
    });

    it('deletes in bulk what a list finds, of a limited call one page', async () => {
      await fixture.createNamespace('bulk');
      for (const name of ['a', 'b', 'c'])
        await calls.create('/api/v1/namespaces/bulk/configmaps', { metadata: { name } });
      const store = fixture.storeAt('/api/v1/namespaces/bulk/configmaps');
      const list = {
        namespace: 'bulk',
        labelSelector: everythingLabels,
        fieldSelector: everythingFields,
        resourceVersion: '',
        resourceVersionMatch: undefined,
        limit: 0,
        continue: '',
      };
      const drop = (limit: number) =>
        store.deleteCollection(fixture.ctx, {
          namespace: 'bulk',
          options: {},
          list: { ...list, limit },
          dryRun: false,
        });
      expect((await drop(2)).items).toHaveLength(2);
      await calls.create('/api/v1/namespaces/bulk/configmaps', { metadata: { name: 'd' } });
      const gone = await drop(0);
      expect(gone.items.map(({ object }) => object.metadata.name)).toEqual(['c', 'd']);
      expect((await store.list(fixture.ctx, list)).items).toHaveLength(0);
    });
  });
});
