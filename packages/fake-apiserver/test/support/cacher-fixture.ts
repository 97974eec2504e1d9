// A Cacher over an embedded etcd that can be held up and made to fail, in virtual time.
import { type LogFields, settle, silentLogger, VirtualClock } from '@kube-rx/apimachinery';
import {
  keyOf,
  type ListInit,
  listOptions,
  type PodInit,
  PREFIX,
  pod,
  podConfig,
} from '@kube-rx/contract/suites/storage-fixture';
import type { EtcdClient, RangeRequest, RangeResponse } from '../../src/etcd/client.ts';
import { EmbeddedEtcd } from '../../src/etcd/embedded/embedded-etcd.ts';
import { overrideProfile, type ProfileOverrides } from '../../src/profiles/profile.ts';
import { v1_30 } from '../../src/profiles/v1-30.ts';
import { MetricsRegistry } from '../../src/server/metrics.ts';
import { Cacher } from '../../src/storage/cacher/cacher.ts';
import type { CacherOptions } from '../../src/storage/cacher/cacher-core.ts';
import { LeaseManager } from '../../src/storage/etcd3/lease-manager.ts';
import { Etcd3Store } from '../../src/storage/etcd3/store.ts';
import type { StorageWatch } from '../../src/storage/interfaces.ts';
import type { StoredObject } from '../../src/storage/stored-object.ts';

/** Range requests wait or fail while told so; everything else goes through. */
export class GatedEtcd extends EmbeddedEtcd {
  ranges = 0;
  #held: Promise<void> | undefined;
  #release: (() => void) | undefined;
  failure: Error | undefined;

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release?.();
    this.#held = undefined;
  }

  override async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResponse> {
    this.ranges++;
    await this.#held;
    if (this.failure !== undefined) throw this.failure;
    return super.range(request, signal);
  }
}

export interface CacherFixtureOptions extends ProfileOverrides {
  /** The first list has to wait for `etcd.release()`. */
  readonly held?: boolean;
  readonly triggerField?: string | undefined;
  readonly random?: () => number;
}

export class CacherFixture {
  readonly clock: VirtualClock = new VirtualClock();
  readonly etcd: GatedEtcd = new GatedEtcd({ clock: this.clock });
  readonly metrics: MetricsRegistry = new MetricsRegistry();
  readonly logs: string[] = [];
  readonly options: CacherOptions;
  readonly cacher: Cacher;

  constructor(options: CacherFixtureOptions = {}) {
    const { clock, etcd, metrics } = this;
    const random = options.random ?? (() => 0.5);
    const profile = overrideProfile(v1_30, options);
    const { triggerField: _, ...rest } = podConfig;
    const config = options.triggerField === undefined ? rest : { ...rest, triggerField: options.triggerField };
    const leases = new LeaseManager({ etcd: etcd as EtcdClient, clock });
    const store = new Etcd3Store({ etcd, config, profile, leases, clock, random, metrics });
    const note = (message: string, _fields?: LogFields): void => {
      this.logs.push(message);
    };
    if (options.held) etcd.hold();
    this.options = {
      config,
      store,
      profile,
      clock,
      random,
      metrics,
      logger: { ...silentLogger, info: note, warn: note },
    };
    this.cacher = new Cacher(this.options);
  }

  static async ready(options: CacherFixtureOptions = {}): Promise<CacherFixture> {
    const fixture = new CacherFixture(options);
    await fixture.cacher.whenReady();
    return fixture;
  }

  create(path: string, init?: PodInit): Promise<StoredObject> {
    return this.cacher.create(keyOf(path), pod(path, init));
  }

  update(path: string, init: PodInit): ReturnType<Cacher['guaranteedUpdate']> {
    return this.cacher.guaranteedUpdate(keyOf(path), () => ({ object: pod(path, init) }));
  }

  remove(path: string): Promise<StoredObject> {
    return this.cacher.delete(keyOf(path));
  }

  /** A write by another API server. */
  async etcdPut(path: string, init?: PodInit): Promise<void> {
    const put = { op: 'put' as const, key: keyOf(path), value: podConfig.codec.encode(pod(path, init)) };
    await this.etcd.txn({ compare: [], success: [put], failure: [] });
  }

  /** A write that no watch of the cacher sees. */
  async elsewhere(): Promise<void> {
    const put = { op: 'put' as const, key: '/registry/other/x', value: Buffer.from('{}') };
    await this.etcd.txn({ compare: [], success: [put], failure: [] });
  }

  async watch(init: ListInit = {}, path: string = PREFIX): Promise<StorageWatch> {
    return this.cacher.watch(path, listOptions(init));
  }

  /** Value of a series in the metrics, 0 when it is not there. */
  metric(series: string): number {
    const line = this.metrics
      .render()
      .split('\n')
      .find((text) => text.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  /** The cacher's own watch breaks in a way that cannot be resumed. */
  async breakWatch(): Promise<void> {
    this.cacher.reinitialize();
    await settle();
  }

  async close(): Promise<void> {
    this.etcd.release();
    await this.cacher.close();
    await this.etcd.close();
  }
}
