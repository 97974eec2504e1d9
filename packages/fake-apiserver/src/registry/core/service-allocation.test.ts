// Addresses and ports of services: given, kept, refused, given back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openRegistry,
  type Plain,
  RegistryCalls,
  type RegistryFixture,
} from '../../../test/support/registry-fixture.ts';

const SERVICES = '/api/v1/namespaces/ns/services';
const service = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});
const specOf = (object: unknown): Plain => (object as Plain)['spec'] as Plain;
const portOf = (object: unknown): number =>
  (specOf(object)['ports'] as readonly { readonly nodePort: number }[])[0]!.nodePort;

describe('services', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  beforeAll(async () => {
    fixture = await openRegistry({ serviceClusterIpRange: '10.9.0.0/29' });
    calls = new RegistryCalls(fixture);
    await fixture.createNamespace('ns');
  });
  afterAll(() => fixture.close());

  it('give the first address to the server itself', async () => {
    expect(await calls.get('/api/v1/namespaces/default/services/kubernetes')).toMatchObject({
      spec: { clusterIP: '10.9.0.1' },
    });
  });

  it('keep an address over updates and refuse to change it', async () => {
    await calls.create(SERVICES, service('a', { clusterIP: '10.9.0.5' }));
    const kept = await calls.update(`${SERVICES}/a`, (object) => {
      const { clusterIP: _ip, clusterIPs: _ips, ...rest } = specOf(object);
      object['spec'] = rest;
    });
    expect(kept).toMatchObject({ spec: { clusterIP: '10.9.0.5', clusterIPs: ['10.9.0.5'] } });
    const moved = await calls.update(`${SERVICES}/a`, (object) => {
      object['spec'] = { ...specOf(object), clusterIP: '10.9.0.6', clusterIPs: ['10.9.0.6'] };
    });
    expect(moved).toMatchObject({ code: 422, message: expect.stringContaining('may not change once set') });
    await calls.delete(`${SERVICES}/a`);
  });

  it('refuse an address twice and give it back with the service', async () => {
    const taken = (name: string): Promise<unknown> => calls.create(SERVICES, service(name, { clusterIP: '10.9.0.4' }));
    await taken('one');
    expect(await taken('two')).toMatchObject({
      code: 422,
      message: expect.stringContaining('provided IP is already allocated'),
    });
    expect(await calls.delete(`${SERVICES}/one`)).toBe(true);
    expect(await taken('two')).toMatchObject({ spec: { clusterIP: '10.9.0.4' } });
    await calls.delete(`${SERVICES}/two`);
  });

  it('give nothing away in a dry run', async () => {
    for (let round = 0; round < 20; round += 1)
      expect(await calls.create(SERVICES, service('dry'), true)).toMatchObject({ kind: 'Service' });
  });

  it('run out of addresses', async () => {
    const answers: unknown[] = [];
    for (let at = 0; at < 6; at += 1) answers.push(await calls.create(SERVICES, service(`s${at}`)));
    expect(answers.at(-1)).toMatchObject({ message: expect.stringContaining('range is full') });
    for (let at = 0; at < 6; at += 1) await calls.delete(`${SERVICES}/s${at}`);
  });

  it('take node ports from the range, keep them, and free them with the type', async () => {
    const made = await calls.create(SERVICES, service('np', { type: 'NodePort' }));
    const port = portOf(made);
    expect(port).toBeGreaterThanOrEqual(30_000);
    expect(
      await calls.create(SERVICES, service('np2', { type: 'NodePort', ports: [{ port: 1, nodePort: port }] })),
    ).toMatchObject({
      code: 422,
      message: expect.stringContaining('provided port is already allocated'),
    });
    await calls.update(`${SERVICES}/np`, (object) => {
      object['spec'] = { ...specOf(object), type: 'ClusterIP', ports: [{ port: 80 }] };
    });
    const again = await calls.create(
      SERVICES,
      service('np2', { type: 'NodePort', ports: [{ port: 1, nodePort: port }] }),
    );
    expect(portOf(again)).toBe(port);
  });
});
