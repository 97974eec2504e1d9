// What the router, discovery and negotiation answer at their edges, as a real v1.30.3 answered it side by side.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const DISCOVERY = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
let server: FakeApiServer;

beforeAll(async () => {
  server = await startFakeApiServer({ listen: false });
});
afterAll(() => server.destroy());

const send = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Response> =>
  server.fetch(path, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const get = (path: string, headers?: Record<string, string>): Promise<Response> => send('GET', path, headers);
const statusOf = async (answer: Promise<Response>): Promise<number> => {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
};

describe('discovery', () => {
  it.each([
    ['/', 200],
    ['/apis', 200],
    ['/apis/apps', 200],
    ['/openapi/v2', 200],
    ['/api', 405],
    ['/apis/apps/v1', 405],
    ['/apis/apiregistration.k8s.io', 405],
    ['/version', 405],
  ])('answers a PUT of %s with %s: what is no route knows no methods', async (path, status) => {
    expect(await statusOf(send('PUT', path, {}, {}))).toBe(status);
  });

  it('lists at the root every path that answers', async () => {
    const answer = await get('/');
    const { paths } = (await answer.json()) as { readonly paths: readonly string[] };
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(
      expect.arrayContaining(['/api/v1', '/apis/', '/apis/apps/v1', '/readyz/shutdown', '/version']),
    );
    for (const path of paths.filter((one) => one !== '/openapi/v3/')) {
      expect([path, await statusOf(get(path))]).toEqual([path, 200]);
    }
  });

  it('finds the aggregated form behind another that is liked as much, and says that it may be cached', async () => {
    const answer = await get('/apis', { accept: `application/json,application/json;${DISCOVERY}` });
    expect(await answer.json()).toMatchObject({ kind: 'APIGroupDiscoveryList' });
    expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual(['public', 'Accept']);
    const plain = await get('/apis');
    expect([plain.headers.get('cache-control'), plain.headers.get('vary')]).toEqual(['no-cache, private', null]);
    await plain.body?.cancel();
  });

  it('has the aggregated form in YAML', async () => {
    const answer = await get('/apis', { accept: `application/yaml;${DISCOVERY}` });
    expect(answer.headers.get('content-type')).toBe(`application/yaml;${DISCOVERY}`);
    expect(await answer.text()).toMatch(/^apiVersion: apidiscovery.k8s.io\/v2\n/);
  });

  it.each([
    ['/api', '\x00\n\x0f\n\x00\x12\x0bAPIVersions'],
    ['/api/v1', '\x00\n\x13\n\x00\x12\x0fAPIResourceList'],
    ['/apis/apps', '\x00\n\x0e\n\x02v1\x12\x08APIGroup'],
  ])('has %s in protobuf, under the version it names in JSON', async (path, start) => {
    const bytes = Buffer.from(await (await get(path, { accept: PROTOBUF })).arrayBuffer());
    expect(bytes.toString('latin1').slice(3, 3 + start.length)).toBe(start);
  });

  it('knows no version of the group without a name', async () => {
    expect(await (await get('/apis//v1/things')).text()).toBe('404 page not found\n');
  });

  it('answers a document of OpenAPI that is not there with nothing', async () => {
    const answer = await get('/openapi/v3/apis/none.example/v1');
    expect([answer.status, await answer.text()]).toEqual([404, '']);
  });
});

describe('negotiation', () => {
  it.each(['application/json;v=v1', 'application/json;sv=v2', 'application/yaml;stream=watch', ';', ','])(
    'has nothing for who accepts %s',
    async (accept) => {
      expect(await statusOf(get(MAPS, { accept }))).toBe(406);
    },
  );

  it.each(['application/json;sv=v1', 'application/json;as=', 'application/json;x=1=2'])(
    'takes %s for JSON',
    async (accept) => {
      expect(await statusOf(get(MAPS, { accept }))).toBe(200);
    },
  );

  it.each([
    ['application/json; charset=utf-8', 201],
    ['application/json;', 201],
    ['application/json; charset', 415],
    ['application/json; a=b; a=c', 415],
    ['application/json; charset="utf-8', 415],
  ])('answers a body of type %s with %s', async (type, status) => {
    const body = { metadata: { generateName: 'typed-' } };
    expect(await statusOf(send('POST', MAPS, { 'content-type': type }, body))).toBe(status);
  });

  it('opens a watch in the form of a list and ends it at the first event', async () => {
    await statusOf(send('POST', MAPS, {}, { metadata: { name: 'watched' } }));
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const answer = await get(`${MAPS}?watch=1`, { accept });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });
});

describe('requests that cannot be understood', () => {
  it.each(['watch', 'proxy'])('answers %s without a resource before it asks who is there', async (prefix) => {
    const answer = await send('GET', `/api/v1/${prefix}?a=1&b=2`, { authorization: 'Bearer nobody' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([500, null]);
    expect(await answer.text()).toBe(
      `Internal Server Error: "/api/v1/${prefix}?a=1&amp;b=2": failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/${prefix}?a=1&amp;b=2\n`,
    );
  });

  it('ends a watch at once whose seconds, counted in nanoseconds, come out negative', async () => {
    const answer = await get(`${MAPS}?watch=1&timeoutSeconds=9223372036854775807`);
    const negative = await get(`${MAPS}?watch=1&timeoutSeconds=-1`);
    expect([answer.status, await answer.text()]).toEqual([negative.status, await negative.text()]);
  });

  it('says that a list past the largest revision is of the future', async () => {
    const answer = await get(`${MAPS}?resourceVersion=9223372036854775808&limit=1`);
    expect(await answer.json()).toMatchObject({
      code: 504,
      message: expect.stringMatching(/^Timeout: Too large resource version: 9223372036854775808, current: \d+$/),
    });
  });

  it('reads a continue token as Go reads JSON', async () => {
    const token = (text: string): string => Buffer.from(text).toString('base64url');
    const list = async (text: string): Promise<unknown> =>
      (await get(`${MAPS}?limit=1&continue=${token(text)}`)).json();
    expect(await list('{"V":"meta.k8s.io/v1","RV":-1,"Start":"a"}')).toMatchObject({ kind: 'ConfigMapList' });
    expect(await list('{"v":"meta.k8s.io/v1","rv":1e30,"start":"a"}')).toMatchObject({
      code: 400,
      message:
        'invalid continue token: continue key is not valid: json: cannot unmarshal number 1e30 into Go struct field continueToken.rv of type int64',
    });
  });

  it('minds a foreign namespace in a body before a foreign name', async () => {
    const body = { metadata: { name: 'other', namespace: 'other' } };
    expect(await (await send('PUT', `${MAPS}/watched`, {}, body)).json()).toMatchObject({
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  });

  it('forbids with a header that keeps browsers from guessing', async () => {
    const answer = await send('GET', MAPS, { authorization: '' });
    expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([403, 'nosniff']);
    await answer.body?.cancel();
  });
});

describe('objects', () => {
  it('names the server as the manager of what every cluster has', async () => {
    for (const path of ['/api/v1/namespaces/default', '/apis/rbac.authorization.k8s.io/v1/clusterroles/view']) {
      const { metadata } = (await (await get(path)).json()) as {
        readonly metadata: { readonly managedFields: readonly { readonly manager: string }[] };
      };
      expect(metadata.managedFields.map(({ manager }) => manager)).toEqual(['kube-apiserver']);
    }
  });

  it.each([
    ['Succeeded', 'The pod has completed successfully.'],
    ['Failed', 'The pod failed.'],
    ['Running', undefined],
  ])('says in the row of a pod that is %s whether it has ended', async (phase, message) => {
    const pods = '/api/v1/namespaces/default/pods';
    const name = `ended-${phase.toLowerCase()}`;
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await statusOf(send('POST', pods, {}, { metadata: { name }, spec }));
    const patch = { 'content-type': 'application/merge-patch+json' };
    await statusOf(send('PATCH', `${pods}/${name}/status`, patch, { status: { phase } }));
    const table = await get(`${pods}/${name}`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const { rows } = (await table.json()) as { readonly rows: readonly [{ readonly conditions?: unknown }] };
    expect(rows[0].conditions).toEqual(
      message === undefined ? undefined : [{ type: 'Completed', status: 'True', reason: phase, message }],
    );
  });
});

describe('kinds', () => {
  const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

  it.each([
    ['limitranges', null],
    ['pods', []],
  ])(
    'have no rows in a Table without objects, and those without a printer no list of rows: %s',
    async (resource, rows) => {
      const answer = await get(`/api/v1/namespaces/none/${resource}`, { accept: TABLE });
      expect(await answer.json()).toMatchObject({ rows });
    },
  );

  it('leave out the items of an empty list of admission policies, as their type does', async () => {
    for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
      const list = (await (await get(`/apis/admissionregistration.k8s.io/v1/${resource}`)).json()) as object;
      expect(Object.keys(list)).toEqual(['kind', 'apiVersion', 'metadata']);
    }
  });

  it('warn whoever uses a version that will go', async () => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas';
    for (const [method, at] of [
      ['GET', path],
      ['GET', `${path}/none`],
      ['DELETE', `${path}/none`],
    ] as const) {
      const answer = await send(method, at);
      expect(answer.headers.get('warning')).toBe(
        '299 - "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; use flowcontrol.apiserver.k8s.io/v1 FlowSchema"',
      );
      await answer.body?.cancel();
    }
    const current = await get(path.replace('v1beta3', 'v1'));
    expect(current.headers.get('warning')).toBeNull();
    await current.body?.cancel();
  });

  it('name an unknown field selector of jobs in words of their own', async () => {
    const answer = await get('/apis/batch/v1/namespaces/none/jobs?fieldSelector=spec.x%3Dy');
    expect(await answer.json()).toMatchObject({ message: 'field label "spec.x" not supported for Job' });
  });

  it('warn that pods stay when a collection of jobs is deleted without a word on them', async () => {
    const jobs = '/apis/batch/v1/namespaces/none/jobs';
    const undecided = await send('DELETE', jobs);
    expect(undecided.headers.get('warning')).toContain('child pods are preserved by default when jobs are deleted');
    const decided = await send('DELETE', `${jobs}?propagationPolicy=Background`);
    expect(decided.headers.get('warning')).toBeNull();
    await Promise.all([undecided.body?.cancel(), decided.body?.cancel()]);
  });

  it.each([
    ['statefulsets', 'statefulsets'],
    ['deployments', 'deployments/scale'],
  ])('say of the scale of %s that is not there what their storage says', async (resource, named) => {
    const answer = await get(`/apis/apps/v1/namespaces/none/${resource}/a/scale`);
    expect(await answer.json()).toMatchObject({ message: `${named}.apps "a" not found` });
  });
});

describe('custom resources', () => {
  const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const THINGS = '/apis/wire.example/v1/namespaces/default/things';

  beforeAll(async () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } };
    const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
    const spec = { group: 'wire.example', scope: 'Namespaced', names, versions: [version] };
    const crd = { metadata: { name: 'things.wire.example' }, spec };
    await statusOf(send('POST', CRDS, {}, crd));
    await vi.waitFor(async () => expect(await statusOf(get(THINGS))).toBe(200));
  });

  it.each(['scale', 'none'])('have no object behind a subresource that is not there: %s', async (subresource) => {
    expect(await (await get(`${THINGS}/a/${subresource}`)).json()).toMatchObject({
      message: 'things.wire.example "a" not found',
      details: { name: 'a', group: 'wire.example', kind: 'things' },
    });
  });

  it('leave versions that are not served to the end of the chain', async () => {
    expect(await (await get('/apis/wire.example/v9')).text()).toBe('404 page not found\n');
    expect(await statusOf(send('PUT', '/apis/wire.example/v1', {}, {}))).toBe(200);
  });
});
