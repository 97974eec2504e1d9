// Admission plugins through the registry that runs them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry, type Plain, RegistryCalls, type RegistryFixture } from '../../test/support/registry-fixture.ts';

const MAPS = '/api/v1/namespaces/ns/configmaps';
const PODS = '/api/v1/namespaces/ns/pods';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

const pod = (name: string, spec: object = {}, resources: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
});

describe('admission', () => {
  let fixture: RegistryFixture;
  let calls: RegistryCalls;
  beforeAll(async () => {
    fixture = await openRegistry({ namespaceController: false });
    calls = new RegistryCalls(fixture);
    for (const name of ['ns', 'limited', 'ending', 'ruled']) await fixture.createNamespace(name);
  });
  afterAll(() => fixture.close());

  it('refuses objects in namespaces that do not exist or are on their way out', async () => {
    expect(await calls.create('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } })).toMatchObject({
      code: 404,
      message: 'namespaces "none" not found',
    });
    await calls.delete('/api/v1/namespaces/ending');
    expect(await calls.create('/api/v1/namespaces/ending/configmaps', { metadata: { name: 'a' } })).toMatchObject({
      code: 403,
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace ending because it is being terminated',
    });
    expect(await calls.delete('/api/v1/namespaces/kube-system')).toMatchObject({ code: 403 });
  });

  it('gives pods a priority and tolerations', async () => {
    expect(await calls.create(PODS, pod('p', { priorityClassName: 'system-node-critical' }))).toMatchObject({
      spec: { priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority', tolerations: [{}, {}] },
    });
    expect(await calls.create(PODS, pod('q', { priorityClassName: 'none' }))).toMatchObject({
      code: 403,
      message: 'pods "q" is forbidden: no PriorityClass with name none was found',
    });
  });

  it('takes overhead and scheduling from the runtime class', async () => {
    await calls.create('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'kata' },
      handler: 'kata',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { nodeSelector: { kata: 'yes' } },
    });
    expect(await calls.create(PODS, pod('k', { runtimeClassName: 'kata' }))).toMatchObject({
      spec: { overhead: { cpu: '100m' }, nodeSelector: { kata: 'yes' } },
    });
    expect(await calls.create(PODS, pod('l', { runtimeClassName: 'none' }))).toMatchObject({
      code: 403,
      message: 'pods "l" is forbidden: pod rejected: RuntimeClass "none" not found',
    });
  });

  it('lets claims grow only when they are bound and their class allows it', async () => {
    const claims = '/api/v1/namespaces/ns/persistentvolumeclaims';
    await calls.create('/apis/storage.k8s.io/v1/storageclasses', { metadata: { name: 'fixed' }, provisioner: 'x' });
    await calls.create(claims, {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fixed', resources: { requests: { storage: '1Gi' } } },
    });
    await calls.update(
      `${claims}/c`,
      (claim) => {
        claim['status'] = { phase: 'Bound' };
      },
      'status',
    );
    const grown = await calls.update(`${claims}/c`, (claim) => {
      claim['spec'] = { ...(claim['spec'] as object), resources: { requests: { storage: '2Gi' } } };
    });
    expect(grown).toMatchObject({ code: 403, message: expect.stringContaining('must support resize') });
  });

  describe('LimitRanger', () => {
    const pods = '/api/v1/namespaces/limited/pods';
    beforeAll(async () => {
      await calls.create('/api/v1/namespaces/limited/limitranges', {
        metadata: { name: 'l' },
        spec: {
          limits: [
            { type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' }, max: { cpu: '1' } },
            { type: 'Pod', maxLimitRequestRatio: { cpu: '6' } },
          ],
        },
      });
    });

    it('fills in what containers leave open', async () => {
      expect(await calls.create(pods, pod('open'))).toMatchObject({
        metadata: {
          annotations: {
            'kubernetes.io/limit-ranger':
              'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
          },
        },
        spec: { containers: [{ resources: { limits: { cpu: '500m' }, requests: { cpu: '100m' } } }] },
      });
    });

    it.each([
      [{ limits: { cpu: '2' }, requests: { cpu: '1' } }, 'maximum cpu usage per Container is 1, but limit is 2'],
      [
        { limits: { cpu: '1' }, requests: { cpu: '100m' } },
        'cpu max limit to request ratio per Pod is 6, but provided ratio is 10.000000',
      ],
    ])('refuses %j', async (resources, why) => {
      expect(await calls.create(pods, pod('bad', {}, resources))).toMatchObject({
        code: 403,
        message: `pods "bad" is forbidden: ${why}`,
      });
    });
  });

  describe('ValidatingAdmissionPolicy', () => {
    const policy = (name: string, spec: object): object => ({
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ruled' } },
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
          ],
        },
        ...spec,
      },
    });
    const bind = (name: string, ...validationActions: readonly string[]): Promise<unknown> =>
      calls.create(BINDINGS, { metadata: { name }, spec: { policyName: name, validationActions } });
    const maps = '/api/v1/namespaces/ruled/configmaps';

    it('refuses with its message, and only where it applies', async () => {
      await calls.create(
        POLICIES,
        policy('deny', {
          variables: [{ name: 'keys', expression: 'has(object.data) ? object.data.map(k, k) : []' }],
          validations: [
            { expression: "!('bad' in variables.keys)", messageExpression: "'no ' + object.metadata.name" },
          ],
        }),
      );
      await bind('deny', 'Deny');
      expect(await calls.create(maps, { metadata: { name: 'a' }, data: { bad: '1' } })).toMatchObject({
        code: 422,
        reason: 'Invalid',
        message:
          "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'deny' with binding 'deny' denied request: no a",
      });
      expect(await calls.create(maps, { metadata: { name: 'a' }, data: { good: '1' } })).not.toHaveProperty('code');
      expect(await calls.create(MAPS, { metadata: { name: 'a' }, data: { bad: '1' } })).not.toHaveProperty('code');
      await calls.delete(`${POLICIES}/deny`);
    });

    it('only warns when its binding says so', async () => {
      await calls.create(POLICIES, policy('warn', { validations: [{ expression: 'false', message: 'never' }] }));
      await bind('warn', 'Warn');
      expect(await calls.create(maps, { metadata: { name: 'w' } })).not.toHaveProperty('code');
      expect(fixture.warnings).toContain(
        "Validation failed for ValidatingAdmissionPolicy 'warn' with binding 'warn': never",
      );
      await calls.delete(`${POLICIES}/warn`);
    });

    it('fails closed or open as its failure policy says', async () => {
      for (const failurePolicy of ['Fail', 'Ignore']) {
        const name = `on-${failurePolicy.toLowerCase()}`;
        await calls.create(
          POLICIES,
          policy(name, { failurePolicy, validations: [{ expression: "object.data.x == '1'" }] }),
        );
        await bind(name, 'Deny');
        const made = (await calls.create(maps, { metadata: { name } })) as Plain;
        expect(made['code']).toBe(failurePolicy === 'Fail' ? 422 : undefined);
        await calls.delete(`${POLICIES}/${name}`);
      }
    });

    it('must compile', async () => {
      const broken = policy('broken', { validations: [{ expression: 'objekt.data' }] });
      expect(await calls.create(POLICIES, broken)).toMatchObject({
        code: 422,
        message: expect.stringContaining("undeclared reference to 'objekt'"),
      });
    });
  });
});
