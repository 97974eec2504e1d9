// @kubernetes/client-node against the server: reads, writes, every patch, scale, watch and informer.
// usage: node checks.mjs KUBECONFIG FOLDER_WITH_CLIENT_NODE; ends with "N passed, N failed".
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [kubeconfigFile, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/`));
const k8s = await import(pathToFileURL(require.resolve('@kubernetes/client-node')));

const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfigFile);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const namespace = `client-node-${process.pid}`;
const patchAs = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

const web = {
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'web', image: 'nginx:1' },
          { name: 'side', image: 'busybox:1' },
        ],
      },
    },
  },
};

/** Runs `trigger` once something listens, and resolves with the events it caused. */
function watchEvents(path, query, count, trigger) {
  return new Promise((resolve, reject) => {
    const events = [];
    const timer = setTimeout(() => reject(new Error(`only ${events.length} of ${count} events came`)), 15_000);
    const done = (error) => (events.length < count && error ? reject(error) : undefined);
    const opened = new k8s.Watch(config).watch(
      path,
      query,
      (type, object) => {
        events.push(`${type} ${object.metadata.name}`);
        if (events.length < count) return;
        clearTimeout(timer);
        opened.then((controller) => controller.abort());
        resolve(events);
      },
      done,
    );
    opened.then(trigger).catch(reject);
  });
}

/** Test control of the fake server: its watch cache forgets the events of a resource. */
function slideWindow(resource) {
  const { server, caData } = config.getCurrentCluster();
  const headers = { authorization: `Bearer ${config.getCurrentUser().token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, ca: Buffer.from(caData, 'base64'), agent: false };
    const answered = (response) => response.resume().on('end', () => resolve(response.statusCode));
    request(`${server}/_fake/slide`, options, answered).on('error', reject).end(JSON.stringify({ resource }));
  });
}

const checks = {
  'creates, reads, replaces, lists and deletes a ConfigMap': async () => {
    const name = 'settings';
    const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: '1' } } });
    assert.ok(created.metadata.uid);
    assert.ok(created.metadata.creationTimestamp instanceof Date);
    const read = await core.readNamespacedConfigMap({ name, namespace });
    assert.deepEqual(read.data, { a: '1' });
    const replaced = await core.replaceNamespacedConfigMap({ name, namespace, body: { ...read, data: { a: '2' } } });
    assert.notEqual(replaced.metadata.resourceVersion, read.metadata.resourceVersion);
    const list = await core.listNamespacedConfigMap({ namespace, limit: 1 });
    assert.equal(list.items.length, 1);
    await core.deleteNamespacedConfigMap({ name, namespace });
    await assert.rejects(core.readNamespacedConfigMap({ name, namespace }), (error) => error.code === 404);
  },
  'is refused a stale replace with 409': async () => {
    const name = 'stale';
    const first = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
    await core.replaceNamespacedConfigMap({ name, namespace, body: { ...first, data: { a: '1' } } });
    await assert.rejects(
      core.replaceNamespacedConfigMap({ name, namespace, body: { ...first, data: { a: '2' } } }),
      (error) => error.code === 409,
    );
  },
  'patches in all four ways': async () => {
    await apps.createNamespacedDeployment({ namespace, body: web });
    const patch = (body, strategy, more = {}) =>
      apps.patchNamespacedDeployment({ name: 'web', namespace, body, ...more }, patchAs(strategy));
    const { JsonPatch, MergePatch, StrategicMergePatch, ServerSideApply } = k8s.PatchStrategy;
    const json = await patch([{ op: 'replace', path: '/spec/replicas', value: 2 }], JsonPatch);
    assert.equal(json.spec.replicas, 2);
    const merge = await patch({ metadata: { annotations: { note: 'merged' } } }, MergePatch);
    assert.equal(merge.metadata.annotations.note, 'merged');
    const containers = [{ name: 'side', image: 'busybox:2' }];
    const strategic = await patch({ spec: { template: { spec: { containers } } } }, StrategicMergePatch);
    const images = strategic.spec.template.spec.containers.map(({ image }) => image);
    assert.deepEqual([...images].sort(), ['busybox:2', 'nginx:1']);
    const apply = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', labels: { by: 'apply' } } };
    const applied = await patch(apply, ServerSideApply, { fieldManager: 'interop', force: true });
    assert.equal(applied.metadata.labels.by, 'apply');
    const managers = applied.metadata.managedFields.filter(({ operation }) => operation === 'Apply');
    assert.deepEqual(
      managers.map(({ manager }) => manager),
      ['interop'],
    );
  },
  'reads and writes the scale of a Deployment': async () => {
    const scale = await apps.readNamespacedDeploymentScale({ name: 'web', namespace });
    scale.spec.replicas = 5;
    await apps.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: scale });
    const read = await apps.readNamespacedDeployment({ name: 'web', namespace });
    assert.equal(read.spec.replicas, 5);
  },
  'writes the status apart from the rest': async () => {
    const body = { status: { replicas: 3, observedGeneration: 1 } };
    const options = patchAs(k8s.PatchStrategy.MergePatch);
    await apps.patchNamespacedDeploymentStatus({ name: 'web', namespace, body }, options);
    const read = await apps.readNamespacedDeployment({ name: 'web', namespace });
    assert.equal(read.status.replicas, 3);
    assert.equal(read.spec.replicas, 5);
  },
  'handles any kind through KubernetesObjectApi': async () => {
    const spec = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'generic', namespace }, stringData: { k: 'v' } };
    await objects.create(spec);
    const read = await objects.read(spec);
    assert.equal(Buffer.from(read.data.k, 'base64').toString(), 'v');
    await objects.delete(spec);
    await assert.rejects(objects.read(spec), (error) => error.code === 404);
  },
  'watches from a list': async () => {
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const { metadata } = await core.listNamespacedSecret({ namespace });
    const events = await watchEvents(path, { resourceVersion: metadata.resourceVersion }, 2, async () => {
      await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'seen' } } });
      await core.deleteNamespacedSecret({ name: 'seen', namespace });
    });
    assert.deepEqual(events, ['ADDED seen', 'DELETED seen']);
  },
  'is told 410 for a version that is too old': async () => {
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'later' } } });
    await slideWindow('secrets');
    const error = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer')), 10_000);
      new k8s.Watch(config).watch(
        path,
        { resourceVersion: '1' },
        (type, object) => {
          clearTimeout(timer);
          resolve({ type, code: object.code });
        },
        () => undefined,
      );
    });
    assert.deepEqual(error, { type: 'ERROR', code: 410 });
  },
  'keeps an informer up to date': async () => {
    const path = `/api/v1/namespaces/${namespace}/services`;
    const informer = k8s.makeInformer(config, path, () => core.listNamespacedService({ namespace }));
    const added = new Promise((resolve) => informer.on('add', resolve));
    await informer.start();
    const body = { metadata: { name: 'svc' }, spec: { ports: [{ port: 80 }], selector: { app: 'web' } } };
    await core.createNamespacedService({ namespace, body });
    assert.equal((await added).metadata.name, 'svc');
    assert.equal(informer.list().length, 1);
    informer.on('error', () => undefined); // it reports its own stop as an error
    await informer.stop();
  },
};

let passed = 0;
let failed = 0;
await core.createNamespace({ body: { metadata: { name: namespace } } });
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    passed += 1;
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n     ${error.stack}`);
  }
}
await core.deleteNamespace({ name: namespace });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0); // its keep-alive sockets would hold the process for a while
