// The objects that are measured: config maps of about 1.4 KB on the wire, most of them in one namespace.
import type { RawClient } from './raw-client.ts';

export const BIG_NAMESPACE = 'bench-big';
export const SMALL_NAMESPACE = 'bench-small';
const WORKERS = 16;
const PAYLOAD = 'x'.repeat(1_000);

export function configMap(namespace: string, name: string, stamp: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'bench', part: name.slice(-1) } },
    data: { stamp, payload: PAYLOAD },
  };
}

export function objectName(index: number): string {
  return `object-${String(index).padStart(6, '0')}`;
}

export async function createNamespace(client: RawClient, name: string): Promise<void> {
  await client.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, [409]);
}

/** Creates the objects from `from` up to but without `to`; one that exists is fine. */
export async function createObjects(client: RawClient, namespace: string, from: number, to: number): Promise<void> {
  await createNamespace(client, namespace);
  await inParallel(from, to, WORKERS, async (index) => {
    const object = configMap(namespace, objectName(index), '0');
    await client.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, object, [409]);
  });
}

export async function inParallel(
  from: number,
  to: number,
  workers: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) await run(next++);
  };
  await Promise.all(Array.from({ length: Math.min(workers, to - from) }, work));
}
