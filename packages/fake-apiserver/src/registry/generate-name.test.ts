// Names made from generateName when the random source keeps giving the same one.
// Upstream test: apiserver@v0.30.3:pkg/registry/generic/registry/store_test.go#TestStoreCreateWithRetryNameGenerate
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openRegistry,
  type Plain,
  RegistryCalls,
  type RegistryFixture,
  seeded,
} from '../../test/support/registry-fixture.ts';
import type { Profile } from '../profiles/profile.ts';
import { v1_30 } from '../profiles/v1-30.ts';
import { v1_37 } from '../profiles/v1-37.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';

describe('generateName', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  let tries: Plain[];
  let admitted: number;
  /** The random source starts to vary after that many tries. */
  let collisions: number;

  async function open(profile: Profile): Promise<void> {
    const vary = seeded(7);
    fixture = await openRegistry(
      {
        admission: [
          {
            name: 'Record',
            admit: () => void admitted++,
            validate: ({ operation, object, resource }) => {
              if (operation === 'CREATE' && resource.resource === 'configmaps')
                tries.push(structuredClone(object) as Plain);
            },
          },
        ],
      },
      { profile, start: false, random: () => (tries.length < collisions ? 0.5 : vary()) },
    );
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
    admitted = 0;
  }
  beforeEach(() => {
    tries = [];
    collisions = Number.POSITIVE_INFINITY;
  });
  afterEach(() => fixture.close());

  const create = (dryRun = false): Promise<unknown> =>
    calls.create(MAPS, { metadata: { generateName: 'p-' }, data: { k: 'v' } }, dryRun);
  const names = (): unknown[] => tries.map(({ metadata }) => metadata['name']);
  const TAKEN = 'p-rrrrr';
  const conflict = {
    code: 409,
    reason: 'AlreadyExists',
    message: `configmaps "${TAKEN}" already exists, the server was not able to generate a unique name for the object`,
  };

  it('is tried once where the gate is off', async () => {
    await open(v1_30);
    expect(await create()).toMatchObject({ metadata: { name: TAKEN } });
    expect(await create()).toMatchObject(conflict);
    expect(names()).toEqual([TAKEN, TAKEN]);
  });

  it('is tried up to eight times where the gate is on, with a uid for each try, after one admission', async () => {
    await open(v1_37);
    const first = (await create()) as Plain;
    admitted = 0;
    collisions = 8;
    const second = (await create()) as Plain;
    expect(second).toMatchObject({ metadata: { generateName: 'p-' }, data: { k: 'v' } });
    expect(second.metadata['name']).not.toBe(first.metadata['name']);
    expect(names()).toEqual([...Array.from({ length: 8 }, () => TAKEN), second.metadata['name']]);
    expect(tries.at(-1)?.metadata['uid']).not.toBe(tries.at(-2)?.metadata['uid']);
    expect(await calls.get(`${MAPS}/${String(second.metadata['name'])}`)).toEqual(second);
    expect(admitted).toBe(1);
  });

  it('is given up after the eighth try', async () => {
    await open(v1_37);
    await create();
    collisions = 9;
    expect(await create()).toMatchObject(conflict);
    expect(tries).toHaveLength(9);
  });

  it('is tried again in a dry run too, and nothing is stored', async () => {
    await open(v1_37);
    await create();
    collisions = 8;
    const made = (await create(true)) as Plain;
    expect(tries).toHaveLength(9);
    expect(await calls.get(`${MAPS}/${String(made.metadata['name'])}`)).toMatchObject({ code: 404 });
  });

  it('is not tried again beside a name, nor after another refusal', async () => {
    await open(v1_37);
    const named = (): Promise<unknown> => calls.create(MAPS, { metadata: { name: 'own', generateName: 'p-' } });
    await named();
    expect(await named()).toMatchObject({ code: 409 });
    expect(names()).toEqual(['own', 'own']);
    tries = [];
    expect(await calls.create(MAPS, { metadata: { generateName: 'P_' } })).toMatchObject({ code: 422 });
    expect(admitted).toBe(3);
    expect(tries).toEqual([]);
  });
});
