// Who may import whom. The layers are drawn in docs/architecture.md; this file is what holds them.
const server = 'packages/fake-apiserver/src';
const informer = 'packages/informer/src';
const tests = '\\.(test|test-d|property\\.test)\\.ts$';

/** `from` may not reach `to`, except from tests. */
const forbid = (name, from, to, fromNot) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: [tests, ...(fromNot ? [fromNot] : [])] },
  to: { path: to },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    forbid('informer-not-server', '^packages/informer/src', '^packages/fake-apiserver'),
    forbid('server-not-informer', '^packages/fake-apiserver/src', '^packages/informer'),
    forbid(
      'apimachinery-imports-nothing',
      '^packages/apimachinery/src',
      '^packages/(?!apimachinery)|node_modules/|^node:',
    ),
    forbid(
      'no-test-code-in-src',
      '^packages/(informer|fake-apiserver|apimachinery)/src',
      '^packages/testkit|^contract',
    ),
    forbid(
      'axios-in-one-file',
      '^packages/informer/src',
      'node_modules/axios/',
      `^${informer}/rest/axios-transport\\.ts$`,
    ),
    forbid(
      'socks-in-one-file',
      '^packages/informer/src',
      'node_modules/socks/',
      `^${informer}/rest/proxy-dialer\\.ts$`,
    ),
    forbid('ws-in-one-file', '^packages/informer/src', 'node_modules/ws/', `^${informer}/rest/ws-transport\\.ts$`),
    forbid('no-rxjs-in-server', '^packages/fake-apiserver/src', 'node_modules/(rxjs|axios)/'),
    forbid(
      're2js-in-one-file',
      `^${server}`,
      'node_modules/re2js/',
      `^${server}/apiextensions/validation/go-regexp\\.ts$`,
    ),
    forbid('etcd-knows-nobody', `^${server}/etcd`, `^${server}/(?!etcd|util)`),
    forbid('embedded-not-remote', `^${server}/etcd/embedded`, `^${server}/etcd/remote`),
    forbid('remote-not-embedded', `^${server}/etcd/remote`, `^${server}/etcd/embedded`),
    forbid('cacher-not-etcd3', `^${server}/storage/cacher`, `^${server}/storage/etcd3`),
    forbid('etcd3-not-cacher', `^${server}/storage/etcd3`, `^${server}/storage/cacher`),
    forbid('storage-below-registry', `^${server}/storage`, `^${server}/(registry|endpoints|server|patch|fieldmanager)`),
    forbid('storage-only-through-the-waist', `^${server}/storage`, `^${server}/etcd/(embedded|remote)`),
    forbid('registry-below-endpoints', `^${server}/registry`, `^${server}/(endpoints|server|storage/(cacher|etcd3))`),
    forbid(
      'endpoints-below-server',
      `^${server}/endpoints`,
      `^${server}/(server|storage/(cacher|etcd3)|etcd/(embedded|remote))`,
    ),
    forbid(
      'pure-parts-stay-pure',
      `^${server}/(schema|patch|fieldmanager|protobuf|openapi)`,
      `^${server}/(registry|endpoints|server|storage/(cacher|etcd3)|etcd/(embedded|remote))`,
      `^${server}/openapi`,
    ),
    forbid('store-looks-nowhere', `^${informer}/store`, `^${informer}/(queue|reflector|shared-informer|controller|rx)`),
    forbid(
      'reflector-below-shared-informer',
      `^${informer}/reflector`,
      `^${informer}/(shared-informer|controller|workqueue)`,
    ),
    forbid(
      'workqueue-alone',
      `^${informer}/workqueue`,
      `^${informer}/(queue|reflector|shared-informer|controller|rest)`,
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(/dist/|\\.tmp/)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['kube-rx-source', 'import', 'types', 'default'],
    },
  },
};
