// Settings of a shared informer.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { ReflectorOptions } from '../reflector/reflector-options.ts';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import type { FreezeMode } from '../store/deep-freeze.ts';
import type { Indexers } from '../store/indexed-store.ts';
import type { ObjectTable } from '../store/object-table.ts';
import type { BufferPolicy } from './buffer-policy.ts';
import type { HandlerErrorPolicy } from './event-handler.ts';

/**
 * Changes an object before it reaches queue, store, indices and handlers; may change it in place. Never sees tombstones. When it
 * throws, the object's old version stays and a fault is reported.
 */
export type Transform<T extends KubernetesObject> = (object: Live<T>) => Live<T>;

/** One list and watch that feeds the informer. With several, each owns the keys of its namespace. */
export interface InformerSourceSpec<T extends KubernetesObject> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly namespace?: string | undefined;
}

export interface SharedIndexInformerOptions<T extends KubernetesObject, I extends string = never>
  extends Omit<ReflectorOptions, 'shouldResync' | 'onObject'> {
  /** Indices beside `namespace`. */
  readonly indexers?: Indexers<T, I> | undefined;
  readonly transform?: Transform<T> | undefined;
  /**
   * `real`: events in the order of the watch, none left out. `delta`: per object, in the order of first touch, as client-go until 0.32.
   * @defaultValue `real`; `delta` in the profile client-go-1.30
   */
  readonly queue?: 'real' | 'delta' | undefined;
  /** Tells handlers about a list or event that did not change the resource version. @defaultValue false; true in the profile client-go-1.30 */
  readonly emitUnchanged?: boolean | undefined;
  /** @defaultValue `deep` when NODE_ENV is `development` or `test`, else `off`; `off` in the profile client-go-1.30 */
  readonly freeze?: FreezeMode | undefined;
  /** @defaultValue conflate above 10 000 events; unbounded in the profile client-go-1.30 */
  readonly handlerBuffer?: BufferPolicy | 'unbounded' | undefined;
  /** @defaultValue `report` */
  readonly onHandlerError?: HandlerErrorPolicy | undefined;
  /**
   * `objects` keeps parsed objects; `compact` keeps their bytes outside the heap and parses what is asked for, for large caches of which
   * little is looked at. @defaultValue `objects`
   */
  readonly storage?: 'objects' | 'compact' | undefined;
  /**
   * Keeps equal labels, owners and managed fields of different objects once, frozen: less than half the heap for small objects.
   * @defaultValue true; false for compact storage and in the profile client-go-1.30
   */
  readonly shareMetadata?: boolean | undefined;
  /** Makes the table the objects are kept in; wins over `storage`. */
  readonly table?: (() => ObjectTable<Live<T>>) | undefined;
}

export function defaultFreeze(profile: string): FreezeMode {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.['NODE_ENV'];
  return profile === 'modern' && (env === 'development' || env === 'test') ? 'deep' : 'off';
}
