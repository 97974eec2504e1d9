// Random requests: mostly right, wrong in one or two places, so that they come past the first check.
import fc from 'fast-check';
import { encodeProtobuf, hasProtobuf } from '../../src/protobuf/index.ts';
import { SEEDS, type Seed } from './objects.ts';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'length',
  '',
  '.',
  'a/b',
  'ü',
  '0',
];
const oddKey = fc.oneof(fc.constantFrom(...KEYS, 'metadata', 'spec', 'name', '$patch', 'kind', 'status'), fc.string());

// JSON.parse, unlike a literal, makes `__proto__` a key like others.
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    -0,
    2 ** 31,
    2 ** 63,
    '',
    ' ',
    'a',
    '0',
    '1Gi',
    '-1',
    '1e99999',
    '\u0000',
    '\ud800',
    'x'.repeat(300),
    '*',
    '%',
    '50%',
    '2024-13-01T00:00:00Z',
    '10.0.0.1/99',
    '::1',
    '$(A)',
    [],
    {},
    [[]],
    [null],
    [{}],
    ['a', 'a'],
    { '': '' },
    { matchLabels: {} },
  ),
  fc
    .constantFrom(
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"__proto__":null}',
      '[{"__proto__":[]}]',
      '{"__proto__":"a","toString":"b","hasOwnProperty":"c"}',
      '{"$patch":"delete"}',
      '{"$patch":"replace"}',
      '{"$retainKeys":["a"]}',
      '{"$setElementOrder/containers":[{"name":"c"}],"$deleteFromPrimitiveList/finalizers":["a"]}',
    )
    .map((text) => JSON.parse(text) as unknown),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

interface Change {
  readonly at: number;
  readonly how: 'set' | 'drop' | 'add' | 'double';
  readonly key: string;
  readonly value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1000),
  how: fc.constantFrom('set', 'set', 'set', 'drop', 'add', 'double'),
  key: oddKey,
  value: oddValue,
});

function put(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** The object with one place changed. */
function changed(object: unknown, { at, how, key, value }: Change): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(object));
  const paths = pathsOf(copy);
  const path = paths[at % paths.length]!;
  if (path.length === 0) return how === 'set' ? value : copy;
  let parent = copy as Record<string, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
  const last = path.at(-1)!;
  const here = parent[last];
  if (how === 'set') put(parent, last, value);
  else if (how === 'drop') delete parent[last];
  else if (how === 'add' && typeof here === 'object' && here !== null) put(here, Array.isArray(here) ? 0 : key, value);
  else if (Array.isArray(here)) here.push(...here);
  else put(parent, Array.isArray(parent) ? parent.length : key, here);
  return copy;
}

function document(seed: Seed): fc.Arbitrary<unknown> {
  return fc
    .array(change, { maxLength: 3 })
    .map((changes) => changes.reduce<unknown>((object, one) => changed(object, one), seed.object));
}

/** Bytes of a body with a few of them wrong. */
function garbled(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const spot = fc.record({ at: fc.nat(100_000), byte: fc.nat(255) });
  return fc
    .record({ spots: fc.array(spot, { maxLength: 4 }), keep: fc.option(fc.nat(2000)) })
    .map(({ spots, keep }) => {
      const copy = Uint8Array.from(bytes);
      for (const { at, byte } of spots) if (copy.length > 0) copy[at % copy.length] = byte;
      return keep === null ? copy : copy.slice(0, keep);
    });
}

const utf8 = new TextEncoder();
const YAML = [
  'a: &a [*a]',
  '- - - -',
  '&a a: *a',
  '? {a: b}\n: c',
  '<<: {a: 1}',
  'a: !!binary AAAA\nb: !!set {a}',
  'a: 0x1F\nb: .inf\nc: .nan\nd: 1_000\ne: 010\nf: 1:30',
  'kind: !!js/function x',
  `a: &x [1,1,1,1,1,1,1,1,1]\n${'bcdefghij'.replace(/./g, (c) => `${c}: &${c} [*x,*x,*x]\n`)}`,
  'a: 2024-01-01\n--- \nb: 1',
  '\tkey: tab',
  '%YAML 9.9\n---\na: b',
  '"\\ud800": x',
  '{',
  ']',
  '__proto__: {polluted: 1}\nmetadata: {name: y, labels: {__proto__: a}}',
  '|\n text',
  '',
  '~',
  '5',
];

interface Body {
  readonly type: string;
  readonly body: string | Uint8Array;
}

