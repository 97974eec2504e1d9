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
