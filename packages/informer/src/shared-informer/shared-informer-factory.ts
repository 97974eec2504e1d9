// Informers shared by what they are about: each started once, counted, stopped when the last user has left.
// Upstream: client-go@v0.30.3:informers/factory.go#sharedInformerFactory
// Differs: keyed by the whole spec, not by type alone; starts by itself; an informer can be given back.
import type { Clock, ClockTimer, KubernetesObject } from '@kube-rx/apimachinery';
import { Lifecycle, OptionsError, realClock } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { InformerStateError } from '../errors.ts';
import type { InformerStatus } from '../reflector/informer-status.ts';
import { ListWatch } from '../rest/list-watch.ts';
import type { ResourceType } from '../rest/resource-type.ts';
import { describeResource } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import { BehaviorSubject } from '../rx/rxjs.ts';
import type { Informer } from './informer.ts';
import { InformerLease } from './informer-lease.ts';
import type { InformerSourceSpec, SharedIndexInformerOptions } from './informer-options.ts';
import type { InformerSpec } from './informer-spec.ts';
import { canonicalSpec } from './informer-spec.ts';
import { SharedIndexInformer } from './shared-index-informer.ts';

/** Settings of every informer of the factory, and of the factory itself. */
export interface SharedInformerFactoryOptions
  extends Omit<SharedIndexInformerOptions<KubernetesObject>, 'indexers' | 'transform' | 'expected' | 'name' | 'table'> {
  /** Namespaces of informers whose spec names none. @defaultValue all, in one list and watch */
  readonly namespaces?: readonly string[] | undefined;
  /** How long an informer runs on after its last user left, ms. @defaultValue 5000 */
  readonly lingerMs?: number | undefined;
}

interface Entry {
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  readonly indexers: Map<string, unknown>;
  readonly name: string;
  users: number;
  linger: ClockTimer | undefined;
}

