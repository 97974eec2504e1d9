// One list and watch of an informer with its queue and process loop: what the reflector writes becomes store changes.
// Upstream: client-go@v0.30.3:tools/cache/controller.go#controller
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { HandlerError } from '../errors.ts';
import { DeltaFIFO } from '../queue/delta-fifo.ts';
import type { KnownObjects, Queue } from '../queue/queue.ts';
import { RealFIFO } from '../queue/the-real-fifo.ts';
import { Reflector } from '../reflector/reflector.ts';
import type { ReflectorOptions } from '../reflector/reflector-options.ts';
import type { ReflectorStore } from '../reflector/reflector-store.ts';
import type { Live } from '../rest/resource-type.ts';
import type { FreezeMode } from '../store/deep-freeze.ts';
import { freeze } from '../store/deep-freeze.ts';
import type { IndexedStore } from '../store/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import { MetadataSharing } from '../store/metadata-sharing.ts';
import { sameJson } from '../store/same-json.ts';
import type { InformerSourceSpec, Transform } from './informer-options.ts';
import { ProcessLoop } from './process-loop.ts';
import type { StoreEvent } from './store-event.ts';
import { sameResourceVersion } from './store-event.ts';

export interface InformerSourceOptions<T extends KubernetesObject> {
  readonly store: IndexedStore<T, string>;
  readonly queue: 'real' | 'delta';
  readonly transform: Transform<T> | undefined;
  readonly freeze: FreezeMode;
  readonly shareMetadata: boolean;
  /** The store holds its objects as they are, so that a list can do with those it repeats. */
  readonly reuseListed: boolean;
  readonly reflector: ReflectorOptions;
  readonly notify: (event: StoreEvent<T>, unchanged: boolean) => void;
  /** A list has been worked off completely. */
  readonly onListDone: (resourceVersion: string) => void;
  readonly onDrained: () => void;
  /** The transform threw. */
  readonly onTransformError: (error: HandlerError) => void;
}

export class InformerSource<T extends KubernetesObject> implements ReflectorStore<T> {
  readonly reflector: Reflector<T>;
  readonly #options: InformerSourceOptions<T>;
  readonly #queue: Queue<T>;
  readonly #loop: ProcessLoop<T>;
  readonly #broken = new Set<string>();
  /** Listed objects whose transform was done when they arrived. */
  readonly #prepared = new WeakSet<T>();
  readonly #sharing: MetadataSharing | undefined;
  #listVersion: string | undefined;

  constructor(spec: InformerSourceSpec<T>, options: InformerSourceOptions<T>) {
    this.#options = options;
    const { store, reflector } = options;
    const knownObjects = spec.namespace === undefined ? store : ofNamespace(store, spec.namespace);
    this.#queue = options.queue === 'delta' ? new DeltaFIFO<T>({ knownObjects }) : new RealFIFO<T>({ knownObjects });
    this.#sharing = options.shareMetadata ? new MetadataSharing() : undefined;
    // A transform may change the object in place, so it comes first.
    const sharing = options.transform === undefined ? this.#sharing : undefined;
    const onObject = sharing === undefined ? undefined : (object: KubernetesObject): void => sharing.share(object);
    this.reflector = new Reflector<T>(spec.listerWatcher, this, { ...reflector, onObject });
    this.#loop = new ProcessLoop<T>({
      clock: reflector.clock!,
      queue: this.#queue,
      store,
      notify: options.notify,
      onDrained: () => this.#drained(),
    });
  }

  /** The first list has left the queue. */
  get hasSynced(): boolean {
    return this.#queue.hasSynced;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** Keys whose newest version the transform refused; the store serves the version before. */
  get broken(): ReadonlySet<string> {
    return this.#broken;
  }

  add(object: T): void {
    const accepted = this.#accepted(object);
    if (accepted === undefined) return;
    this.#queue.add(accepted);
    this.#loop.drain();
  }

  update(object: T): void {
    const accepted = this.#accepted(object);
    if (accepted === undefined) return;
    this.#queue.update(accepted);
    this.#loop.drain();
  }

  delete(object: T): void {
    // The last state is for the handlers' eyes only; a transform that fails on it must not keep the object alive.
    this.#queue.delete(this.#transformed(object) ?? object);
    this.#mended(object);
    this.#loop.drain();
  }

  replace(items: readonly T[], resourceVersion: string): void {
    this.#broken.clear();
    const { transform, freeze: mode } = this.#options;
    this.#queue.replace(items, resourceVersion, transform === undefined && mode === 'off' ? undefined : this.#prepare);
    this.#listVersion = resourceVersion;
    this.#loop.drain();
  }

  /** Only where the store gives back the object it was given. A transform is done here, so that nobody holds what it takes away. */
  held(object: T): T {
    const { store, transform, reuseListed } = this.#options;
    if (!reuseListed) return object;
    let arrived = object;
    if (transform !== undefined) {
      try {
        arrived = this.#apply(transform, object);
      } catch {
        // It fails again, and is told of, when the list is taken over.
        return object;
      }
      this.#prepared.add(arrived);
    }
    const known = store.size === 0 ? undefined : store.getByKey(metaNamespaceKeyFunc(arrived));
    if (known === undefined || !sameResourceVersion(known, arrived) || !sameJson(known, arrived)) return arrived;
    if (transform !== undefined) this.#prepared.add(known);
    return known;
  }

  resync(): void {
    this.#queue.resync();
    this.#loop.drain();
  }

  async run(signal: AbortSignal, stopReason: () => 'aborted' | 'disposed'): Promise<void> {
    // Before the reflector lets go: nothing is emitted once it says stopped.
    const stop = (): void => this.#loop.stop();
    signal.addEventListener('abort', stop, { once: true });
    await this.reflector.run({ signal, stopReason });
    signal.removeEventListener('abort', stop);
    this.#loop.stop();
  }

  #accepted(object: T): T | undefined {
    const accepted = this.#transformed(object);
    if (accepted !== undefined) this.#mended(object);
    return accepted;
  }

  #mended(object: T): void {
    // Nearly always there is none, and the key need not be made.
    if (this.#broken.size > 0) this.#broken.delete(metaNamespaceKeyFunc(object));
  }

  /** A listed item whose transform fails stays as it is: leaving it out would look like a deletion. */
  readonly #prepare = (item: T): T | undefined =>
    this.#prepared.has(item)
      ? item
      : (this.#transformed(item) ?? this.#options.store.getByKey(metaNamespaceKeyFunc(item)));

  #transformed(object: T): T | undefined {
    const { transform } = this.#options;
    try {
      return transform === undefined ? freeze(object, this.#options.freeze) : this.#apply(transform, object);
    } catch (cause) {
      const key = metaNamespaceKeyFunc(object);
      this.#broken.add(key);
      this.#options.onTransformError(new HandlerError('transform', key, cause));
      return undefined;
    }
  }

  #apply(transform: Transform<T>, object: T): T {
    const accepted = transform(object as Live<T>);
    this.#sharing?.share(accepted);
    return freeze(accepted, this.#options.freeze);
  }

  #drained(): void {
    const listVersion = this.#listVersion;
    this.#listVersion = undefined;
    if (listVersion !== undefined) this.#options.onListDone(listVersion);
    this.#options.onDrained();
  }
}

/** The part of the store that belongs to one namespace. */
function ofNamespace<T extends KubernetesObject>(store: IndexedStore<T, string>, namespace: string): KnownObjects<T> {
  return {
    keys: () => store.indexKeys('namespace', namespace),
    has: (key) => store.has(key),
    getByKey: (key) => store.getByKey(key),
  };
}
