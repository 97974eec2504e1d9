// A reflector over a store that writes down what it is told.
import { Reflector } from '../../src/reflector/reflector.ts';
import { IndexedStore } from '../../src/store/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../../src/store/key-func.ts';
import type { ConfigMap } from '../support/memory-api.ts';
import { type Subject, type SubjectSetup, versionOf } from './subject.ts';
import { storeLines } from './transcript.ts';

export function reflectorSubject({ listWatch, options }: SubjectSetup): Subject {
  const store = new IndexedStore<ConfigMap>();
  const told: string[] = [];
  const one = (operation: 'add' | 'update' | 'delete') => (object: ConfigMap) => {
    told.push(`${operation} ${metaNamespaceKeyFunc(object)} ${versionOf(object)}`);
    store[operation](object);
  };
  const reflector = new Reflector<ConfigMap>(
    listWatch,
    {
      add: one('add'),
      update: one('update'),
      delete: one('delete'),
      replace(items, version) {
        const names = items.map((item) => `${metaNamespaceKeyFunc(item)}@${versionOf(item)}`);
        told.push(`replace rv=${version} [${names.join(' ')}]`);
        store.replace(items);
      },
      resync: () => void told.push('resync'),
      updateResourceVersion: (version) => void told.push(`rv ${version}`),
    },
    options,
  );
  const controller = new AbortController();
  const done = reflector.run({ signal: controller.signal });
  return {
    get said() {
      return told.length;
    },
    look() {},
    findings: () => ({
      calls: {},
      synced: {},
      storeOps: [...told],
      final: {
        store: storeLines(store.list().map((item) => ({ key: metaNamespaceKeyFunc(item), rv: versionOf(item) }))),
        lastSyncRV: reflector.lastSyncResourceVersion,
      },
    }),
    stop() {
      controller.abort();
      return done;
    },
  };
}
