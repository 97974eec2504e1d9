import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';

const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
let server: FakeApiServer;

beforeAll(async () => {
  server = await startFakeApiServer({ listen: false });
});
afterAll(() => server.destroy());

it('says null where a list of metadata is empty', async () => {
  const answer = await server.fetch('/api/v1/namespaces/none/pods', { headers: { accept: METADATA } });
  expect(await answer.text()).toMatch(/^\{"kind":"PartialObjectMetadataList",.*"items":null\}\n$/);
});

it.each([
  [METADATA, true],
  ['text/html', true],
  [`${METADATA},application/json`, false],
])('indents an error for who accepts only %s: %s', async (accept, indented) => {
  const answer = await server.fetch('/api/v1/namespaces/none/pods/a', { headers: { accept } });
  expect((await answer.text()).startsWith('{\n  "kind": "Status"')).toBe(indented);
});

// Upstream test: apiserver@v0.30.3:pkg/endpoints/apiserver_test.go#TestGetCompression, #TestListCompression
it.each([
  [200_000, 'gzip', 'gzip'],
  [200_000, 'gzip;q=1', null],
  [200_000, 'deflate', null],
  [1_000, 'gzip', null],
])('sends %d characters to who accepts %s with the encoding %s', async (length, accepted, encoding) => {
  const maps = '/api/v1/namespaces/default/configmaps';
  const body = JSON.stringify({ metadata: { generateName: 'long-' }, data: { text: 'x'.repeat(length) } });
  const headers = { 'content-type': 'application/json' };
  const { metadata } = (await (await server.fetch(maps, { method: 'POST', headers, body })).json()) as {
    readonly metadata: { readonly name: string };
  };
  const inList = `?fieldSelector=metadata.name%3D${metadata.name}`;
  for (const path of [`${maps}/${metadata.name}`, maps + inList]) {
    const answer = await server.fetch(path, { headers: { 'accept-encoding': accepted } });
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([
      encoding,
      encoding === null ? null : 'Accept-Encoding',
    ]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const text = (encoding === null ? bytes : gunzipSync(bytes)).toString();
    expect(text).toContain(`"text":"${'x'.repeat(length)}"`);
  }
});

// Upstream test: apiserver@v0.30.3:pkg/endpoints/apiserver_test.go#TestGetRetryAfter
it('says in a header when to come back', async () => {
  const create = (): Promise<Response> =>
    server.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'taken', generateName: 'tak' } }),
    });
  expect((await create()).status).toBe(201);
  const refused = await create();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '1']);
});

// Upstream test: apiserver@v0.30.3:pkg/endpoints/handlers/rest_test.go#TestPatchResourceWithConflict, TestPatchResourceWithVersionConflict
it('loses no patch of many at once, and refuses one of an old version', async () => {
  const map = '/api/v1/namespaces/default/configmaps/patched';
  const send = async (
    path: string,
    method: string,
    type: string,
    body: object,
  ): Promise<{ readonly code?: number }> => {
    const headers = { 'content-type': type };
    const answer = await server.fetch(path, { method, headers, body: JSON.stringify(body) });
    return (await answer.json()) as { readonly code?: number };
  };
  const merge = (body: object) => send(map, 'PATCH', 'application/merge-patch+json', body);
  await send('/api/v1/namespaces/default/configmaps', 'POST', 'application/json', { metadata: { name: 'patched' } });
  const names = Array.from({ length: 20 }, (_, index) => `k${index}`);
  await Promise.all(names.map((name) => merge({ data: { [name]: 'v' } })));
  const { data } = (await (await server.fetch(map)).json()) as { readonly data: object };
  expect(Object.keys(data).sort()).toEqual([...names].sort());
  expect(await merge({ metadata: { resourceVersion: '1' }, data: { late: 'v' } })).toMatchObject({
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "patched": the object has been modified; please apply your changes to the latest version and try again',
  });
});

it.each(['configmaps', 'events', 'endpoints'])('finds no %s to patch where there is none', async (resource) => {
  const answer = await server.fetch(`/api/v1/namespaces/default/${resource}/none`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { a: 'b' } } }),
  });
  expect(await answer.json()).toMatchObject({ code: 404, message: `${resource} "none" not found` });
});