/**
 * @example
 * await using factory = new SharedInformerFactory(client);
 * await using pods = factory.informer(Pods, { indexers: { node: (pod) => [pod.spec?.nodeName ?? ''] } });
 * await pods.whenSynced();
 * pods.store.by('node', 'worker-3');
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #rest: RestClient;
  readonly #options: SharedInformerFactoryOptions;
  readonly #clock: Clock;
  readonly #lingerMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #lifecycle = new Lifecycle();
  readonly #health = new BehaviorSubject<ReadonlyMap<string, InformerStatus>>(new Map());

  constructor(client: { readonly rest: RestClient } | RestClient, options: SharedInformerFactoryOptions = {}) {
    this.#rest = 'rest' in client ? client.rest : client;
    this.#options = options;
    this.#clock = options.clock ?? this.#rest.clock ?? realClock;
    this.#lingerMs = options.lingerMs ?? 5000;
    if (!(this.#lingerMs >= 0)) throw new OptionsError('lingerMs', options.lingerMs, 'a number of at least 0');
  }

  /** Hot, replays the present state of every running informer by its name. */
  get health$(): Observable<ReadonlyMap<string, InformerStatus>> {
    return this.#health.asObservable();
  }

  /** Number of running informers. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * A share of the informer for this resource and spec, which is started when nobody had it. Give it back by `await using`. Throws when
   * an index of the same name is another function.
   */
  informer<T extends KubernetesObject, I extends string = never>(
    type: ResourceType<T>,
    spec: InformerSpec<T, I> = {},
  ): Informer<T, I> {
    if (this.#lifecycle.closed) throw new InformerStateError('STOPPED', 'the factory is closed');
    const namespaces = type.scope === 'Namespaced' ? (spec.namespaces ?? this.#options.namespaces) : undefined;
    const full = { ...spec, namespaces };
    const key = canonicalSpec(type, full as InformerSpec<T, string>);
    const entry = this.#entries.get(key) ?? this.#create(key, type, full);
    this.#index(entry, type, spec);
    entry.users++;
    entry.linger?.cancel();
    entry.linger = undefined;
    let given = false;
    return new InformerLease<T, I>(entry.informer as unknown as SharedIndexInformer<T, string>, () => {
      if (given) return;
      given = true;
      this.#giveBack(key, entry);
    });
  }

  /** Resolves when every informer that runs now has synced. */
  async ready(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => entry.informer.whenSynced(options)));
  }

  /** Plain data for debugging. */
  inspect(): readonly Readonly<Record<string, unknown>>[] {
    return [...this.#entries.values()].map((entry) => ({ ...entry.informer.inspect(), users: entry.users }));
  }

  /** Stops all informers; resolves when nothing of them is left running. */
  close(): Promise<void> {
    return this.#lifecycle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create<T extends KubernetesObject>(key: string, type: ResourceType<T>, spec: InformerSpec<T, string>): Entry {
    const { lingerMs: _linger, namespaces: _namespaces, ...defaults } = this.#options;
    const parity = defaults.profile === 'client-go-1.30';
    const source = (namespace?: string): InformerSourceSpec<T> => ({
      namespace,
      listerWatcher: new ListWatch<T>(this.#rest, type, {
        namespace,
        labelSelector: spec.labelSelector,
        fieldSelector: spec.fieldSelector,
        metadataOnly: spec.metadataOnly,
        // Waiting is the reflector's business, where it is visible.
        ...(parity ? { decodeWatchStatus: false } : { maxRetries: 0 }),
      }),
    });
    const namespaces = [...new Set(spec.namespaces ?? [])];
    const name = describeResource(type);
    const informer = new SharedIndexInformer<T, string>(namespaces.length === 0 ? [source()] : namespaces.map(source), {
      ...(defaults as SharedIndexInformerOptions<T, string>),
      name,
      clock: this.#clock,
      transform: spec.transform,
      // Metadata comes as another kind.
      expected: spec.metadataOnly ? undefined : { apiVersion: type.apiVersion, kind: type.kind },
    }) as unknown as Entry['informer'];
    const entry: Entry = { informer, indexers: new Map(), name: this.#uniqueName(name), users: 0, linger: undefined };
    this.#entries.set(key, entry);
    const close = (): Promise<void> => informer.close();
    const forget = this.#lifecycle.defer(close);
    const statuses = informer.status$.subscribe(() => this.#publishHealth());
    informer.onStop(() => {
      forget();
      statuses.unsubscribe();
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      entry.linger?.cancel();
      this.#publishHealth();
    });
    informer.start();
    return entry;
  }

  /** Two specs of one resource show up as `pods.v1` and `pods.v1#2`. */
  #uniqueName(name: string): string {
    const taken = new Set([...this.#entries.values()].map((entry) => entry.name));
    let unique = name;
    for (let count = 2; taken.has(unique); count++) unique = `${name}#${count}`;
    return unique;
  }

  #index<T extends KubernetesObject>(entry: Entry, type: ResourceType<T>, spec: InformerSpec<T, string>): void {
    const indexers = Object.entries(spec.indexers ?? {});
    for (const [name, valuesOf] of indexers) {
      const known = entry.indexers.get(name);
      if (known !== undefined && known !== valuesOf) {
        throw new InformerStateError(
          'DUPLICATE_INDEX',
          `another index ${JSON.stringify(name)} of ${describeResource(type)} exists already`,
        );
      }
    }
    for (const [name, valuesOf] of indexers) {
      if (entry.indexers.has(name)) continue;
      entry.informer.addIndexers({ [name]: valuesOf as never });
      entry.indexers.set(name, valuesOf);
    }
  }

  #giveBack(key: string, entry: Entry): void {
    entry.users--;
    if (entry.users > 0 || this.#entries.get(key) !== entry) return;
    const stop = (): void => {
      if (entry.users === 0) void entry.informer.close();
    };
    if (this.#lingerMs === 0) stop();
    else entry.linger = this.#clock.setTimer(stop, this.#lingerMs, { unref: true });
  }

  #publishHealth(): void {
    this.#health.next(new Map([...this.#entries.values()].map((entry) => [entry.name, entry.informer.status])));
    if (this.#lifecycle.closed && this.#entries.size === 0) this.#health.complete();
  }
}
