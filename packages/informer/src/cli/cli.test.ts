import type { KubernetesObject } from '@kube-rx/apimachinery';
import { newResourceExpired, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { KubeClient } from '../client/kube-client.ts';
import { TransportError } from '../errors.ts';
import type { Live } from '../rest/resource-type.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { WatchArguments } from './arguments.ts';
import { parseArguments } from './arguments.ts';
import { diffFields, formatChange } from './field-diff.ts';
import type { OutputOptions } from './output.ts';
import { jsonOutput, textOutput } from './output.ts';
import { watchCommand } from './watch-command.ts';

describe('parseArguments', () => {
  it('reads resources and options, with values behind a space or an equals sign', () => {
    expect(
      parseArguments(
        'watch pods,svc -n a,b --namespace=c deploy/web -l app=web --field-selector=x=y --json --explain --seconds 1.5 --server http://x --certificate-authority /ca.pem'.split(
          ' ',
        ),
      ),
    ).toEqual({
      command: 'watch',
      resources: ['pods', 'svc', 'deploy/web'],
      connection: {
        server: 'http://x',
        kubeconfig: undefined,
        context: undefined,
        token: undefined,
        certificateAuthority: '/ca.pem',
        insecureSkipTlsVerify: false,
      },
      namespaces: ['a', 'b', 'c'],
      allNamespaces: false,
      labelSelector: 'app=web',
      fieldSelector: 'x=y',
      metadataOnly: false,
      initial: 'auto',
      transport: 'http',
      json: true,
      diff: true,
      showInitial: false,
      explain: true,
      seconds: 1.5,
    });
  });

  it('helps when there is nothing to do or help is asked for', () => {
    for (const words of [[], ['help'], ['watch', 'pods', '--help']])
      expect(parseArguments(words)).toEqual({ command: 'help' });
    expect(parseArguments(['--version'])).toEqual({ command: 'version' });
  });

  it.each([
    [['watch'], /RESOURCE/],
    [['list', 'pods'], /"watch"/],
    [['watch', 'pods', '--frobnicate'], /--frobnicate/],
    [['watch', 'pods', '--seconds', 'soon'], /--seconds/],
    [['watch', 'pods', '-n'], /-n must be followed by a value/],
    [['watch', 'pods', '--json=yes'], /--json/],
    [['watch', 'pods', '--transport', 'pigeon'], /http, http2, websocket/],
  ])('refuses %j', (words, message) => {
    expect(() => parseArguments(words)).toThrow(message);
  });
});

describe('diffFields', () => {
  const paths = (before: unknown, after: unknown) => diffFields(before, after).map(formatChange);

  it('names the smallest fields that changed', () => {
    expect(
      paths(
        { metadata: { resourceVersion: '1', labels: { a: 'b', 'x/y': 'z' } }, spec: { replicas: 1, gone: true } },
        {
          metadata: { resourceVersion: '2', labels: { a: 'b', 'x/y': 'w' } },
          spec: { replicas: 3 },
          status: { ok: null },
        },
      ),
    ).toEqual([
      'metadata.labels["x/y"]: "z" -> "w"',
      'spec.replicas: 1 -> 3',
      'spec.gone: true (gone)',
      'status: {"ok":null} (new)',
    ]);
  });

  it('matches items of a list by name where each has its own, else by place', () => {
    const item = (name: string, image: string) => ({ name, image });
    expect(paths({ c: [item('a', '1'), item('b', '1')] }, { c: [item('b', '2'), item('c', '1')] })).toEqual([
      'c[b].image: "1" -> "2"',
      'c[c]: {"name":"c","image":"1"} (new)',
      'c[a]: {"name":"a","image":"1"} (gone)',
    ]);
    expect(paths({ l: [1, 2, 3] }, { l: [1, 4] })).toEqual(['l[1]: 2 -> 4', 'l[2]: 3 (gone)']);
    expect(paths({ l: [item('a', '1'), item('a', '2')] }, { l: [item('a', '3'), item('a', '2')] })).toEqual([
      'l[0].image: "1" -> "3"',
    ]);
  });

  it('takes keys that JavaScript has a meaning for as plain keys', () => {
    const before = JSON.parse('{"__proto__":{"a":1},"constructor":1}') as unknown;
    expect(paths(before, { toString: 1 })).toEqual([
      'toString: 1 (new)',
      '__proto__: {"a":1} (gone)',
      'constructor: 1 (gone)',
    ]);
  });

  it('cuts long values and finds no change in equal objects', () => {
    expect(formatChange({ path: 'a', after: 'x'.repeat(200) })).toHaveLength('a: '.length + 80 + ' (new)'.length);
    expect(diffFields({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual([]);
  });
});

const DOCUMENTS: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      {
        name: 'configmaps',
        singularName: 'configmap',
        namespaced: true,
        kind: 'ConfigMap',
        verbs: ['list', 'watch'],
        shortNames: ['cm'],
        categories: ['some'],
      },
      {
        name: 'nodes',
        singularName: 'node',
        namespaced: false,
        kind: 'Node',
        verbs: ['list', 'watch'],
        categories: ['some'],
      },
      { name: 'bindings', namespaced: true, kind: 'Binding', verbs: ['create'] },
    ],
  },
};
const MAPS = '/api/v1/namespaces/shop/configmaps';
const map = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

async function setUp(
  words: string,
  makeOutput: (options: OutputOptions) => ReturnType<typeof textOutput> = textOutput,
) {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  api.intercept = ({ path }) => (path in DOCUMENTS ? jsonResponse(200, DOCUMENTS[path]) : undefined);
  const client = new KubeClient(new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 }));
  const lines: string[] = [];
  const errors: string[] = [];
  const args = parseArguments(['watch', ...words.split(' ')]) as WatchArguments;
  const output = makeOutput({
    write: (line) => lines.push(line),
    writeError: (line) => errors.push(line),
    now: () => clock.now(),
    diff: args.diff,
    showInitial: args.showInitial,
  });
  const abort = new AbortController();
  const warn = (text: string): void => void errors.push(text);
  const start = () =>
    watchCommand(args, { client, defaultNamespace: 'shop', output, clock, signal: abort.signal, warn });
  const end = async (running: Promise<void>): Promise<void> => {
    abort.abort();
    await clock.advance(0);
    await running;
    expect(clock.pendingTimers).toBe(0);
    expect(api.openWatches).toBe(0);
  };
  return { api, clock, lines, errors, start, end, abort };
}