function jsonBody(type: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Body> {
  return value.map((one) => ({ type, body: JSON.stringify(one) }));
}

function documentBody(seed: Seed): fc.Arbitrary<Body> {
  const text = utf8.encode(JSON.stringify(seed.object));
  const raw = hasProtobuf(seed.object) ? encodeProtobuf(seed.object) : utf8.encode('k8s\0');
  return fc.oneof(
    { weight: 6, arbitrary: jsonBody('application/json', document(seed)) },
    { weight: 1, arbitrary: garbled(text).map((body) => ({ type: 'application/json', body })) },
    { weight: 1, arbitrary: garbled(text).map((body) => ({ type: 'application/yaml', body })) },
    { weight: 1, arbitrary: fc.constantFrom(...YAML).map((body) => ({ type: 'application/yaml', body })) },
    { weight: 2, arbitrary: garbled(raw).map((body) => ({ type: 'application/vnd.kubernetes.protobuf', body })) },
    { weight: 1, arbitrary: fc.string().map((body) => ({ type: body.replace(/[^ -~]/g, ''), body })) },
  );
}

function pointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function jsonPatch(seed: Seed): fc.Arbitrary<unknown> {
  const known = fc.constantFrom(...pathsOf(seed.object).map(pointer));
  const odd = fc.constantFrom(
    '/__proto__/x',
    '/constructor/prototype/x',
    '/-',
    '/spec/-',
    '/metadata/labels/-',
    'x',
    '/~2',
  );
  const path = fc.oneof(
    { weight: 4, arbitrary: known },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.string() },
  );
  const op = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x');
  return fc.array(fc.record({ op, path, from: path, value: oddValue }, { requiredKeys: ['op'] }), { maxLength: 4 });
}

/** Only one branch of the document, as patches are. */
function branch(seed: Seed): fc.Arbitrary<unknown> {
  return fc
    .record({ object: document(seed), pick: fc.constantFrom('metadata', 'spec', 'status', 'data') })
    .map((made) => {
      if (typeof made.object !== 'object' || made.object === null) return made.object;
      return { [made.pick]: (made.object as Record<string, unknown>)[made.pick] };
    });
}

function patchBody(seed: Seed): fc.Arbitrary<Body> {
  const text = utf8.encode(JSON.stringify(seed.object));
  const any = fc.oneof(document(seed), branch(seed), oddValue);
  return fc.oneof(
    jsonBody('application/json-patch+json', fc.oneof(jsonPatch(seed), any)),
    jsonBody('application/merge-patch+json', any),
    jsonBody('application/strategic-merge-patch+json', any),
    jsonBody('application/apply-patch+yaml', any),
    fc.constantFrom(...YAML).map((body) => ({ type: 'application/apply-patch+yaml', body })),
    fc
      .record({ type: fc.constantFrom('json-patch+json', 'merge-patch+json', 'apply-patch+yaml'), body: garbled(text) })
      .map(({ type, body }) => ({ type: `application/${type}`, body })),
  );
}

const deleteBody: fc.Arbitrary<Body> = jsonBody(
  'application/json',
  fc.oneof(
    oddValue,
    fc.record(
      {
        kind: fc.constantFrom('DeleteOptions', 'Status', 'Pod'),
        apiVersion: fc.constantFrom('v1', 'apps/v1', 'x/y/z'),
        gracePeriodSeconds: fc.constantFrom<unknown>(0, -1, 30, 'x', 1e20),
        propagationPolicy: fc.constantFrom<unknown>('Foreground', 'Orphan', 'Background', 'x', 5),
        preconditions: fc.constantFrom<unknown>({}, null, { uid: 'x' }, { resourceVersion: '1' }),
        dryRun: fc.constantFrom<unknown>(['All'], [], ['x'], 'All'),
      },
      { requiredKeys: [] },
    ),
  ),
);

