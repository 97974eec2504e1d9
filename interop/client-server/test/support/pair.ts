// Both sides in one process and on one virtual clock: no socket, no wait, the same run for the same seed.
import { isAlreadyExists, settle, VirtualClock } from '@kube-rx/apimachinery';
import type { FakeApiServer, FakeApiServerOptions } from '@kube-rx/fake-apiserver';
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import type { KubeClientOptions, RestClientOptions, Transport } from '@kube-rx/informer';
import { createFetchTransport, KubeClient, Namespaces, RestClient } from '@kube-rx/informer';

export interface Pair extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly server: FakeApiServer;
  /** Never faulty. */
  readonly transport: Transport;
  readonly client: KubeClient;
  /** Another client, over a transport of its own when one is given. */
  connect(options?: Partial<RestClientOptions> & KubeClientOptions): KubeClient;
  createNamespace(name: string): Promise<void>;
}

export async function startPair(options: FakeApiServerOptions = {}): Promise<Pair> {
  const clock = new VirtualClock();
  const server = await startFakeApiServer({ listen: false, clock, ...options });
  const transport = createFetchTransport({ fetch: (url, init) => server.fetch(url, init) });
  const connect: Pair['connect'] = ({ fieldManager, discovery, ...rest } = {}) =>
    new KubeClient(new RestClient({ server: server.url, transport, clock, maxRetries: 0, ...rest }), {
      ...(fieldManager === undefined ? {} : { fieldManager }),
      ...(discovery === undefined ? {} : { discovery }),
    });
  const client = connect();
  return {
    clock,
    server,
    transport,
    client,
    connect,
    async createNamespace(name) {
      await client
        .resource(Namespaces)
        .create({ metadata: { name } })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Lets what is ready run, many turns of the event loop: an answer in process crosses several streams. */
export async function rest(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle();
}

/**
 * Moves time on, step by step, until the condition is true; at most `maxMs`. Tries without moving it first.
 */
export async function advanceUntil(
  clock: VirtualClock,
  condition: () => boolean | Promise<boolean>,
  options: { readonly stepMs?: number; readonly maxMs?: number; readonly what?: () => string } = {},
): Promise<void> {
  const { stepMs = 250, maxMs = 600_000 } = options;
  const start = clock.now();
  await rest();
  while (!(await condition())) {
    if (clock.now() - start > maxMs)
      throw new Error(`not within ${maxMs} ms: ${options.what?.() ?? condition.toString()}`);
    await clock.advance(stepMs);
    await rest(5);
  }
}
