// Keeps the objects of a server changing, whatever else happens to it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '@kube-rx/informer';
import type { Churned } from './resources.ts';

export interface ChurnOptions {
  /** A write that meets a restart is left alone: only the server knows what became of it. */
  readonly client: KubeClient;
  readonly churned: readonly Churned[];
  readonly namespaces: readonly string[];
  readonly random: () => number;
  /** On the average. */
  readonly writesPerSecond: number;
}

const NAMES = 12;
// Sometimes more than the watch caches remember.
const BURST = 120;
const BURST_CHANCE = 0.004;

export class Churn {
  writes = 0;
  /** Writes that got no answer or were refused. */
  failed = 0;
  /** Refusals that no fault explains. */
  readonly problems: Set<string> = new Set<string>();
  readonly #options: ChurnOptions;
  #number = 0;

  constructor(options: ChurnOptions) {
    this.#options = options;
  }

  /** Resolves after the signal, when the last write is done. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, writesPerSecond, churned, namespaces } = this.#options;
    while (!signal.aborted) {
      const [one, namespace] = [this.#pick(churned), this.#pick(namespaces)];
      const name = `churn-${Math.floor(random() * NAMES)}`;
      if (random() < BURST_CHANCE) {
        for (let left = BURST; left > 0 && !signal.aborted; left--)
          await this.#try(() => this.#update(one, name, namespace));
      } else {
        await this.#try(() => this.#write(one, name, namespace));
      }
      await sleep((random() * 2_000) / writesPerSecond, undefined, { signal }).catch(() => {});
    }
  }

  async #try(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
      this.writes++;
    } catch (error) {
      const { status } = error as { readonly status?: { readonly reason?: string; readonly message?: string } };
      const { reason = '', message = '' } = status ?? {};
      // Gone before it was to be deleted, or there already since an answer was lost.
      if (reason === 'NotFound' || reason === 'AlreadyExists') return;
      this.failed++;
      if (['Invalid', 'BadRequest', 'Forbidden', 'Unauthorized'].includes(reason)) this.problems.add(message);
    }
  }

  async #write(churned: Churned, name: string, namespace: string): Promise<unknown> {
    const draw = this.#options.random();
    if (draw > 0.35) return this.#update(churned, name, namespace);
    const resource = this.#options.client.resource(churned.type, namespace);
    await resource.delete(name, { gracePeriodSeconds: 0 });
    return draw < 0.1 ? this.#create(churned, name, namespace) : undefined;
  }

  async #update(churned: Churned, name: string, namespace: string): Promise<unknown> {
    const resource = this.#options.client.resource(churned.type, namespace);
    try {
      return await resource.patch(name, churned.change(++this.#number));
    } catch (error) {
      if ((error as { status?: { reason?: string } }).status?.reason !== 'NotFound') throw error;
      return this.#create(churned, name, namespace);
    }
  }

  #create({ type, first }: Churned, name: string, namespace: string): Promise<unknown> {
    const object = first(++this.#number, namespace);
    const metadata = { ...object.metadata, name, namespace };
    return this.#options.client.resource(type, namespace).create({ ...object, metadata });
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#options.random() * from.length)]!;
  }
}