describe('kube-informer watch', () => {
  it('prints what changes, field by field', async () => {
    const { api, clock, lines, errors, start, end } = await setUp('cm');
    api.put(MAPS, map('a', { x: '1' }));
    const running = start();
    await clock.advance(1500);
    api.put(MAPS, map('b'));
    api.put(MAPS, map('a', { x: '2' }));
    api.remove(`${MAPS}/b`);
    await clock.advance(0);
    expect(lines).toEqual([
      '00:00:00.000   configmaps complete: 1 objects at version 2',
      '00:00:01.500 + configmaps shop/b @3',
      '00:00:01.500 ~ configmaps shop/a @4',
      '                 data.x: "1" -> "2"',
      '00:00:01.500 - configmaps shop/b @5',
    ]);
    expect(errors).toEqual([]);
    await end(running);
  });

  it('explains why it lists again', async () => {
    const { api, clock, lines, errors, start, end } = await setUp('cm --explain --initial --no-diff');
    api.put(MAPS, map('a'));
    const running = start();
    await clock.advance(2000);
    api.sendToWatches({ type: 'ERROR', object: newResourceExpired('too old resource version: 2 (9)').status });
    await clock.advance(5000);
    expect(lines.map((line) => line.slice(13))).toEqual([
      '. configmaps lists any state the server has at hand (version 0)',
      '+ configmaps shop/a @2',
      '  configmaps complete: 1 objects at version 2',
      '. configmaps opens a watch from version 2',
      '. configmaps watches from version 2',
      expect.stringMatching(/^\. configmaps waits \S+ ms before try 2$/),
      '. configmaps lists again a state not older than version 2',
      '  configmaps complete again: 1 objects at version 2',
      '. configmaps opens a watch from version 2',
      '. configmaps watches from version 2',
    ]);
    expect(errors[0]?.slice(13)).toBe(
      '! configmaps watch at version 2 failed: the server no longer has the history since that version: its event window slid on, its cache was built anew, or etcd was compacted (too old resource version: 2 (9))',
    );
    await end(running);
  });

  it('prints JSON lines', async () => {
    const { api, clock, lines, start, end } = await setUp('cm --json', jsonOutput);
    const running = start();
    await clock.advance(0);
    api.put(MAPS, map('a', { x: '1' }));
    api.put(MAPS, map('a', { x: '2' }));
    await clock.advance(0);
    const [synced, added, updated] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(synced).toMatchObject({ type: 'synced', resource: 'configmaps', size: 0, first: true });
    expect(added).toMatchObject({
      type: 'added',
      name: 'a',
      namespace: 'shop',
      cause: 'watch',
      object: { data: { x: '1' } },
    });
    expect(updated).toMatchObject({ type: 'updated', changes: [{ path: 'data.x', before: '1', after: '2' }] });
    await end(running);
  });

  it('follows several resources, one object, categories, and the namespaces it is told', async () => {
    const { api, clock, start, end } = await setUp('cm/a some -n one,two -l a=b');
    const running = start();
    await clock.advance(0);
    const lists = api.requests.filter(({ query }) => query['watch'] === undefined && query['limit'] !== undefined);
    expect(
      lists.map(({ path, query }) => `${path}?${query['fieldSelector'] ?? ''}&${query['labelSelector']}`).sort(),
    ).toEqual([
      '/api/v1/namespaces/one/configmaps?&a=b',
      '/api/v1/namespaces/one/configmaps?metadata.name=a&a=b',
      '/api/v1/namespaces/two/configmaps?&a=b',
      '/api/v1/namespaces/two/configmaps?metadata.name=a&a=b',
      '/api/v1/nodes?&a=b',
    ]);
    await end(running);
  });

  it('waits for a server that is not there yet', async () => {
    const { api, clock, errors, start, end } = await setUp('cm -A');
    const { intercept } = api;
    api.intercept = () => {
      throw new TransportError('REFUSED', 'connection refused');
    };
    const running = start();
    await clock.advance(10_000);
    expect(errors.length).toBeGreaterThan(1);
    expect(errors[0]).toMatch(/^cannot reach the server, next try in \d+ ms: connection refused$/);
    api.intercept = intercept;
    await clock.advance(60_000);
    expect(api.openWatches).toBe(1);
    expect(api.requests.at(-1)?.path).toBe('/api/v1/configmaps');
    await end(running);
  });

  it('refuses resources that do not exist or cannot be watched', async () => {
    await expect((await setUp('widgets')).start()).rejects.toThrow(/no resource "widgets"/);
    await expect((await setUp('bindings')).start()).rejects.toThrow(/listed and watched/);
    await expect((await setUp('cm/a/b')).start()).rejects.toThrow(/RESOURCE\/NAME/);
  });
});

describe('textOutput', () => {
  it('says what is special about an event, and limits the changes it prints', () => {
    const lines: string[] = [];
    const output = textOutput({
      write: (line) => lines.push(line),
      writeError() {},
      now: () => 0,
      diff: true,
      showInitial: true,
    });
    const object = (data: object): Live<KubernetesObject> =>
      ({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, ...data }) as never;
    output.event('nodes', { type: 'deleted', object: object({}), finalState: 'unknown', cause: 'list' });
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`f${n}`, n]));
    output.event('nodes', {
      type: 'updated',
      object: object(many),
      previous: object({}),
      recreated: true,
      cause: 'watch',
    });
    output.event('nodes', { type: 'synced', resourceVersion: '7', size: 3, first: false });
    expect(lines[0]).toBe('00:00:00.000 - nodes a @1 (seen by its absence)');
    expect(lines[1]).toBe('00:00:00.000 ~ nodes a @1 (deleted and created anew)');
    expect(lines.slice(2, -1)).toHaveLength(21);
    expect(lines.at(-2)?.trim()).toBe('and 5 more');
    expect(lines.at(-1)).toContain('complete again: 3 objects at version 7');
  });
});
