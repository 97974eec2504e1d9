// The driver of the client contract: runs our informer, or a bare reflector, against a scripted server and prints what
// happened as JSON lines.   node contract/drivers/informer.js SERVER CONFIG
import { readFileSync } from 'node:fs';
import {
  createAxiosTransport,
  DecodeError,
  defineResource,
  IndexedStore,
  ListWatch,
  metaNamespaceKeyFunc,
  Reflector,
  RestClient,
  SharedIndexInformer,
} from '@kube-rx/informer';

const [, , server, configFile] = process.argv;
const config = configFile ? JSON.parse(readFileSync(configFile, 'utf8')) : {};
const handlers = config.handlers?.length ? config.handlers : [{ name: 'h1' }];

const emit = (line) => process.stdout.write(`${JSON.stringify({ ...line, ts: Date.now() })}\n`);
const rvOf = (object) => object.metadata?.resourceVersion ?? '';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function errorClass(error) {
  for (let each = error; each; each = each.cause) {
    if (each.name === 'StatusError') return `status:${each.code}:${each.reason}`;
    if (each.name === 'UnexpectedStatusCodeError') return 'unexpected-http-code';
    // client-go's own driver has no better word for these.
    if (['EMPTY_BODY', 'UNKNOWN_KIND', 'BAD_ITEMS'].includes(each.code)) return 'other';
    if (each.name === 'DecodeError') return 'decode';
    if (each.name === 'TransportError') {
      const classes = { REFUSED: 'refused', RESET: 'reset', EOF: 'eof', UNEXPECTED_EOF: 'unexpected-eof' };
      return classes[each.code] ?? 'other';
    }
  }
  return error instanceof DecodeError ? 'decode' : 'other';
}

const ConfigMaps = defineResource()({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' });
// One pool, as client-go's transport has: a watch may take over the connection of the list before it.
const client = new RestClient({ server, transport: createAxiosTransport({ pools: 'shared' }) });
const listWatch = new ListWatch(client, ConfigMaps, {
  namespace: 'default',
  decoding: config.client === 'dynamic' ? 'dynamic' : 'typed',
  decodeWatchStatus: false,
});
const reflectorOptions = {
  expected: ConfigMaps,
  profile: 'client-go-1.30',
  initial: config.watchList === true ? 'watch-list' : 'list',
  resyncMs: config.resyncMs ?? 0,
  pageSize: config.pageSize ?? 0,
};

emit({ t: 'start', lib: '@kube-rx/informer', version: 'client-go-1.30' });
const controller = new AbortController();
const { signal } = controller;
if (config.mode === 'reflector') runReflector();
else runInformer();

function onTerm(final) {
  process.on('SIGTERM', () => {
    const line = final();
    line.store.sort((a, b) => (a.key < b.key ? -1 : 1));
    process.stdout.write(`${JSON.stringify({ t: 'final', ...line, ts: Date.now() })}\n`, () => process.exit(0));
  });
}

const itemsOf = (objects) => objects.map((object) => ({ key: metaNamespaceKeyFunc(object), rv: rvOf(object) }));

function runReflector() {
  const store = new IndexedStore();
  const op = (name) => (object) => {
    emit({ t: 'store', op: name, key: metaNamespaceKeyFunc(object), rv: rvOf(object) });
    store[name](object);
  };
  const recording = {
    add: op('add'),
    update: op('update'),
    delete: op('delete'),
    replace(items, rv) {
      emit({
        t: 'store',
        op: 'replace',
        items: items.map((each) => `${metaNamespaceKeyFunc(each)}@${rvOf(each)}`),
        rv,
      });
      store.replace(items);
    },
    resync: () => emit({ t: 'store', op: 'resync' }),
    updateResourceVersion: (rv) => emit({ t: 'store', op: 'rv', rv }),
  };
  const reflector = new Reflector(listWatch, recording, reflectorOptions);
  onTerm(() => ({ store: itemsOf(store.list()), lastSyncRV: reflector.lastSyncResourceVersion }));
  reflector.run({ signal });
}

function runInformer() {
  const informer = new SharedIndexInformer(listWatch, {
    ...reflectorOptions,
    onWatchError: (error) => emit({ t: 'error', class: errorClass(error), message: error.message }),
  });
  const registrations = new Map();
  const counts = new Map(handlers.map((handler) => [handler.name, 0]));

  async function poll(ready) {
    while (!ready()) {
      if (signal.aborted) return false;
      await sleep(2);
    }
    return true;
  }
  async function reached(when) {
    const first = handlers[0].name;
    if (!(await poll(() => (!when.synced || informer.hasSynced) && counts.get(first) >= (when.calls ?? 0))))
      return false;
    await sleep(when.delayMs ?? 0);
    return !signal.aborted;
  }

  function add(handler) {
    const call = (line) => {
      emit({ t: 'call', h: handler.name, ...line });
      counts.set(handler.name, counts.get(handler.name) + 1);
      return handler.slowMs > 0 ? sleep(handler.slowMs) : undefined;
    };
    let registration;
    try {
      registration = informer.handle(
        {
          onAdd: (object, initial) => call({ op: 'add', key: metaNamespaceKeyFunc(object), rv: rvOf(object), initial }),
          onUpdate: (old, object) =>
            call({ op: 'update', key: metaNamespaceKeyFunc(object), rv: rvOf(object), oldRv: rvOf(old) }),
          onDelete: (object, tombstone) =>
            call({ op: 'delete', key: metaNamespaceKeyFunc(object), rv: rvOf(object), tombstone }),
        },
        { name: handler.name, ...(handler.resyncMs === undefined ? {} : { resyncMs: handler.resyncMs }) },
      );
    } catch (error) {
      emit({ t: 'handler', h: handler.name, what: 'refused', message: error.message });
      return;
    }
    registrations.set(handler.name, registration);
    emit({ t: 'handler', h: handler.name, what: 'added' });
    poll(() => registration.hasSynced).then((ok) => {
      if (ok) emit({ t: 'synced', who: handler.name, calls: counts.get(handler.name) });
    });
    if (handler.removeWhen) {
      reached(handler.removeWhen).then((ok) => {
        if (!ok) return;
        registration.remove();
        emit({ t: 'handler', h: handler.name, what: 'removed', ok: true });
      });
    }
  }

  for (const handler of handlers) {
    if (handler.addWhen) reached(handler.addWhen).then((ok) => ok && add(handler));
    else add(handler);
  }
  poll(() => informer.hasSynced).then((ok) => ok && emit({ t: 'synced', who: 'informer' }));
  informer.run({ signal });
  if (config.stopWhen) {
    reached(config.stopWhen).then((ok) => {
      if (!ok) return;
      emit({ t: 'stopping' });
      controller.abort();
    });
  }
  onTerm(() => ({
    store: itemsOf(informer.store.list()),
    lastSyncRV: informer.lastSyncResourceVersion,
    hasSynced: informer.hasSynced,
    handlersSynced: Object.fromEntries([...registrations].map(([name, each]) => [name, each.hasSynced])),
  }));
  // Stopped is not gone: the process stays until it is told to end.
  setInterval(() => {}, 1 << 30);
}
