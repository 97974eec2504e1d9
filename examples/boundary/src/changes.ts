// Keeps a server busy: small random changes, one after another, until told to stop.

import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient, ResourceType } from '@kube-rx/informer';
import { messageOf, reasonOf } from './api-error.ts';
import type { LoadedObject } from './load.ts';
import type { Random } from './random.ts';
import type { ConfigMapObject } from './sample-objects.ts';

const PAUSE_MS = 150;
const MAX_VISITORS = 8;
const ANNOTATION = 'kube-rx.dev/touched';

export interface ChangesOptions {
  readonly client: KubeClient;
  readonly objects: readonly LoadedObject[];
  readonly configMaps: ResourceType<ConfigMapObject>;
  readonly random: Random;
  /** What the server refuses although it should not. */
  readonly onProblem: (message: string) => void;
}

/** Config maps `visitor-N` come and go, loaded objects get a new annotation or scale. */
export class Changes implements AsyncDisposable {
  readonly #options: ChangesOptions;
  readonly #stop = new AbortController();
  readonly #visitors: string[] = [];
  #nextVisitor = 1;
  #touches = 0;
  #holds = 0;
  #running: Promise<void> | undefined;
  #step: Promise<void> = Promise.resolve();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when no change is under way; none begins until the returned function is called. */
  async hold(): Promise<() => void> {
    this.#holds++;
    await this.#step;
    return () => {
      this.#holds--;
    };
  }

  /** Begins no further change; resolves when the last one is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#holds === 0) {
        this.#step = this.#change();
        await this.#step;
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** A change that meets a fault, or an object that is gone, is no harm: the next one comes. */
  async #change(): Promise<void> {
    const { random, onProblem } = this.#options;
    try {
      const draw = random.next();
      if (draw < 0.2) await this.#addVisitor();
      else if (draw < 0.35) await this.#removeVisitor();
      else if (draw < 0.5) await this.#changeVisitor();
      else await this.#touch();
    } catch (error) {
      if (reasonOf(error) === 'Invalid') onProblem(messageOf(error));
    }
  }

  async #addVisitor(): Promise<void> {
    const { client, configMaps } = this.#options;
    if (this.#visitors.length >= MAX_VISITORS) return this.#removeVisitor();
    const name = `visitor-${this.#nextVisitor++}`;
    const metadata = { name, namespace: 'default', labels: { app: 'visitors' } };
    await client.resource(configMaps).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    this.#visitors.push(name);
  }

  async #changeVisitor(): Promise<void> {
    const { client, configMaps, random } = this.#options;
    const name = random.pick(this.#visitors);
    if (name === undefined) return;
    const data = { berth: String(random.below(40)), note: '<&> is escaped on the wire' };
    await client.resource(configMaps).patch({ name, namespace: 'default' }, { data });
  }

  async #removeVisitor(): Promise<void> {
    const { client, configMaps, random } = this.#options;
    const index = random.below(this.#visitors.length);
    const [name] = this.#visitors.splice(index, 1);
    if (name !== undefined) await client.resource(configMaps).delete({ name, namespace: 'default' });
  }

  async #touch(): Promise<void> {
    const { client, objects, random } = this.#options;
    const object = random.pick(objects);
    if (object === undefined) return;
    const annotated = { metadata: { annotations: { [ANNOTATION]: String(++this.#touches) } } };
    const scaled = object.type.kind === 'Deployment' ? { spec: { replicas: random.below(5) } } : {};
    await client
      .resource(object.type)
      .patch({ name: object.name, namespace: object.namespace }, { ...annotated, ...scaled });
  }
}