const SELECTORS = [
  'a=b',
  'a in (b,c)',
  '!a',
  'a>5',
  'a notin (',
  '__proto__=x',
  'constructor',
  ',',
  'a==',
  '((((',
  'a in ()',
];
const FIELDS = [
  'metadata.name=x',
  'metadata.name=pod-a',
  'status.phase!=Running',
  '__proto__=a',
  'a',
  '=',
  '\\',
  'a=b\\,c',
  ',',
];
// None of the future: the server would wait for it.
const VERSIONS = ['0', '1', '', '-1', 'abc', '18446744073709551616', '1.5', '0x1', '007'];
const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const TOKENS = [
  'x',
  '!!!',
  token({}),
  token(null),
  token([]),
  token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a\u0000' }),
  token({ v: 'meta.k8s.io/v1', rv: -1, start: '../../x' }),
  token({ v: 'meta.k8s.io/v1', rv: 1e300, start: '' }),
  token({ v: 'meta.k8s.io/v1', rv: '1', start: {} }),
  token({ v: '__proto__', rv: 1, start: 'a' }),
];
const QUERY: Readonly<Record<string, readonly string[]>> = {
  watch: ['1', 'true', '', '0', 'x'],
  resourceVersion: VERSIONS,
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x', ''],
  labelSelector: SELECTORS,
  fieldSelector: FIELDS,
  limit: ['1', '0', '-1', 'x', '99999999999999999999', '1.5'],
  continue: TOKENS,
  timeoutSeconds: ['0', '-1', '1', 'x', '99999999999'],
  allowWatchBookmarks: ['true', 'x'],
  sendInitialEvents: ['true', 'false', 'x'],
  timeout: ['1s', 'x', '-1s', '0', '1h'],
  dryRun: ['All', 'x', ''],
  fieldManager: ['m', '', 'x'.repeat(200), '\u0001'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  force: ['true', 'x'],
  propagationPolicy: ['Orphan', 'Foreground', 'x'],
  gracePeriodSeconds: ['0', 'x', '-5'],
  orphanDependents: ['true', 'x'],
  includeObject: ['None', 'Object', 'x'],
  pretty: ['true', 'x'],
  ['__proto__']: ['x'],
  constructor: ['x'],
};
const query = fc
  .array(
    fc.constantFrom(...Object.keys(QUERY)).chain((name) =>
      fc
        .oneof({ weight: 6, arbitrary: fc.constantFrom(...QUERY[name]!) }, { weight: 1, arbitrary: fc.string() })
        .map((value) => {
          return `${name}=${encodeURIComponent(wellFormed(value))}`;
        }),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const accept = fc.constantFrom(
  '*/*',
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  TABLE,
  `${TABLE},application/json`,
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=__proto__;v=constructor;g=x',
  'text/html',
  ';;;,',
  'application/json;stream=watch',
);
const oddHeaders = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  {},
  { 'impersonate-user': 'x' },
  { 'impersonate-uid': 'x' },
  { 'impersonate-user': 'system:admin', 'impersonate-group': 'system:masters', 'impersonate-extra-__proto__': 'x' },
  { 'impersonate-user': 'system:serviceaccount:a' },
  { authorization: 'Bearer x' },
  { authorization: 'nonsense' },
  { 'user-agent': '' },
  { 'user-agent': 'curl/8 __proto__' },
  { 'audit-id': 'x'.repeat(500) },
  { 'accept-encoding': 'gzip' },
);

const SUBRESOURCES = [
  'status',
  'scale',
  'log',
  'exec',
  'binding',
  'eviction',
  'proxy',
  'token',
  'finalize',
  '__proto__',
  'x/y',
];

function pathOf(seed: Seed, named: boolean): fc.Arbitrary<string> {
  const { name } = seed.object.metadata;
  const own = named ? `${seed.collection}/${name}` : seed.collection;
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(own) },
    { weight: 3, arbitrary: fc.constantFrom(...SUBRESOURCES).map((sub) => `${seed.collection}/${name}/${sub}`) },
    { weight: 1, arbitrary: fc.constant(seed.collection.replace(/\/namespaces\/[^/]+/, '')) },
    { weight: 1, arbitrary: fc.constant(own.replace(/\/(v\d)/, '/$1/watch')) },
    { weight: 1, arbitrary: fc.constant(own.replace(/\/v\d/, '/v1beta1')) },
    {
      weight: 1,
      arbitrary: oddKey.map((key) => `${seed.collection}/${encodeURIComponent(wellFormed(key))}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '/',
        '/api',
        '/apis',
        '/openapi/v2',
        '/version',
        '/metrics',
        '/x',
        '/apis/__proto__/v1/x',
      ),
    },
  );
}

/** One request to one of the seeds. */
export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc
  .record({
    seed: fc.constantFrom(...SEEDS),
    method: fc.constantFrom(
      'GET',
      'GET',
      'POST',
      'POST',
      'PUT',
      'PATCH',
      'PATCH',
      'PATCH',
      'PATCH',
      'DELETE',
      'OPTIONS',
    ),
  })
  .chain(({ seed, method }) => {
    const body: fc.Arbitrary<Body | undefined> =
      method === 'PATCH'
        ? patchBody(seed)
        : method === 'DELETE'
          ? fc.option(deleteBody, { nil: undefined })
          : method === 'POST' || method === 'PUT'
            ? documentBody(seed)
            : fc.constant(undefined);
    const named =
      method === 'POST'
        ? fc.constant(false)
        : method === 'GET' || method === 'DELETE'
          ? fc.boolean()
          : fc.constant(true);
    return fc
      .record({
        path: named.chain((flag) => pathOf(seed, flag)),
        query,
        accept,
        odd: oddHeaders,
        body,
        less: fc.boolean(),
      })
      .map(({ path, query: search, accept: type, odd, body: made, less }) => ({
        method,
        // Half of them without a query, and with manager and version where a write needs them.
        path: less ? `${path}${method === 'PATCH' ? '?fieldManager=m' : ''}` : `${path}${search}`,
        headers: { accept: type, ...(less ? {} : odd), ...(made === undefined ? {} : { 'content-type': made.type }) },
        body: made?.body,
      }));
  });
