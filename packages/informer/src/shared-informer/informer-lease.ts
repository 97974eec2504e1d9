// One user's share of an informer: what is registered through it goes with it, the informer goes with its last user.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { InformerStateError } from '../errors.ts';
import type { Fault, InformerStatus } from '../reflector/informer-status.ts';
import { Observable as RxObservable } from '../rx/rxjs.ts';
import type { ReadonlyStore } from '../store/store.ts';
import { changesOf } from './changes.ts';
import type { Handler, HandlerOptions, HandlerRegistration } from './event-handler.ts';
import type { ChangesOptions, Informer, WhenSyncedOptions } from './informer.ts';
import type { SharedIndexInformer } from './shared-index-informer.ts';
import type { StoreEvent } from './store-event.ts';

export class InformerLease<T extends KubernetesObject, I extends string> implements Informer<T, I> {
  readonly #informer: SharedIndexInformer<T, string>;
  readonly #giveBack: () => void;
  readonly #registrations = new Set<HandlerRegistration>();
  readonly #endings = new Set<() => void>();
  #closing: Promise<void> | undefined;

  constructor(informer: SharedIndexInformer<T, string>, giveBack: () => void) {
    this.#informer = informer;
    this.#giveBack = giveBack;
  }

  get store(): ReadonlyStore<T, I> {
    return this.#informer.store as ReadonlyStore<T, I>;
  }
  get status$(): Observable<InformerStatus> {
    return this.#informer.status$;
  }
  get faults$(): Observable<Fault> {
    return this.#informer.faults$;
  }
  get status(): InformerStatus {
    return this.#informer.status;
  }
  get hasSynced(): boolean {
    return this.#informer.hasSynced;
  }
  get isStopped(): boolean {
    return this.#closing !== undefined || this.#informer.isStopped;
  }
  get lastSyncResourceVersion(): string {
    return this.#informer.lastSyncResourceVersion;
  }
  get lastSync(): number | undefined {
    return this.#informer.lastSync;
  }
  get lastActivity(): number | undefined {
    return this.#informer.lastActivity;
  }

  get events$(): Observable<StoreEvent<T>> {
    return new RxObservable((subscriber) => {
      if (this.#closing !== undefined) {
        subscriber.complete();
        return;
      }
      const subscription = this.#informer.events$.subscribe(subscriber);
      const forget = this.onStop(() => subscriber.complete());
      return () => {
        forget();
        subscription.unsubscribe();
      };
    });
  }

  changes(options: ChangesOptions = {}): AsyncIterableIterator<StoreEvent<T>> {
    return changesOf<T>(this, options);
  }

  handle(handler: Handler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#closing !== undefined) throw new InformerStateError('STOPPED', 'the informer was given back already');
    const registration = this.#informer.handle(handler, options);
    this.#registrations.add(registration);
    const remove = (): Promise<void> => {
      this.#registrations.delete(registration);
      return registration.remove();
    };
    return {
      name: registration.name,
      get hasSynced() {
        return registration.hasSynced;
      },
      get pending() {
        return registration.pending;
      },
      whenSynced: (wait) => registration.whenSynced(wait),
      remove,
      [Symbol.asyncDispose]: remove,
    };
  }

  onStop(run: () => void): () => void {
    if (this.#closing !== undefined) {
      run();
      return () => {};
    }
    this.#endings.add(run);
    const forget = this.#informer.onStop(() => {
      if (this.#endings.delete(run)) run();
    });
    return () => {
      this.#endings.delete(run);
      forget();
    };
  }

  whenSynced(options?: WhenSyncedOptions): Promise<void> {
    return this.#informer.whenSynced(options);
  }

  waitFor(
    predicate: (store: ReadonlyStore<T, I>) => boolean,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    return this.#informer.waitFor((store) => predicate(store as ReadonlyStore<T, I>), options);
  }

  /** Idempotent. The informer itself stops after the factory's linger time, when nobody else has it. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const endings = [...this.#endings];
    this.#endings.clear();
    for (const run of endings) run();
    const removals = [...this.#registrations].map((each) => each.remove());
    this.#registrations.clear();
    this.#giveBack();
    await Promise.all(removals);
  }
}
